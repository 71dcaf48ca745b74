//! A link that can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Passes bytes on to whatever address it is told, as long as it is up.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    inner: Arc<Inner>,
}

struct Inner {
    to: Mutex<Option<SocketAddr>>,
    up: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
    /// Bytes of both directions.
    bytes: AtomicU64,
}

impl Relay {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Inner {
            to: Mutex::new(None),
            up: AtomicBool::new(true),
            open: Mutex::new(Vec::new()),
            bytes: AtomicU64::new(0),
        });
        let mine = inner.clone();
        std::thread::spawn(move || {
            for site in listener.incoming() {
                // Nobody there: the connection ends at once.
                let Ok(site) = site else { continue };
                let to = *mine.to.lock().unwrap();
                let Some(to) = to.filter(|_| mine.up.load(Ordering::SeqCst)) else { continue };
                let Ok(cloud) = TcpStream::connect(to) else { continue };
                mine.pass(&site, &cloud);
            }
        });
        Self { address, inner }
    }

    pub(crate) fn to(&self, address: SocketAddr) {
        *self.inner.to.lock().unwrap() = Some(address);
    }

    pub(crate) fn cut(&self) {
        // With the lock: a connection that is being made is in the list, or finds that it is down.
        let mut open = self.inner.open.lock().unwrap();
        self.inner.up.store(false, Ordering::SeqCst);
        for socket in open.drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn mend(&self) {
        self.inner.up.store(true, Ordering::SeqCst);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.inner.bytes.load(Ordering::SeqCst)
    }
}

impl Inner {
    fn pass(self: &Arc<Self>, site: &TcpStream, cloud: &TcpStream) {
        let mut open = self.open.lock().unwrap();
        if !self.up.load(Ordering::SeqCst) {
            return;
        }
        for (from, to) in [(site, cloud), (cloud, site)] {
            open.push(from.try_clone().unwrap());
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            let mine = self.clone();
            std::thread::spawn(move || {
                let mut bytes = [0; 16 << 10];
                while let Ok(count @ 1..) = from.read(&mut bytes) {
                    mine.bytes.fetch_add(count as u64, Ordering::SeqCst);
                    if to.write_all(&bytes[..count]).is_err() {
                        break;
                    }
                }
                let _ = from.shutdown(Shutdown::Both);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
    }
}
