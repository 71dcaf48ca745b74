//! TLS in front of `rumqttc`, whose own brings an older webpki with known faults: its client connects to a Unix socket of this
//! process, and what both say goes over TLS from there.
//!
//! ```text
//!   rumqttc --Unix socket--> Tunnel --TCP, TLS--> broker
//! ```
//!
//! Nobody else gets through: each connection is of this process, or is closed. On Linux, the socket is in no folder.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::client::Ended;
use crate::options::Broker;
use crate::tls::Tls;

/// How long a broker may take until TLS stands. The client gives up after 5 s.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long is waited for the reason of a connection that was closed while something was written.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Between two attempts to accept a connection.
const AGAIN: Duration = Duration::from_millis(50);

/// Whether the client wants no connection any more.
type IsOver = Box<dyn Fn() -> bool + Send + Sync>;

/// See the module.
#[derive(Debug)]
pub(crate) struct Tunnel {
    socket: String,
    failure: Arc<Mutex<Option<Ended>>>,
    task: JoinHandle<()>,
}

impl Tunnel {
    /// Waits for the client. In a runtime, whose thread it needs.
    pub(crate) fn start(broker: &Broker, tls: &Tls, is_over: IsOver) -> io::Result<Self> {
        let socket = socket_name();
        let listener = UnixListener::bind(&socket)?;
        let failure = Arc::default();
        let ends = Ends { listener, broker: broker.clone(), tls: tls.clone(), failure, is_over };
        let failure = ends.failure.clone();
        Ok(Self { socket, failure, task: tokio::spawn(ends.run()) })
    }

    /// Where the client connects.
    pub(crate) fn socket(&self) -> &str {
        &self.socket
    }

    /// Why a connection has ended of which the client knows this.
    pub(crate) fn why(&self, ended: Ended) -> Ended {
        match ended {
            Ended::Refused(_) | Ended::TooLarge(_) => ended,
            ended => lock(&self.failure).take().unwrap_or(ended),
        }
    }

    /// Waits until the broker has heard the client's last words.
    pub(crate) async fn finish(mut self, patience: Duration) {
        let _ = timeout(patience, &mut self.task).await;
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.task.abort();
        if !self.socket.starts_with('\0') {
            // If it stays, it is of no use to anybody.
            let _ = std::fs::remove_file(&self.socket);
        }
    }
}

/// A name that nobody else has.
fn socket_name() -> String {
    let name = format!(
        "afterbay-edge-mqtt-{}-{:016x}",
        std::process::id(),
        RandomState::new().hash_one("socket")
    );
    if cfg!(target_os = "linux") {
        format!("\0{name}")
    } else {
        std::env::temp_dir().join(name).to_string_lossy().into_owned()
    }
}

fn lock(failure: &Mutex<Option<Ended>>) -> MutexGuard<'_, Option<Ended>> {
    failure.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Both ends.
struct Ends {
    listener: UnixListener,
    broker: Broker,
    tls: Tls,
    failure: Arc<Mutex<Option<Ended>>>,
    is_over: IsOver,
}

impl Ends {
    async fn run(self) {
        let mut client = self.accept().await;
        loop {
            *lock(&self.failure) = None;
            let newer = tokio::select! {
                // The client has one connection at a time: it has given the former one up.
                newer = self.accept() => Some(newer),
                failure = self.pass(&mut client) => {
                    *lock(&self.failure) = failure;
                    None
                }
            };
            // Only now does the client see the end, and ask for the reason.
            drop(client);
            client = match newer {
                Some(newer) => newer,
                None if (self.is_over)() => return,
                None => self.accept().await,
            };
        }
    }

    /// The next connection of this process.
    async fn accept(&self) -> UnixStream {
        loop {
            match self.listener.accept().await {
                Ok((client, _)) if is_own(&client) => return client,
                Ok(_) => {}
                // Such as when there are no descriptors left.
                Err(_) => sleep(AGAIN).await,
            }
        }
    }

    /// Passes on what both say, until one of them ends; why, if it is more than an end.
    async fn pass(&self, client: &mut UnixStream) -> Option<Ended> {
        let mut broker = match timeout(PATIENCE, self.dial()).await {
            Ok(Ok(broker)) => broker,
            Ok(Err(ended)) => return Some(ended),
            Err(_) => {
                let seconds = PATIENCE.as_secs();
                return Some(Ended::Lost(format!("it has not answered within {seconds} s")));
            }
        };
        let error = copy_bidirectional(client, &mut broker).await.err()?;
        match self.tls.ended(&error) {
            // What it has said before it closed the connection has not been read yet.
            None => match timeout(LAST_WORDS, broker.read_u8()).await {
                Ok(Err(error)) => self.tls.ended(&error),
                _ => None,
            },
            ended => ended,
        }
    }

    async fn dial(&self) -> Result<TlsStream<TcpStream>, Ended> {
        let Broker { host, port, .. } = &self.broker;
        let lost = |error: io::Error| Ended::Lost(format!("I/O: {error}"));
        let socket = TcpStream::connect(format!("{host}:{port}")).await.map_err(lost)?;
        // An acknowledgement is not to wait for more to say.
        socket.set_nodelay(true).map_err(lost)?;
        let connector = TlsConnector::from(self.tls.config.clone());
        let connected = connector.connect(self.tls.name.clone(), socket).await;
        connected.map_err(|error| {
            let closed = || {
                Ended::Lost(
                    "it has closed the connection before TLS stood; if it speaks MQTT without TLS there, give mqtt://"
                        .to_owned(),
                )
            };
            self.tls.ended(&error).unwrap_or_else(closed)
        })
    }
}

/// Whether it is this process that has connected.
fn is_own(client: &UnixStream) -> bool {
    let own = i32::try_from(std::process::id()).ok();
    client.peer_cred().is_ok_and(|peer| peer.pid().is_some() && peer.pid() == own)
}
