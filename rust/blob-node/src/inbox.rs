//! What other nodes send: connections that they have opened, and the messages on them.
//!
//! # Bounds
//! - Who has not proved that it knows the cluster's key has [`PROOF_TIME`] for it, and [`STRANGERS_MAX`] of them are let in at
//!   once; others wait to be accepted.
//! - A node has one connection: a new one ends the one before. Who asks how the node is has one of [`OBSERVERS_MAX`].
//! - Messages of all nodes together hold [`INBOX_BYTES_MAX`], from their first byte until what they ask of the store is done;
//!   [`INBOX_MESSAGES_MAX`] wait for the state machine. Beyond that, connections are not read from.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use afterbay_blob_cluster::{Message, NodeId, PREFIX_BYTES};
use bytes::{Bytes, BytesMut};
use rustix::net::sockopt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::handshake::{Peer, accept};
use crate::membership::Membership;
use crate::outbox::Outbox;
use crate::refusal::Refused;
use crate::report::Reporter;
use crate::tls::{Stream, take};

/// What follows is a message.
pub(crate) const MESSAGE: u8 = 1;
/// The node is asked how it is, and answers: length, JSON.
pub(crate) const STATUS: u8 = 2;
/// The node is asked for something about scrubs (length, JSON), and answers in the same way as to [`STATUS`].
pub(crate) const SCRUB: u8 = 3;
const COMMAND_BYTES_MAX: u16 = 1024;
/// Who connects has so long to prove that it knows the key.
pub(crate) const PROOF_TIME: Duration = Duration::from_secs(5);
/// Bytes that are announced come, or go, within this time, or some of them.
pub(crate) const STALL_TIME: Duration = Duration::from_secs(10);
const STRANGERS_MAX: usize = 64;
const OBSERVERS_MAX: usize = 16;
/// At least the longest message.
pub(crate) const INBOX_BYTES_MAX: usize = 256 << 20;
pub(crate) const INBOX_MESSAGES_MAX: usize = 256;
/// Nodes without a partition in common have nothing to say to each other for long. On a connection on which nothing comes for so
/// long, the operating system asks whether the other side is there, so often, and ends it if there is no answer.
const ASKED_AFTER: Duration = Duration::from_secs(60);
const ASKED_EVERY: Duration = Duration::from_secs(10);
const ASKED_TIMES: u32 = 6;
/// After a connection could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);
/// The same refusal of the same node is logged so often.
const LOG_AGAIN: Duration = Duration::from_secs(60);
const LOGGED_MAX: usize = 64;

/// A message, with the memory that it counts for.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) from: NodeId,
    pub(crate) message: Message,
    pub(crate) memory: OwnedSemaphorePermit,
}

#[derive(Debug)]
pub(crate) struct Inbox {
    own: Membership,
    messages: mpsc::Sender<Received>,
    reporter: Reporter,
    /// Where answers go.
    outboxes: BTreeMap<NodeId, Outbox>,
    memory: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
    observers: Arc<Semaphore>,
    /// Ends the connection that a node has.
    connected: Mutex<BTreeMap<NodeId, oneshot::Sender<()>>>,
    logged: Mutex<BTreeMap<String, Instant>>,
}

impl Inbox {
    pub(crate) fn new(
        own: Membership,
        messages: mpsc::Sender<Received>,
        reporter: Reporter,
        outboxes: BTreeMap<NodeId, Outbox>,
    ) -> Self {
        Inbox {
            own,
            messages,
            reporter,
            outboxes,
            memory: Arc::new(Semaphore::new(INBOX_BYTES_MAX)),
            strangers: Arc::new(Semaphore::new(STRANGERS_MAX)),
            observers: Arc::new(Semaphore::new(OBSERVERS_MAX)),
            connected: Mutex::default(),
            logged: Mutex::default(),
        }
    }

