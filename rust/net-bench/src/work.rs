//! What a connection is used for. Its first bytes say so: a letter, then the size in bytes (4, little endian).

use std::io::{self, Read, Write};

use clap::ValueEnum;

use crate::socket::Connection;
use crate::sockmap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Work {
    /// A message there and back, one at a time.
    Ping,
    /// Blocks one way, as fast as they go.
    Stream,
    /// A connection for each message there and back.
    Connect,
    /// redis and its own load, 16 commands at a time.
    Redis,
}

/// What a server learns of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Greeting {
    pub(crate) is_stream: bool,
    pub(crate) size: usize,
}

impl Greeting {
    pub(crate) fn of(work: Work, size: usize) -> Self {
        Greeting { is_stream: work == Work::Stream, size }
    }

    pub(crate) fn send(self, connection: &mut Connection) -> io::Result<()> {
        let mut bytes = [if self.is_stream { b's' } else { b'p' }, 0, 0, 0, 0];
        bytes[1..].copy_from_slice(&(self.size as u32).to_le_bytes());
        connection.write_all(&bytes)?;
        if sockmap::is_used() {
            connection.read_exact(&mut [0])?;
            connection.map()?;
        }
        Ok(())
    }

    pub(crate) fn receive(connection: &mut Connection) -> io::Result<Self> {
        let mut bytes = [0; 5];
        connection.read_exact(&mut bytes)?;
        if connection.map()? {
            connection.write_all(&[0])?;
        }
        let [letter, size @ ..] = bytes;
        Ok(Greeting { is_stream: letter == b's', size: u32::from_le_bytes(size) as usize })
    }
}
