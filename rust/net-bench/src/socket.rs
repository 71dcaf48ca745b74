//! A connection, by TCP or by a Unix socket; blocking.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};

use crate::error::{Result, doing};
use crate::sockmap;

const UNIX: &str = "unix:";

#[derive(Debug)]
pub(crate) enum Connection {
    Tcp(TcpStream),
    Unix(UnixStream),
}

#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Connection {
    /// To `HOST:PORT` or `unix:PATH`.
    pub(crate) fn open(address: &str) -> io::Result<Self> {
        match address.strip_prefix(UNIX) {
            Some(path) => UnixStream::connect(path).map(Connection::Unix),
            None => TcpStream::connect(address).and_then(Self::tcp),
        }
    }

    fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Connection::Tcp(stream))
    }

    /// Puts the socket into the map of sockets, if there is one.
    pub(crate) fn map(&self) -> io::Result<bool> {
        match self {
            Connection::Tcp(stream) => {
                let (own, peer) = (stream.local_addr()?.port(), stream.peer_addr()?.port());
                sockmap::add(stream, own, peer)
            }
            Connection::Unix(_) => Ok(false),
        }
    }

    /// Says that nothing more is written.
    pub(crate) fn end(&self) -> io::Result<()> {
        match self {
            Connection::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Connection::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => stream.read(buffer),
            Connection::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => stream.write(bytes),
            Connection::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Listener {
    /// At `HOST:PORT` or `unix:PATH`; a port of 0 is any.
    pub(crate) fn open(address: &str) -> Result<Self> {
        let opened = match address.strip_prefix(UNIX) {
            Some(path) => {
                let _ = fs::remove_file(path);
                UnixListener::bind(path).map(Listener::Unix)
            }
            None => TcpListener::bind(address).map(Listener::Tcp),
        };
        opened.map_err(doing(format!("listen at {address}")))
    }

    /// Where clients find it.
    pub(crate) fn address(&self, asked: &str) -> Result<String> {
        match self {
            Listener::Tcp(listener) => {
                let address = listener.local_addr().map_err(doing("ask for the port"))?;
                Ok(address.to_string())
            }
            Listener::Unix(_) => Ok(asked.to_owned()),
        }
    }

    pub(crate) fn accept(&self) -> io::Result<Connection> {
        match self {
            Listener::Tcp(listener) => Connection::tcp(listener.accept()?.0),
            Listener::Unix(listener) => Ok(Connection::Unix(listener.accept()?.0)),
        }
    }
}