    /// Accepts connections until `stop` becomes true, and serves each until then.
    pub(crate) async fn listen(
        self: Arc<Self>,
        listener: TcpListener,
        stop: watch::Receiver<bool>,
    ) {
        let mut stopping = stop.clone();
        loop {
            let accepted = tokio::select! {
                accepted = self.accept(&listener) => accepted,
                _ = stopping.wait_for(|stop| *stop) => return,
            };
            match accepted {
                Ok((stream, address, stranger)) => {
                    let (inbox, mut stop) = (self.clone(), stop.clone());
                    tokio::spawn(async move {
                        tokio::select! {
                            () = inbox.serve(stream, address, stranger) => {}
                            _ = stop.wait_for(|stop| *stop) => {}
                        }
                    });
                }
                Err(error) => {
                    // Out of descriptors, mostly.
                    tracing::warn!(%error, "a connection of another node was not accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn accept(
        &self,
        listener: &TcpListener,
    ) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let stranger = self.strangers.clone().acquire_owned().await.map_err(io::Error::other)?;
        let (stream, address) = listener.accept().await?;
        prepare(&stream)?;
        Ok((stream, address, stranger))
    }

    async fn serve(&self, stream: TcpStream, address: SocketAddr, stranger: OwnedSemaphorePermit) {
        let (peer, stream) = match timeout(PROOF_TIME, self.begin(stream)).await {
            Ok(Ok(Ok(begun))) => begun,
            Ok(Ok(Err(refused))) => return self.log(address, &refused),
            Ok(Err(error)) => {
                return tracing::debug!(%address, %error, "a connection ended before it began");
            }
            Err(_) => return tracing::debug!(%address, "a connection without a proof was closed"),
        };
        drop(stranger);
        let served = match peer {
            Peer::Observer => self.observe(stream).await,
            Peer::Node(node) => {
                if let Some(outbox) = self.outboxes.get(&node) {
                    outbox.has_come();
                }
                let (end, ended) = oneshot::channel();
                // The one of before ends by this.
                self.connected().insert(node.clone(), end);
                tokio::select! {
                    served = self.receive(stream, &node) => served,
                    _ = ended => Ok(()),
                }
            }
        };
        if let Err(error) = served
            && error.kind() != io::ErrorKind::UnexpectedEof
        {
            tracing::debug!(%address, %error, "a connection of another node has ended");
        }
    }

    async fn begin(&self, stream: TcpStream) -> io::Result<Result<(Peer, Stream), Refused>> {
        let (mut stream, session) = match take(stream, &self.own).await? {
            Ok(taken) => taken,
            Err(refused) => return Ok(Err(refused)),
        };
        let accepted = accept(&mut stream, &self.own, &session).await?;
        Ok(accepted.map(|peer| (peer, stream)))
    }

    fn connected(&self) -> std::sync::MutexGuard<'_, BTreeMap<NodeId, oneshot::Sender<()>>> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom this node refuses comes again and again.
    fn log(&self, address: SocketAddr, refused: &Refused) {
        let Refused { code, from, text } = refused;
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        logged.retain(|_, at| at.elapsed() < LOG_AGAIN);
        let key = format!("{code:?} {from}");
        if logged.len() < LOGGED_MAX && !logged.contains_key(&key) {
            logged.insert(key, Instant::now());
            tracing::warn!(%address, "a connection was refused: {text}");
        }
    }

    async fn observe(&self, mut stream: Stream) -> io::Result<()> {
        let _one = self.observers.acquire().await.map_err(io::Error::other)?;
        loop {
            let text = match timeout(PROOF_TIME, stream.read_u8()).await?? {
                STATUS => self.reporter.report().await?.to_string(),
                SCRUB => self.scrub(&mut stream).await?,
                _ => return Ok(()),
            };
            let length = u32::try_from(text.len()).map_err(io::Error::other)?;
            let answer = [&length.to_be_bytes(), text.as_bytes()].concat();
            timeout(STALL_TIME, stream.write_all(&answer)).await??;
            timeout(STALL_TIME, stream.flush()).await??;
        }
    }

    async fn scrub(&self, stream: &mut Stream) -> io::Result<String> {
        let length = timeout(STALL_TIME, stream.read_u16()).await??;
        if length > COMMAND_BYTES_MAX {
            return Err(io::Error::other("a command that is too long"));
        }
        let mut text = vec![0; length.into()];
        timeout(STALL_TIME, stream.read_exact(&mut text)).await??;
        let done = self.reporter.scrub(serde_json::from_slice(&text)?).await?;
        Ok(serde_json::to_string(&done)?)
    }

    async fn receive(&self, mut stream: Stream, from: &NodeId) -> io::Result<()> {
        loop {
            if stream.read_u8().await? != MESSAGE {
                return Err(io::Error::other("something that is no message"));
            }
            let mut prefix = [0; PREFIX_BYTES];
            timeout(STALL_TIME, stream.read_exact(&mut prefix)).await??;
            let (length, crc) = Message::parse_prefix(prefix).map_err(io::Error::other)?;
            let permits = u32::try_from(length.min(INBOX_BYTES_MAX)).map_err(io::Error::other)?;
            let memory = self.memory.clone().acquire_many_owned(permits).await;
            let memory = memory.map_err(io::Error::other)?;
            let payload = read(&mut stream, length).await?;
            let message = Message::decode(payload, crc).map_err(io::Error::other)?;
            let received = Received { from: from.clone(), message, memory };
            if self.messages.send(received).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// How connections between nodes are.
pub(crate) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, ASKED_AFTER)?;
    sockopt::set_tcp_keepintvl(stream, ASKED_EVERY)?;
    sockopt::set_tcp_keepcnt(stream, ASKED_TIMES)?;
    Ok(())
}

/// Grows as bytes come: what is only announced takes no memory.
async fn read(stream: &mut Stream, length: usize) -> io::Result<Bytes> {
    let mut bytes = BytesMut::new();
    let mut rest = stream.take(length as u64);
    while bytes.len() < length {
        bytes.reserve((length - bytes.len()).min(256 << 10));
        if timeout(STALL_TIME, rest.read_buf(&mut bytes)).await?? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(bytes.freeze())
}

#[cfg(test)]
mod tests {
    use afterbay_blob_cluster::{Body, Call, ClusterMap, LocalStore, Request};
    use afterbay_blob_store::sim::SimDisk;
    use afterbay_blob_store::{BlobId, PartitionId, SystemClock};
    use afterbay_test_form::{PATIENCE, Wait};

    use crate::handshake::connect;
    use crate::membership::ClusterKey;
    use crate::tls::Session;

    use super::*;

    const MAP: &str = "version = 1\n[[node]]\nid = \"n1\"\naddress = \"a:1\"\n[[node]]\nid = \"n2\"\naddress = \"b:1\"\n\
                       [[partition]]\nid = 1\nreplicas = [\"n1\", \"n2\"]\n";

    fn member(node: &str) -> Membership {
        let map = Arc::new(ClusterMap::parse("map.toml", MAP).unwrap());
        Membership::node(NodeId::new(node), map, ClusterKey::new("AB", "secret"))
    }

    struct N1 {
        inbox: Arc<Inbox>,
        received: mpsc::Receiver<Received>,
        address: SocketAddr,
        stop: watch::Sender<bool>,
    }

    async fn n1() -> N1 {
        let own = member("n1");
        let tokens = SimDisk::new(1).directory();
        let store = Arc::new(LocalStore::new(Arc::new(SystemClock), tokens, Vec::new()));
        let (events, _) = mpsc::unbounded_channel();
        let reporter = Reporter::new(
            own.clone(),
            "2".to_owned(),
            events,
            store,
            BTreeMap::default(),
            Arc::default(),
        );
        let (messages, received) = mpsc::channel(INBOX_MESSAGES_MAX);
        let inbox = Arc::new(Inbox::new(own, messages, reporter, BTreeMap::new()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopping) = watch::channel(false);
        tokio::spawn(inbox.clone().listen(listener, stopping));
        N1 { inbox, received, address, stop }
    }

    impl N1 {
        async fn connect(&self) -> TcpStream {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            let n1 = NodeId::new("n1");
            connect(&mut stream, &member("n2"), &n1, &Session::PLAINTEXT).await.unwrap();
            stream
        }

        async fn next(&mut self) -> Received {
            timeout(PATIENCE, self.received.recv()).await.unwrap().unwrap()
        }
    }

    fn message(number: u64) -> Message {
        let id = BlobId::random(PartitionId(1));
        let call = Call { session: 1, number };
        Message { call, body: Body::Request(Request::Known { id }) }
    }

    async fn send(stream: &mut TcpStream, message: &Message) {
        stream.write_all(&[&[MESSAGE], &message.encode()[..]].concat()).await.unwrap();
    }

    /// The other side has ended the connection, and has said nothing.
    async fn ended(stream: &mut TcpStream) -> bool {
        !matches!(timeout(PATIENCE, stream.read(&mut [0])).await.unwrap(), Ok(1..))
    }

    #[tokio::test]
    async fn messages_hold_memory_until_they_are_dropped() {
        let mut n1 = n1().await;
        let mut stream = n1.connect().await;
        send(&mut stream, &message(1)).await;
        send(&mut stream, &message(2)).await;
        let (first, second) = (n1.next().await, n1.next().await);
        assert_eq!((first.message.call.number, second.message.call.number), (1, 2));
        assert_eq!(first.from.as_str(), "n2");
        let held = INBOX_BYTES_MAX - n1.inbox.memory.available_permits();
        assert_eq!(held, 2 * (message(1).encode().len() - PREFIX_BYTES));
        drop((first, second));
        assert_eq!(n1.inbox.memory.available_permits(), INBOX_BYTES_MAX);
        n1.stop.send_replace(true);
        assert!(ended(&mut stream).await);
    }

    #[tokio::test]
    async fn what_is_no_message_ends_its_connection_alone() {
        let mut n1 = n1().await;
        let mut damaged = [&[MESSAGE], &message(1).encode()[..]].concat();
        *damaged.last_mut().unwrap() ^= 1;
        let too_long = [&[MESSAGE][..], &u32::MAX.to_be_bytes(), &[0; 4]].concat();
        for sent in [vec![9], damaged, too_long] {
            let mut stream = n1.connect().await;
            stream.write_all(&sent).await.unwrap();
            assert!(ended(&mut stream).await, "{sent:?}");
        }
        let mut stream = n1.connect().await;
        send(&mut stream, &message(7)).await;
        assert_eq!(n1.next().await.message.call.number, 7);
        let memory = n1.inbox.memory.clone();
        let wait = Wait::until("all is free again");
        while memory.available_permits() < INBOX_BYTES_MAX {
            wait.check(memory.available_permits());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn a_node_has_one_connection() {
        let mut n1 = n1().await;
        let mut first = n1.connect().await;
        send(&mut first, &message(1)).await;
        n1.next().await;
        let mut second = n1.connect().await;
        send(&mut second, &message(2)).await;
        assert_eq!(n1.next().await.message.call.number, 2);
        assert!(ended(&mut first).await);
    }

    #[tokio::test]
    async fn a_connection_without_messages_stays() {
        let mut n1 = n1().await;
        let mut stream = n1.connect().await;
        send(&mut stream, &message(1)).await;
        n1.next().await;
        // The inbox waits for the next message meanwhile.
        tokio::time::pause();
        tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
        tokio::time::resume();
        send(&mut stream, &message(2)).await;
        assert_eq!(n1.next().await.message.call.number, 2);
        // Who is gone without a word is noticed by the operating system.
        prepare(&stream).unwrap();
        assert!(sockopt::socket_keepalive(&stream).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&stream).unwrap(), ASKED_AFTER);
    }

    #[tokio::test]
    async fn strangers_are_let_in_by_turns() {
        let mut n1 = n1().await;
        let mut strangers = Vec::new();
        for _ in 0..STRANGERS_MAX + 20 {
            strangers.push(TcpStream::connect(n1.address).await.unwrap());
        }
        let free = n1.inbox.strangers.clone();
        let wait = Wait::until("all places are taken");
        while free.available_permits() > 0 {
            wait.check(free.available_permits());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(strangers);
        let mut stream = n1.connect().await;
        send(&mut stream, &message(3)).await;
        assert_eq!(n1.next().await.message.call.number, 3);
    }
}
