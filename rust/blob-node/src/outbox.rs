//! What goes to another node: one connection, made when it is needed, and what waits for it.
//!
//! # Bounds
//! [`OUTBOX_MESSAGES_MAX`] messages of [`OUTBOX_BYTES_MAX`] wait; more are not sent, which the state machine is told. Nothing
//! waits for a node that cannot be reached: after an attempt that failed, all is refused for a while, which doubles up to
//! [`RETRY_TIME_MAX`], or until that node has connected to this one: it asks, and waits for the answers.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use afterbay_blob_cluster::{Body, Message, NodeId};
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;

use crate::driver::{Event, Events};
use crate::handshake::connect;
use crate::inbox::{MESSAGE, PROOF_TIME, SCRUB, STALL_TIME, STATUS, prepare};
use crate::membership::Membership;
use crate::scrub_report::ScrubReport;
use crate::scrubs::ScrubCommand;
use crate::tls::{Stream, begin};

const OUTBOX_MESSAGES_MAX: usize = 1024;
const OUTBOX_BYTES_MAX: usize = 64 << 20;
const CONNECT_TIME: Duration = Duration::from_secs(2);
const RETRY_TIME_MIN: Duration = Duration::from_millis(50);
const RETRY_TIME_MAX: Duration = Duration::from_secs(1);
const STEP_BYTES: usize = 256 << 10;
const STATUS_BYTES_MAX: usize = 64 << 20;

/// The connection to another node, for people.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct LinkReport {
    pub(crate) connected: bool,
    /// Why not, the last time.
    pub(crate) error: Option<String>,
}

/// Where messages to another node go. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    messages: mpsc::Sender<Waiting>,
    memory: Arc<Semaphore>,
    pub(crate) address: String,
    link: Arc<Mutex<LinkReport>>,
    /// How often that node has connected to this one.
    arrivals: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Waiting {
    message: Message,
    _memory: OwnedSemaphorePermit,
}

impl Outbox {
    /// Sends to `to`, until it and its clones are dropped.
    pub(crate) fn to(to: NodeId, address: String, own: Membership, events: Events) -> Self {
        let (messages, waiting) = mpsc::channel(OUTBOX_MESSAGES_MAX);
        let link = Arc::new(Mutex::new(LinkReport::default()));
        let arrivals = Arc::new(AtomicU64::new(0));
        let (shown, seen) = (link.clone(), arrivals.clone());
        let sender =
            Sender { to, address: address.clone(), own, events, link: shown, arrivals: seen };
        tokio::spawn(sender.run(waiting));
        let memory = Arc::new(Semaphore::new(OUTBOX_BYTES_MAX));
        Outbox { messages, memory, address, link, arrivals }
    }

    /// False if too much waits.
    pub(crate) fn send(&self, message: Message) -> bool {
        // One that is longer than all may be goes alone.
        let permits = message.bytes().min(OUTBOX_BYTES_MAX) as u32;
        let Ok(memory) = self.memory.clone().try_acquire_many_owned(permits) else { return false };
        self.messages.try_send(Waiting { message, _memory: memory }).is_ok()
    }

