//! Connections: one thread for what a site says, one for what it is told.

use std::cell::RefCell;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use afterbay_edge_link::{Message, Refusal, accept};
use afterbay_edge_wire::{Frame, PAYLOAD_BYTES_MAX};

use crate::error::{GatewayError, Result};
use crate::handshakes::{Handshakes, Place};
use crate::options::GatewayOptions;
use crate::output::Output;
use crate::room::Room;
use crate::sites::SiteKeys;
use crate::status::{GatewayStatus, RevokedSite};
use crate::writer::{Client, Request, Shared, Writer};

/// Requests that wait for the writer. What does not fit waits in the sites.
const QUEUE: usize = 64;
/// Answers that wait for one connection. Who does not read so many reads nothing.
const ANSWERS: usize = 1024;
/// Bytes of frames that are decoded and wait for the writer.
const DECODED_BYTES: usize = 128 << 20;
/// A session has little on its stack.
const STACK_BYTES: usize = 512 << 10;

/// A gateway that runs.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    shared: Arc<Shared>,
    requests: SyncSender<Request>,
    stops: Arc<AtomicBool>,
    handshakes: Handshakes,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Gateway {
    /// Opens the output, and accepts sites.
    ///
    /// # Errors
    /// See [`GatewayError`].
    pub fn start(options: GatewayOptions, output: Box<dyn Output>) -> Result<Self> {
        let keys = SiteKeys::open(&options.keys)?;
        let shared = Arc::new(Shared::default());
        let (requests, queue) = sync_channel(QUEUE);
        let kinds = (options.partitions, options.absent);
        let mut writer = Writer::new(output, kinds, keys.clone(), queue, shared.clone());
        let merge = writer.recover()?;
        let refused = |reason: std::io::Error| GatewayError::Listen {
            address: options.listen.clone(),
            reason: Arc::new(reason),
        };
        let listener = TcpListener::bind(&options.listen).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let writer = std::thread::spawn(move || writer.run(merge));
        let stops = Arc::new(AtomicBool::new(false));
        let handshakes = Handshakes::new(options.handshakes_max);
        let doors = Doors {
            options,
            keys,
            requests: requests.clone(),
            stops: stops.clone(),
            shared: shared.clone(),
            handshakes: handshakes.clone(),
            sites: Arc::default(),
            room: Room::new(DECODED_BYTES),
        };
        std::thread::spawn(move || doors.accept_all(&listener));
        let writer = Mutex::new(Some(writer));
        Ok(Self { address, shared, requests, stops, handshakes, writer })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How it is.
    pub fn status(&self) -> GatewayStatus {
        let handshakes_dropped = self.handshakes.dropped();
        GatewayStatus { handshakes_dropped, ..self.shared.status() }
    }

    /// What is wrong with keys: see [`GatewayStatus::key_error`].
    pub fn key_error(&self) -> Option<String> {
        self.shared.why_no_key()
    }

    /// Sites that were sent away: see [`GatewayStatus::revoked`].
    pub fn revoked(&self) -> Vec<RevokedSite> {
        self.shared.revoked()
    }

    /// Why it has ended by itself, if it has: only another process can go on.
    pub fn failed(&self) -> Option<GatewayError> {
        self.shared.failed()
    }

    /// Ends it; what has been taken is committed.
    pub fn stop(&self) {
        self.stops.store(true, Ordering::Release);
        // Without a writer there is nobody to end.
        let _ = self.requests.send(Request::Stop);
        // Wakes who waits for a connection.
        let _ = TcpStream::connect(self.address);
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = writer.take() {
            let _ = writer.join();
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop();
    }
}

#[derive(Debug)]
struct Doors {
    options: GatewayOptions,
    keys: SiteKeys,
    requests: SyncSender<Request>,
    stops: Arc<AtomicBool>,
    shared: Arc<Shared>,
    handshakes: Handshakes,
    /// That are connected.
    sites: Arc<AtomicUsize>,
    room: Room,
}

impl Doors {
    fn accept_all(self, listener: &TcpListener) {
        let (doors, ids) = (Arc::new(self), AtomicU64::new(0));
        for socket in listener.incoming() {
            if doors.stops.load(Ordering::Acquire) {
                return;
            }
            // A connection that has failed at once is its site's business; without descriptors, some end.
            let Ok(socket) = socket else {
                std::thread::sleep(std::time::Duration::from_millis(50));
                continue;
            };
            let (mine, id) = (doors.clone(), ids.fetch_add(1, Ordering::Relaxed));
            let Ok(place) = doors.handshakes.begin(id, &socket) else { continue };
            let session = std::thread::Builder::new().stack_size(STACK_BYTES);
            // Without a thread, the connection ends; the site comes again.
            let _ = session.spawn(move || {
                mine.session(id, socket, place);
            });
        }
    }

    fn session(&self, id: u64, socket: TcpStream, place: Place) {
        let proved = RefCell::new(None);
        let key_of = |site: &str| {
            // That it cannot be read is for who looks after the gateway.
            let key = self
                .keys
                .known(site)
                .inspect_err(|error| self.shared.key_failed(site, error.to_string()))?;
            self.shared.key_is_read(site);
            *proved.borrow_mut() = key.clone();
            Ok(key.map(|key| key.key))
        };
        let (tls, limits) = (self.options.tls.clone(), self.options.limits);
        let (site, link, mut receiver) = match accept(socket, tls, key_of, limits) {
            Ok(accepted) => accepted,
            // Who is not known has been told so.
            Err(_) => return,
        };
        drop(place);
        let Some(key) = proved.into_inner() else { return };
        let Some(_counted) = Counted::of(&self.sites, self.options.connections_max) else {
            let max = self.options.connections_max;
            let text = format!("{max} sites are connected, and no more are allowed");
            // It comes again, whether it has heard it or not.
            let _ = link.send(&Message::Refused { refusal: Refusal::Busy, text });
            return link.close();
        };
        let (answers, told) = sync_channel::<Message>(ANSWERS);
        let sender = link.clone();
        let teller = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            for message in told {
                if sender.send(&message).is_err() {
                    break;
                }
            }
            sender.close();
        });
        if teller.is_err() {
            return;
        }
        let client = Client { site, key, answers, link, streams: Vec::new() };
        if self.requests.send(Request::Came(id, client)).is_err() {
            return;
        }
        while let Ok(message) = receiver.receive() {
            if self.requests.send(self.request(id, message)).is_err() {
                break;
            }
        }
        // The writer may have ended before.
        let _ = self.requests.send(Request::Gone(id));
    }
}

impl Doors {
    /// Here, and not where one site's frame would stop all others, frames are decoded.
    fn request(&self, id: u64, message: Message) -> Request {
        let Message::Frame(bytes) = message else { return Request::Says(id, message) };
        // How much it will be is known only then.
        let mut taken = self.room.take(PAYLOAD_BYTES_MAX);
        let frame = Frame::decode(&bytes).map(Frame::into_owned);
        taken.shrink(frame.as_ref().map_or(0, |frame| frame.payload.len()));
        Request::Sends(id, frame, taken)
    }
}

/// A connection that counts until it ends.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    /// None if there are so many already.
    fn of(count: &Arc<AtomicUsize>, max: usize) -> Option<Self> {
        let counted = Self(count.clone());
        (count.fetch_add(1, Ordering::AcqRel) < max).then_some(counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
