//! Lines of a file that may grow, of a pipe, or of messages.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use afterbay_edge_mqtt::{Message, Subscriber};

use crate::error::{AgentError, Result};
use crate::options::Input;
use crate::state::Place;

/// A line that is longer is no reading.
const LINE_BYTES_MAX: usize = 16 << 20;
/// How much of the beginning says which file it is.
const HEAD_BYTES_MAX: u64 = 1024;
/// How often somebody looks whether a file has grown.
const LOOK: Duration = Duration::from_millis(100);

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A line, in [`Lines::line`].
    Line,
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    End,
}

/// An input, line by line.
#[derive(Debug)]
pub(crate) struct Lines {
    source: Source,
    name: String,
    path: PathBuf,
    /// Bytes that no line has yet.
    pending: Vec<u8>,
    /// Where the next line begins in them.
    start: usize,
    /// The last line, in `pending`.
    line: std::ops::Range<usize>,
    place: Place,
    /// Lines in front of the last message, whose lines are counted by themselves.
    lines_before: u64,
    ended: bool,
}

#[derive(Debug)]
enum Source {
    File {
        file: BufReader<File>,
        follow: bool,
    },
    Pipe(Receiver<std::io::Result<Vec<u8>>>),
    /// A message of the topic `end` is behind all others.
    Messages {
        subscriber: Subscriber,
        broker: String,
        end: Option<String>,
    },
}

impl Lines {
    /// Opens an input behind this place.
    pub(crate) fn open(input: &Input, place: Place) -> Result<Self> {
        let (source, path) = match input {
            Input::File { path, follow } => {
                let file = open_at(path, &place)?;
                (Source::File { file, follow: *follow }, path.clone())
            }
            Input::Pipe => (Source::Pipe(pipe()), PathBuf::from("-")),
            Input::Mqtt(options) => {
                let broker = options.access.broker.to_string();
                let path = PathBuf::from(&broker);
                let subscriber = Subscriber::start((**options).clone());
                let subscriber = subscriber.map_err(|error| failed(&path, error))?;
                (Source::Messages { subscriber, broker, end: None }, path)
            }
        };
        let name = path.display().to_string();
        let (pending, line, lines_before) = (Vec::new(), 0..0, 0);
        Ok(Self { source, name, path, pending, start: 0, line, place, lines_before, ended: false })
    }

    /// Messages end with one of this topic.
    pub(crate) fn ending_at(mut self, topic: Option<String>) -> Self {
        if let Source::Messages { end, .. } = &mut self.source {
            *end = topic;
        }
        self
    }

    /// Whether it is read again from where it was.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.source, Source::File { .. })
    }

    /// The messages, if these are lines of messages.
    pub(crate) fn messages(&self) -> Option<&Subscriber> {
        match &self.source {
            Source::Messages { subscriber, .. } => Some(subscriber),
            _ => None,
        }
    }

    /// Whether a commit may be here: a message is in one, or not.
    pub(crate) fn is_between(&self) -> bool {
        self.messages().is_none() || self.start == self.pending.len()
    }

    /// Looks for a line, and waits for it a while.
    pub(crate) fn next(&mut self, patience: Duration) -> Result<Next> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.pending[self.start..]) {
                return self.give(end, 1);
            }
            if self.pending.len() - self.start > LINE_BYTES_MAX {
                return Err(self.wrong("a line has 16 MiB at most"));
            }
            self.pending.drain(..self.start);
            self.start = 0;
            match self.fill(patience)? {
                Next::Line => {}
                Next::Nothing => return Ok(Next::Nothing),
                // The last line may have no end.
                Next::End if !self.pending.is_empty() => return self.give(self.pending.len(), 0),
                Next::End => return Ok(Next::End),
            }
        }
    }

    /// The last line, without its end.
    pub(crate) fn line(&self) -> Result<&str> {
        let bytes = &self.pending[self.line.clone()];
        if bytes.len() > LINE_BYTES_MAX {
            return Err(self.wrong("a line has 16 MiB at most"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| self.wrong("this is not UTF-8"))?;
        Ok(text.strip_suffix('\r').unwrap_or(text))
    }

    /// Says what is wrong with the last line.
    pub(crate) fn wrong(&self, what: impl std::fmt::Display) -> AgentError {
        let place = format!("{}:{}", self.name, self.place.lines - self.lines_before);
        AgentError::Line { place, reason: what.to_string() }
    }

    /// The place behind the last line.
    pub(crate) fn place(&mut self) -> Result<Place> {
        // Of the file that is open: its name may be another one's by now.
        if let Source::File { file, .. } = &self.source {
            let (file, offset) = (file.get_ref(), self.place.offset);
            let bytes = offset.min(HEAD_BYTES_MAX);
            if u64::from(self.place.head.0) < bytes {
                self.place.head = (bytes as u32, sum_of(&self.path, file, 0, bytes)?);
            }
            self.place.tail = (bytes as u32, sum_of(&self.path, file, offset - bytes, bytes)?);
        } else {
            // Nobody can read it again: it is the place in no file.
            (self.place.head, self.place.tail) = ((0, 0), (0, 0));
        }
        Ok(self.place.clone())
    }

    fn give(&mut self, length: usize, end: usize) -> Result<Next> {
        self.line = self.start..self.start + length;
        self.start += length + end;
        self.place.offset += (length + end) as u64;
        self.place.lines += 1;
        Ok(Next::Line)
    }

    /// Reads more; a `Line` is some bytes.
    fn fill(&mut self, patience: Duration) -> Result<Next> {
        if self.ended {
            return Ok(Next::End);
        }
        match &mut self.source {
            Source::Pipe(pipe) => match pipe.recv_timeout(patience) {
                Ok(Ok(bytes)) => {
                    self.pending.extend_from_slice(&bytes);
                    Ok(Next::Line)
                }
                Ok(Err(error)) => Err(failed(&self.path, error)),
                Err(RecvTimeoutError::Timeout) => Ok(Next::Nothing),
                Err(RecvTimeoutError::Disconnected) => {
                    self.ended = true;
                    Ok(Next::End)
                }
            },
            Source::Messages { subscriber, broker, end } => match subscriber.receive(patience)? {
                Some(Message { topic, .. }) if end.as_ref() == Some(&topic) => {
                    self.ended = true;
                    Ok(Next::End)
                }
                Some(Message { topic, payload }) => {
                    (self.name, self.lines_before) =
                        (format!("{broker} {topic}"), self.place.lines);
                    // The last one was read to its end.
                    self.pending = payload;
                    if self.pending.last() != Some(&b'\n') {
                        self.pending.push(b'\n');
                    }
                    Ok(Next::Line)
                }
                None => Ok(Next::Nothing),
            },
            Source::File { file, follow } => {
                // Looked at before the file: what was written before it is read.
                let is_all = !*follow || end_of(&self.path).exists();
                let bytes = file.fill_buf().map_err(|error| failed(&self.path, error))?;
                let count = bytes.len();
                self.pending.extend_from_slice(bytes);
                file.consume(count);
                if count > 0 {
                    return Ok(Next::Line);
                }
                if is_all {
                    self.ended = true;
                    return Ok(Next::End);
                }
                let read = self.place.offset + self.pending.len() as u64;
                is_whole(&self.path, file.get_ref(), read)?;
                std::thread::sleep(patience.min(LOOK));
                Ok(Next::Nothing)
            }
        }
    }
}

/// The file beside a followed one that says that nothing more comes.
fn end_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".end");
    name.into()
}

