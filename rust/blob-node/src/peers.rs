//! Connections between nodes. Each node keeps one to each other one, and sends on it; what others send comes on theirs.
//!
//! ```text
//!  who connects                               who accepts
//!    "AFTRBNOD", name, random number  ------->
//!                                     <-------  random number, proof
//!    proof                            ------->
//!    1, message                       ------->   any number of them
//!    2                                ------->   what it knows, as JSON:
//!                                     <-------  length, text
//! ```
//!
//! Both prove that they know the cluster's key ([`afterbay_blob_proto`]'s proofs); nothing is encrypted.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_cluster::{Body, Call, Message, NodeId, PREFIX_BYTES};
use afterbay_blob_proto::{Nonce, client_proof, prove, server_proof};
use bytes::Bytes;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::driver::{Event, Events};

const MAGIC: &[u8; 8] = b"AFTRBNOD";
const MESSAGE: u8 = 1;
const STATUS: u8 = 2;
/// Messages that wait for a connection; more are not sent.
const QUEUE_MAX: usize = 1024;
const CONNECT_TIME: Duration = Duration::from_secs(2);
const RETRY_TIME: Duration = Duration::from_millis(100);
/// Who connects and proves nothing is cut off after so long.
const PROOF_TIME: Duration = Duration::from_secs(5);
const STATUS_BYTES_MAX: usize = 64 << 20;

/// The secret that the nodes of a cluster share.
#[derive(Clone)]
pub struct ClusterKey(Arc<str>);

impl std::fmt::Debug for ClusterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClusterKey")
    }
}

impl ClusterKey {
    /// The secret.
    pub fn new(secret: &str) -> Self {
        ClusterKey(secret.into())
    }
}

fn nonce() -> io::Result<Nonce> {
    let mut nonce = Nonce::default();
    SystemRandom::new().fill(&mut nonce).map_err(|_| io::Error::other("no random numbers"))?;
    Ok(nonce)
}

fn refused(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason.to_owned())
}

/// Connects as `name`, and lets both sides prove that they know the key.
async fn connect(address: &str, name: &str, key: &ClusterKey) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let own = nonce()?;
    let mut hello = MAGIC.to_vec();
    // Names of nodes are 64 bytes long at most.
    hello.push(name.len() as u8);
    hello.extend_from_slice(name.as_bytes());
    hello.extend_from_slice(&own);
    stream.write_all(&hello).await?;
    let (mut other, mut proof) = (Nonce::default(), [0; 32]);
    stream.read_exact(&mut other).await?;
    stream.read_exact(&mut proof).await?;
    let plain = [0; 32];
    if !prove(&proof, &server_proof(&key.0, name, &other, &own, &plain)) {
        return Err(refused("the other side does not know the cluster's key"));
    }
    stream.write_all(&client_proof(&key.0, name, &other, &own, &plain)).await?;
    Ok(stream)
}

/// Who has connected.
async fn accept(stream: &mut TcpStream, key: &ClusterKey) -> io::Result<NodeId> {
    stream.set_nodelay(true)?;
    let mut magic = [0; 8];
    stream.read_exact(&mut magic).await?;
    if magic != *MAGIC {
        return Err(refused("no node of a cluster"));
    }
    let mut name = vec![0; stream.read_u8().await?.into()];
    stream.read_exact(&mut name).await?;
    let name = String::from_utf8(name).map_err(|_| refused("a name that is not UTF-8"))?;
    let (mut other, own, plain) = (Nonce::default(), nonce()?, [0; 32]);
    stream.read_exact(&mut other).await?;
    stream.write_all(&own).await?;
    stream.write_all(&server_proof(&key.0, &name, &own, &other, &plain)).await?;
    let mut proof = [0; 32];
    stream.read_exact(&mut proof).await?;
    if prove(&proof, &client_proof(&key.0, &name, &own, &other, &plain)) {
        Ok(NodeId::new(&name))
    } else {
        Err(refused("it does not know the cluster's key"))
    }
}

/// Accepts connections of other nodes, until the process ends.
pub(crate) async fn listen(listener: TcpListener, key: ClusterKey, events: Events) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(receive(stream, key.clone(), events.clone()));
            }
            Err(error) => {
                // Out of descriptors, mostly.
                tracing::warn!(%error, "a connection of another node was not accepted");
                tokio::time::sleep(RETRY_TIME).await;
            }
        }
    }
}