    /// That node has connected to this one: what was tried before says nothing any more.
    pub(crate) fn has_come(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn link(&self) -> LinkReport {
        self.link.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Sender {
    to: NodeId,
    address: String,
    own: Membership,
    events: Events,
    link: Arc<Mutex<LinkReport>>,
    arrivals: Arc<AtomicU64>,
}

impl Sender {
    async fn run(self, mut waiting: mpsc::Receiver<Waiting>) {
        let mut retry_time = RETRY_TIME_MIN;
        let mut not_before = Instant::now();
        let mut arrivals = 0;
        while let Some(first) = waiting.recv().await {
            let before = std::mem::replace(&mut arrivals, self.arrivals.load(Ordering::Relaxed));
            if arrivals != before {
                retry_time = RETRY_TIME_MIN;
            } else if Instant::now() < not_before {
                self.unsent(&first.message);
                continue;
            }
            let ended = match open(&self.address, &self.own, &self.to).await {
                Ok(stream) => {
                    self.set_link(true, None);
                    retry_time = RETRY_TIME_MIN;
                    self.send_all(stream, first, &mut waiting).await
                }
                Err(error) => {
                    self.unsent(&first.message);
                    Err(error)
                }
            };
            let Err(error) = ended else { return };
            tracing::debug!(to = %self.to, %error, "not connected");
            self.set_link(false, Some(error.to_string()));
            // What waits would not get through either, and what is asked is not answered.
            while let Ok(waiting) = waiting.try_recv() {
                self.unsent(&waiting.message);
            }
            let _ = self.events.send(Event::Gone(self.to.clone()));
            not_before = Instant::now() + retry_time;
            retry_time = (retry_time * 2).min(RETRY_TIME_MAX);
        }
    }

    fn set_link(&self, connected: bool, error: Option<String>) {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = &error
            && link.error.as_ref() != Some(error)
        {
            tracing::info!(to = %self.to, address = self.address, %error, "cannot be reached");
        } else if connected && link.error.is_some() {
            tracing::info!(to = %self.to, address = self.address, "can be reached again");
        }
        *link = LinkReport { connected, error };
    }

    /// Of answers, who asked is told by its own clock.
    fn unsent(&self, message: &Message) {
        if matches!(message.body, Body::Request(_)) {
            let _ = self.events.send(Event::Unsent(self.to.clone(), message.call));
        }
    }

    /// Sends until the connection breaks; `Ok` when nobody sends any more.
    async fn send_all(
        &self,
        mut stream: Stream,
        first: Waiting,
        waiting: &mut mpsc::Receiver<Waiting>,
    ) -> io::Result<()> {
        let mut nothing = [0];
        let mut next = Some(first);
        loop {
            let message = match next.take() {
                Some(first) => first,
                None => tokio::select! {
                    // Nothing comes on it but its end.
                    ended = stream.read(&mut nothing) => return Err(match ended {
                        // Of TLS, who is killed does not take leave.
                        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => error,
                        _ => io::Error::new(io::ErrorKind::ConnectionReset, "the other side closed the connection"),
                    }),
                    message = waiting.recv() => match message {
                        Some(message) => message,
                        None => return Ok(()),
                    },
                },
            };
            if let Err(error) = write_message(&mut stream, &message.message).await {
                self.unsent(&message.message);
                return Err(error);
            }
        }
    }
}

async fn write_message(to: &mut Stream, message: &Message) -> io::Result<()> {
    let mut bytes = vec![MESSAGE];
    bytes.extend(message.encode());
    for step in bytes.chunks(STEP_BYTES) {
        timeout(STALL_TIME, to.write_all(step)).await??;
    }
    // TLS keeps what is not.
    timeout(STALL_TIME, to.flush()).await?
}

/// A connection to a node, on which both have proved who they are.
async fn open(address: &str, own: &Membership, to: &NodeId) -> io::Result<Stream> {
    let late = |_| {
        let text = format!("no answer within {CONNECT_TIME:?}");
        io::Error::new(io::ErrorKind::TimedOut, text)
    };
    let stream = timeout(CONNECT_TIME, TcpStream::connect(address)).await.map_err(late)??;
    prepare(&stream)?;
    timeout(PROOF_TIME, prove(stream, own, to)).await.map_err(|_| {
        let text = format!("{to} did not prove within {PROOF_TIME:?} that it knows the key");
        io::Error::new(io::ErrorKind::TimedOut, text)
    })?
}

async fn prove(stream: TcpStream, own: &Membership, to: &NodeId) -> io::Result<Stream> {
    let (mut stream, session) = begin(stream, own, to).await?;
    connect(&mut stream, own, to, &session).await?;
    Ok(stream)
}

/// What a node says of itself, as JSON.
pub async fn status_of(own: &Membership, to: &NodeId, address: &str) -> io::Result<String> {
    exchange(open(address, own, to).await?, &[STATUS]).await
}

/// Asks a node for something about scrubs of its replicas. The text says why it does not do it.
pub async fn scrub_of(
    own: &Membership,
    to: &NodeId,
    address: &str,
    command: &ScrubCommand,
) -> io::Result<Result<ScrubReport, String>> {
    let command = serde_json::to_vec(command)?;
    let length = u16::try_from(command.len()).map_err(io::Error::other)?;
    let question = [&[SCRUB][..], &length.to_be_bytes(), &command].concat();
    let stream = open(address, own, to).await?;
    let answer = exchange(stream, &question).await.map_err(|error| match error.kind() {
        // Bytes that are not read end a connection without TLS in another way.
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            let text = format!(
                "{to} closed the connection: it shuts down, or its program does not know of scrubs that are asked for; run the \
                 same one on all nodes"
            );
            io::Error::new(error.kind(), text)
        }
        _ => error,
    })?;
    Ok(serde_json::from_str(&answer)?)
}

/// What a node answers to who is none.
async fn exchange(mut stream: Stream, question: &[u8]) -> io::Result<String> {
    stream.write_all(question).await?;
    stream.flush().await?;
    let length = timeout(STALL_TIME, stream.read_u32()).await?? as usize;
    if length > STATUS_BYTES_MAX {
        return Err(io::Error::other("an answer that is too long"));
    }
    let mut text = Vec::new();
    let read = timeout(STALL_TIME, stream.take(length as u64).read_to_end(&mut text)).await??;
    if read < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    String::from_utf8(text).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use afterbay_blob_cluster::{Call, ClusterMap, Request};
    use afterbay_blob_store::{BlobId, Content, Durability, PartitionId, Record, RecordKind};
    use afterbay_test_form::PATIENCE;
    use tokio::net::TcpListener;

    use crate::membership::ClusterKey;
    use crate::tls::Session;

    use super::*;

    const MAP: &str = "version = 1\n[[node]]\nid = \"n1\"\naddress = \"a:1\"\n[[node]]\nid = \"n2\"\naddress = \"b:1\"\n\
                       [[partition]]\nid = 1\nreplicas = [\"n1\", \"n2\"]\n";

    fn write(number: u64, bytes: usize) -> Message {
        let id = BlobId::random(PartitionId(1));
        let content =
            Content { container: 0, properties: Vec::new().into(), body: vec![7; bytes].into() };
        let (kind, content) = (RecordKind::Put, Some(content));
        let record = Record { id, kind, life: 0, time_ms: 1, expires_ms: 0, content };
        let durability = Durability::Durable;
        let request = Request::Write { id, records: vec![record], durability, deadline_ms: 1 };
        Message { call: Call { session: 1, number }, body: Body::Request(request) }
    }

    fn map() -> Arc<ClusterMap> {
        Arc::new(ClusterMap::parse("map.toml", MAP).unwrap())
    }

    fn outbox(address: String) -> (Outbox, mpsc::UnboundedReceiver<Event>) {
        let own = Membership::node(NodeId::new("n1"), map(), ClusterKey::new("AB", "secret"));
        let (events, happened) = mpsc::unbounded_channel();
        (Outbox::to(NodeId::new("n2"), address, own, events), happened)
    }

    async fn unsent(happened: &mut mpsc::UnboundedReceiver<Event>) -> u64 {
        match timeout(PATIENCE, happened.recv()).await.unwrap() {
            Some(Event::Unsent(_, call)) => call.number,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn nothing_waits_for_a_node_that_cannot_be_reached() {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = closed.local_addr().unwrap().to_string();
        drop(closed);
        let (outbox, mut happened) = outbox(address);
        assert!(outbox.send(write(1, 10)));
        assert_eq!(unsent(&mut happened).await, 1);
        let gone = timeout(PATIENCE, happened.recv()).await.unwrap();
        assert!(matches!(gone, Some(Event::Gone(node)) if node.as_str() == "n2"));
        let LinkReport { connected, error } = outbox.link();
        assert!(!connected && error.unwrap().contains("refused"));
        for number in 2..50 {
            assert!(outbox.send(write(number, 10)));
            loop {
                match timeout(PATIENCE, happened.recv()).await.unwrap() {
                    Some(Event::Unsent(_, call)) => break assert_eq!(call.number, number),
                    Some(Event::Gone(_)) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        let memory = outbox.memory.clone();
        drop(outbox);
        assert_eq!(memory.available_permits(), OUTBOX_BYTES_MAX);
    }

    #[tokio::test]
    async fn who_has_come_back_is_answered_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (outbox, mut happened) = outbox(listener.local_addr().unwrap().to_string());
        // It hangs up until nothing is tried for the longest while.
        let mut attempts = 0;
        for number in 1.. {
            assert!(outbox.send(write(number, 10)));
            let hung_up = tokio::select! {
                stream = listener.accept() => stream.unwrap(),
                call = unsent(&mut happened) => {
                    assert_eq!(call, number);
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    continue;
                }
            };
            drop(hung_up);
            assert_eq!(unsent(&mut happened).await, number);
            let gone = timeout(PATIENCE, happened.recv()).await.unwrap();
            assert!(matches!(gone, Some(Event::Gone(_))), "{gone:?}");
            attempts += 1;
            if RETRY_TIME_MIN * 2_u32.pow(attempts) > RETRY_TIME_MAX {
                break;
            }
        }
        outbox.has_come();
        assert!(outbox.send(write(0, 10)));
        let accepted = tokio::select! {
            stream = listener.accept() => stream,
            call = unsent(&mut happened) => panic!("{call} was not sent"),
        };
        let (mut stream, _) = accepted.unwrap();
        let n2 = Membership::node(NodeId::new("n2"), map(), ClusterKey::new("AB", "secret"));
        assert!(
            crate::handshake::accept(&mut stream, &n2, &Session::PLAINTEXT).await.unwrap().is_ok()
        );
        assert_eq!(timeout(PATIENCE, stream.read_u8()).await.unwrap().unwrap(), MESSAGE);
    }

    #[tokio::test]
    async fn what_waits_for_a_node_is_bounded() {
        // It accepts, and says nothing.
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (outbox, mut happened) = outbox(silent.local_addr().unwrap().to_string());
        let mut sent = 0;
        while outbox.send(write(sent, 4 << 20)) {
            sent += 1;
        }
        assert!((10..=16).contains(&sent), "{sent} of 4 MiB in {OUTBOX_BYTES_MAX}");
        assert!(!outbox.send(write(99, 4 << 20)));
        let (stream, _) = silent.accept().await.unwrap();
        drop((stream, silent));
        let mut back = Vec::new();
        for _ in 0..sent {
            back.push(unsent(&mut happened).await);
        }
        assert_eq!(back, (0..sent).collect::<Vec<_>>(), "each is told");
    }
}