fn failed(path: &Path, error: impl std::fmt::Display) -> AgentError {
    AgentError::File { path: path.to_owned(), reason: error.to_string() }
}

/// What was read of a file has to be there still, under its name: else another one has the name, or it was cut.
fn is_whole(path: &Path, file: &File, read: u64) -> Result<()> {
    let failed = |error: std::io::Error| failed(path, error);
    let (named, open) =
        (std::fs::metadata(path).map_err(failed)?, file.metadata().map_err(failed)?);
    if (named.dev(), named.ino()) == (open.dev(), open.ino()) && named.len() >= read {
        return Ok(());
    }
    let what = format!(
        "{read} bytes of it were read, and it has {}: it was replaced or cut; files that are rotated are not followed",
        named.len()
    );
    Err(self::failed(path, what))
}

fn open_at(path: &Path, place: &Place) -> Result<BufReader<File>> {
    if place.offset > 0 && place.head.0 == 0 {
        let what = format!(
            "the data folder has rows of a pipe or a broker, {} bytes, and not of this file; give the file another data folder",
            place.offset
        );
        return Err(failed(path, what));
    }
    let mut file = File::open(path).map_err(|error| failed(path, error))?;
    is_whole(path, &file, place.offset)?;
    // Beginnings of files may be alike, such as names of columns: the end of what was read is looked at too.
    let (head, tail) = (place.head, place.tail);
    let before = place.offset.saturating_sub(tail.0.into());
    let is_same = sum_of(path, &file, 0, head.0.into())? == head.1
        && sum_of(path, &file, before, tail.0.into())? == tail.1;
    if !is_same {
        let what = format!(
            "its first {} bytes are not those of the file that was read before; give that one, or another data folder",
            place.offset
        );
        return Err(failed(path, what));
    }
    file.seek(SeekFrom::Start(place.offset)).map_err(|error| failed(path, error))?;
    Ok(BufReader::with_capacity(64 << 10, file))
}

/// The checksum of a part of a file; 0 of nothing.
fn sum_of(path: &Path, file: &File, from: u64, bytes: u64) -> Result<u32> {
    let mut part = vec![0; bytes as usize];
    file.read_exact_at(&mut part, from).map_err(|error| failed(path, error))?;
    Ok(if part.is_empty() { 0 } else { crc_fast::crc32_iscsi(&part) })
}

/// Reads the standard input on a thread: who reads it waits, and commits have their time.
fn pipe() -> Receiver<std::io::Result<Vec<u8>>> {
    let (sender, receiver) = sync_channel(4);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut bytes = vec![0; 64 << 10];
            let read = match input.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => {
                    bytes.truncate(count);
                    Ok(bytes)
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = read.is_err();
            if sender.send(read).is_err() || failed {
                break;
            }
        }
    });
    receiver
}