async fn receive(mut stream: TcpStream, key: ClusterKey, events: Events) {
    let from = match timeout(PROOF_TIME, accept(&mut stream, &key)).await {
        Ok(Ok(from)) => from,
        Ok(Err(error)) => return tracing::warn!(%error, "a connection was refused"),
        Err(_) => return tracing::warn!("a connection without a proof was closed"),
    };
    if let Err(error) = receive_all(stream, &from, &events).await
        && error.kind() != io::ErrorKind::UnexpectedEof
    {
        tracing::debug!(%from, %error, "a connection has ended");
    }
}

async fn receive_all(mut stream: TcpStream, from: &NodeId, events: &Events) -> io::Result<()> {
    loop {
        match stream.read_u8().await? {
            MESSAGE => {
                let mut prefix = [0; PREFIX_BYTES];
                stream.read_exact(&mut prefix).await?;
                let (length, crc) = Message::parse_prefix(prefix).map_err(io::Error::other)?;
                let mut payload = Vec::new();
                // Grows as bytes come: what is announced only takes no memory.
                let read = (&mut stream).take(length as u64).read_to_end(&mut payload).await?;
                if read < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let message =
                    Message::decode(Bytes::from(payload), crc).map_err(io::Error::other)?;
                if events.send(Event::Message(from.clone(), message)).is_err() {
                    return Ok(());
                }
            }
            STATUS => {
                let (answer, status) = tokio::sync::oneshot::channel();
                let _ = events.send(Event::Status(answer));
                let text = status.await.map_err(io::Error::other)?;
                stream.write_all(&(text.len() as u32).to_be_bytes()).await?;
                stream.write_all(text.as_bytes()).await?;
            }
            _ => return Err(io::Error::other("something that is no message")),
        }
    }
}

/// What a node knows, as JSON.
pub async fn status_of(address: &str, key: &ClusterKey) -> io::Result<String> {
    let ask = async {
        let mut stream = connect(address, "status", key).await?;
        stream.write_u8(STATUS).await?;
        let length = stream.read_u32().await? as usize;
        if length > STATUS_BYTES_MAX {
            return Err(io::Error::other("a status that is too long"));
        }
        let mut text = vec![0; length];
        stream.read_exact(&mut text).await?;
        String::from_utf8(text).map_err(io::Error::other)
    };
    timeout(PROOF_TIME, ask).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Where messages to another node go.
#[derive(Debug, Clone)]
pub(crate) struct Outbox(mpsc::Sender<Message>);

impl Outbox {
    /// Sends to `to`, over a connection that is made when it is needed.
    pub(crate) fn to(
        to: NodeId,
        address: String,
        own: NodeId,
        key: ClusterKey,
        events: Events,
    ) -> Self {
        let (sender, messages) = mpsc::channel(QUEUE_MAX);
        tokio::spawn(send_all(to, address, own, key, events, messages));
        Outbox(sender)
    }

    /// False if too many wait.
    pub(crate) fn send(&self, message: Message) -> bool {
        self.0.try_send(message).is_ok()
    }
}

async fn send_all(
    to: NodeId,
    address: String,
    own: NodeId,
    key: ClusterKey,
    events: Events,
    mut messages: mpsc::Receiver<Message>,
) {
    let mut stream = None;
    while let Some(message) = messages.recv().await {
        let sent = send(&mut stream, &address, &own, &key, &message).await;
        if let Err(error) = sent {
            tracing::debug!(%to, %error, "a message was not sent");
            stream = None;
            unsent(&events, &to, &message);
            // What waits would not get through either.
            while let Ok(message) = messages.try_recv() {
                unsent(&events, &to, &message);
            }
            tokio::time::sleep(RETRY_TIME).await;
        }
    }
}

/// Of answers, who asked is told by its own clock.
fn unsent(events: &Events, to: &NodeId, message: &Message) {
    if matches!(message.body, Body::Request(_)) {
        let call: Call = message.call;
        let _ = events.send(Event::Unsent(to.clone(), call));
    }
}

async fn send(
    stream: &mut Option<TcpStream>,
    address: &str,
    own: &NodeId,
    key: &ClusterKey,
    message: &Message,
) -> io::Result<()> {
    // A connection that the other side has closed says so when it is read: nothing else comes on it.
    if let Some(open) = stream
        && !matches!(open.try_read(&mut [0]), Err(e) if e.kind() == io::ErrorKind::WouldBlock)
    {
        *stream = None;
    }
    let open = match stream {
        Some(open) => open,
        none => {
            let connected = timeout(CONNECT_TIME, connect(address, own.as_str(), key)).await;
            none.insert(connected.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??)
        }
    };
    let mut bytes = vec![MESSAGE];
    bytes.extend(message.encode());
    timeout(CONNECT_TIME * 5, open.write_all(&bytes))
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}
