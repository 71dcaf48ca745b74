//! Lines of a file that may grow, or of a pipe.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

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
    ended: bool,
}

#[derive(Debug)]
enum Source {
    File { file: BufReader<File>, follow: bool },
    Pipe(Receiver<std::io::Result<Vec<u8>>>),
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
        };
        let name = path.display().to_string();
        let (pending, line) = (Vec::new(), 0..0);
        Ok(Self { source, name, path, pending, start: 0, line, place, ended: false })
    }

    /// Whether it can be read again.
    pub(crate) fn is_pipe(&self) -> bool {
        matches!(self.source, Source::Pipe(_))
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
        let text = std::str::from_utf8(bytes).map_err(|_| self.wrong("this is not UTF-8"))?;
        Ok(text.strip_suffix('\r').unwrap_or(text))
    }

    /// Says what is wrong with the last line.
    pub(crate) fn wrong(&self, what: impl std::fmt::Display) -> AgentError {
        let place = format!("{}:{}", self.name, self.place.lines);
        AgentError::Line { place, reason: what.to_string() }
    }

    /// The place behind the last line.
    pub(crate) fn place(&mut self) -> Result<Place> {
        let head = self.place.offset.min(HEAD_BYTES_MAX);
        if !self.is_pipe() && u64::from(self.place.head.0) < head {
            self.place.head = (head as u32, head_of(&self.path, head)?);
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
                is_whole(&self.path, read)?;
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

/// What was read of a file has to be there still: else another one has its name, or it was cut.
fn is_whole(path: &Path, read: u64) -> Result<()> {
    let length = std::fs::metadata(path).map_err(|error| failed(path, error))?.len();
    if length < read {
        let what = format!(
            "{read} bytes of it were read, and it has {length}: it was replaced or cut; files that are rotated are not followed"
        );
        return Err(failed(path, what));
    }
    Ok(())
}

fn open_at(path: &Path, place: &Place) -> Result<BufReader<File>> {
    let mut file = File::open(path).map_err(|error| failed(path, error))?;
    is_whole(path, place.offset)?;
    if place.head.0 > 0 && head_of(path, place.head.0.into())? != place.head.1 {
        let what = "it begins otherwise than the file that was read before; give that one, or another data folder";
        return Err(failed(path, what));
    }
    file.seek(SeekFrom::Start(place.offset)).map_err(|error| failed(path, error))?;
    Ok(BufReader::with_capacity(64 << 10, file))
}

fn head_of(path: &Path, bytes: u64) -> Result<u32> {
    let mut head = Vec::new();
    let file = File::open(path).map_err(|error| failed(path, error))?;
    file.take(bytes).read_to_end(&mut head).map_err(|error| failed(path, error))?;
    Ok(crc_fast::crc32_iscsi(&head))
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
