//! A connection: one side of it receives on one thread, and sends from any.
//!
//! Who waits for bytes holds no lock; who sends holds that of the socket while it writes. Records of TLS are made and written
//! under that lock, so that they keep their order.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustls::Connection;

use crate::error::{LinkError, Result};
use crate::message::{MESSAGE_BYTES_MAX, Message};

/// Bytes that go through TLS at once.
const CHUNK_BYTES: usize = 16 << 10;

/// How long a link waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For a connection, and then for all that is said until both are known.
    pub handshake: Duration,
    /// For bytes of the other side, and for room to send some.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { handshake: Duration::from_secs(10), silence: Duration::from_secs(30) }
    }
}

/// Until when both have to be known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    end: Instant,
    time: Duration,
}

impl Deadline {
    pub(crate) fn within(time: Duration) -> Self {
        Self { end: Instant::now() + time, time }
    }

    /// The next read or write of a socket waits no longer.
    pub(crate) fn put_on(self, socket: &TcpStream) -> std::io::Result<()> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(left))?;
        socket.set_write_timeout(Some(left))
    }

    pub(crate) fn error(self, error: std::io::Error) -> LinkError {
        if is_of_time(&error) { LinkError::Slow(self.time) } else { LinkError::Io(error) }
    }
}

fn is_of_time(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[derive(Debug)]
struct Shared {
    tls: Mutex<Connection>,
    socket: Mutex<TcpStream>,
    /// To end it while another thread writes.
    ends: TcpStream,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sender(Arc<Shared>);

/// Receives.
#[derive(Debug)]
pub struct Receiver {
    shared: Arc<Shared>,
    socket: TcpStream,
    silence: Duration,
    /// Until both are known.
    deadline: Option<Deadline>,
    /// Bytes of TLS that have come.
    raw: Box<[u8]>,
    /// What they say; the first bytes are the next message's.
    plain: Vec<u8>,
    /// Where it begins.
    start: usize,
    message_bytes_max: usize,
}

/// A connection whose TLS is there.
pub(crate) fn link(
    tls: Connection,
    socket: TcpStream,
    deadline: Deadline,
) -> Result<(Sender, Receiver)> {
    let (reads, ends) = (socket.try_clone()?, socket.try_clone()?);
    let shared = Arc::new(Shared { tls: Mutex::new(tls), socket: Mutex::new(socket), ends });
    let mut receiver = Receiver {
        shared: shared.clone(),
        socket: reads,
        silence: deadline.time,
        deadline: Some(deadline),
        raw: vec![0; CHUNK_BYTES].into(),
        plain: Vec::new(),
        start: 0,
        message_bytes_max: 1024,
    };
    // Something may have come with the handshake's last bytes.
    receiver.take(0)?;
    Ok((Sender(shared), receiver))
}

impl Sender {
    /// Sends a message; returns when the operating system has it.
    ///
    /// # Errors
    /// The link is at its end.
    pub fn send(&self, message: &Message) -> Result<()> {
        self.send_bytes(&message.encode())
    }

    fn send_bytes(&self, bytes: &[u8]) -> Result<()> {
        let mut socket = lock(&self.0.socket);
        let mut records = Vec::with_capacity(CHUNK_BYTES + 256);
        for chunk in bytes.chunks(CHUNK_BYTES) {
            records.clear();
            {
                let mut tls = lock(&self.0.tls);
                tls.writer().write_all(chunk)?;
                while tls.wants_write() {
                    tls.write_tls(&mut records)?;
                }
            }
            socket.write_all(&records)?;
        }
        Ok(())
    }

    /// Whether both sides know frames of codec 1.
    pub fn takes_columns(&self) -> bool {
        lock(&self.0.tls).alpn_protocol() == Some(crate::protocol::COLUMNS)
    }

    /// Ends the link; who receives notices.
    pub fn close(&self) {
        // Who has gone already need not be told.
        let _ = self.0.ends.shutdown(Shutdown::Both);
    }

    /// What both sides of this connection know and nobody else does.
    pub(crate) fn binding(&self) -> Result<[u8; 32]> {
        let tls = lock(&self.0.tls);
        let label = b"EXPORTER-Channel-Binding";
        Ok(tls.export_keying_material([0; 32], label, Some(b""))?)
    }
}

impl Receiver {
    /// The next message.
    ///
    /// # Errors
    /// The link is at its end.
    pub fn receive(&mut self) -> Result<Message> {
        loop {
            if let Some(message) = self.next()? {
                return Ok(message);
            }
            self.hurry()?;
            let read = match self.socket.read(&mut self.raw) {
                Ok(0) => return Err(LinkError::Closed),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if is_of_time(&error) => {
                    let silent = LinkError::Silent(self.silence);
                    return Err(self.deadline.map_or(silent, |deadline| deadline.error(error)));
                }
                Err(error) => return Err(error.into()),
            };
            self.take(read)?;
        }
    }

    /// What is read or sent next has to be done before the handshake's end.
    pub(crate) fn hurry(&self) -> Result<()> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        deadline.put_on(&self.socket).map_err(|error| deadline.error(error))
    }

    /// Somebody is known: from now on, messages may be as long as a frame, and this is how long it may be silent.
    pub(crate) fn trust(&mut self, silence: Duration) -> Result<()> {
        self.socket.set_read_timeout(Some(silence))?;
        self.socket.set_write_timeout(Some(silence))?;
        self.silence = silence;
        self.deadline = None;
        self.message_bytes_max = MESSAGE_BYTES_MAX;
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Message>> {
        let rest = &self.plain[self.start..];
        let Some((length, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if length > self.message_bytes_max {
            let allowed = self.message_bytes_max;
            let what = format!("a message of {length} bytes: {allowed} are allowed here");
            return Err(LinkError::Protocol(what));
        }
        let Some(message) = rest.get(..length) else { return Ok(None) };
        let message = Message::decode(message)?;
        self.start += 4 + length;
        if self.start == self.plain.len() {
            self.plain.clear();
            // One large message is no reason to keep its room.
            self.plain.shrink_to(4 * CHUNK_BYTES);
            self.start = 0;
        }
        Ok(Some(message))
    }

    /// Gives TLS what was read, and takes what it says.
    fn take(&mut self, read: usize) -> Result<()> {
        self.plain.drain(..self.start);
        self.start = 0;
        let mut tls = lock(&self.shared.tls);
        let mut raw = &self.raw[..read];
        loop {
            if !raw.is_empty() {
                tls.read_tls(&mut raw)?;
            }
            let count = tls.process_new_packets()?.plaintext_bytes_to_read();
            let old = self.plain.len();
            self.plain.resize(old + count, 0);
            tls.reader().read_exact(&mut self.plain[old..])?;
            if raw.is_empty() {
                break;
            }
        }
        // TLS itself may have an answer. If somebody writes just now, it goes with the next message.
        if tls.wants_write() {
            drop(tls);
            self.answer()?;
        }
        Ok(())
    }

    fn answer(&self) -> Result<()> {
        let Ok(mut socket) = self.shared.socket.try_lock() else { return Ok(()) };
        let mut records = Vec::new();
        let mut tls = lock(&self.shared.tls);
        while tls.wants_write() {
            tls.write_tls(&mut records)?;
        }
        drop(tls);
        Ok(socket.write_all(&records)?)
    }
}
