//! Connections of which nobody knows yet who they are: so many at once.
//!
//! Who is a site is known within some round trips; who only holds a place is the oldest before long, and has to go. So strangers
//! keep no site out, however many there are.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module. Cheap to clone; for any number of threads.
#[derive(Debug, Clone)]
pub(crate) struct Handshakes(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    max: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// By their numbers, which grow.
    sockets: BTreeMap<u64, TcpStream>,
    dropped: u64,
}

/// A place, until it is given back.
#[derive(Debug)]
pub(crate) struct Place {
    all: Handshakes,
    id: u64,
}

impl Handshakes {
    /// So many at once, but one at least.
    pub(crate) fn new(max: usize) -> Self {
        Self(Arc::new(Shared { max: max.max(1), inner: Mutex::default() }))
    }

    /// A new connection, with a number that is larger than all before.
    pub(crate) fn begin(&self, id: u64, socket: &TcpStream) -> std::io::Result<Place> {
        let socket = socket.try_clone()?;
        let mut inner = self.lock();
        while inner.sockets.len() >= self.0.max
            && let Some((_, oldest)) = inner.sockets.pop_first()
        {
            // Who has gone already need not be told.
            let _ = oldest.shutdown(Shutdown::Both);
            inner.dropped += 1;
        }
        inner.sockets.insert(id, socket);
        Ok(Place { all: self.clone(), id })
    }

    /// How many have had to go.
    pub(crate) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.lock().sockets.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_oldest_has_to_go() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let all = Handshakes::new(2);
        let mut clients = Vec::new();
        let mut places = Vec::new();
        for id in 0..5 {
            clients.push(TcpStream::connect(address).unwrap());
            let (socket, _) = listener.accept().unwrap();
            places.push((all.begin(id, &socket).unwrap(), socket));
            if id == 0 {
                // It is known now, and counts no more.
                drop(places.remove(0).0);
            }
        }
        assert_eq!(all.dropped(), 2);
        for client in &mut clients[1..3] {
            assert_eq!(client.read(&mut [0]).unwrap(), 0, "it is closed");
        }
        for client in &clients[3..] {
            client.set_nonblocking(true).unwrap();
            let error = client.peek(&mut [0]).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
        }
        drop(places);
        assert!(all.lock().sockets.is_empty());
    }
}
