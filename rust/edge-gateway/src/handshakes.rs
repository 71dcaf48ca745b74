//! Connections of which nobody knows yet who they are: so many at once.
//!
//! Who is a site is known within some round trips; who only holds a place is the oldest before long. If there are too many, the
//! oldest one of the address that has most has to go: so strangers of few addresses keep no site out, however many they are, and
//! however slow its link is.

use std::collections::BTreeMap;
use std::net::{IpAddr, Shutdown, TcpStream};
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
    /// By their numbers, which grow; with where they come from.
    sockets: BTreeMap<u64, (Option<IpAddr>, TcpStream)>,
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
        // Who has gone already has none.
        let address = socket.peer_addr().ok().map(|address| address.ip());
        let socket = socket.try_clone()?;
        let mut inner = self.lock();
        while inner.sockets.len() >= self.0.max
            && let Some((_, (_, oldest))) = inner.pop_of_most()
        {
            // Who has gone already need not be told.
            let _ = oldest.shutdown(Shutdown::Both);
            inner.dropped += 1;
        }
        inner.sockets.insert(id, (address, socket));
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

impl Inner {
    /// Takes the oldest one of the address that has most of them; of several such, the oldest of all.
    fn pop_of_most(&mut self) -> Option<(u64, (Option<IpAddr>, TcpStream))> {
        let mut counts: BTreeMap<Option<IpAddr>, usize> = BTreeMap::new();
        self.sockets.values().for_each(|(address, _)| *counts.entry(*address).or_default() += 1);
        let most = counts.values().max().copied();
        let of_most = |address| counts.get(address).copied() == most;
        let id = self.sockets.iter().find(|(_, (address, _))| of_most(address)).map(|(id, _)| *id);
        self.sockets.remove_entry(&id?)
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
    fn the_oldest_of_the_address_with_most_has_to_go() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let of_site: IpAddr = "192.0.2.1".parse().unwrap();
        let all = Handshakes::new(3);
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let place = all.begin(0, &client).unwrap();
        // A site that has come before them, from somewhere else.
        all.lock().sockets.get_mut(&0).unwrap().0 = Some(of_site);
        let places: Vec<_> = (1..10).map(|id| all.begin(id, &client).unwrap()).collect();
        assert_eq!(all.lock().sockets.keys().copied().collect::<Vec<_>>(), [0, 8, 9]);
        assert_eq!(all.dropped(), 7);
        drop((place, places));
    }

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
