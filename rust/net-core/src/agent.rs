//! What the library asks the host's agent. It never waits long: without an answer, all that is new is plain TCP.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use afterbay_net_proto::{MESSAGE_BYTES_MAX, Message, Reason};
use afterbay_net_shm::{ShmError, passing};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::config::Config;
use crate::lock::Lock;
use crate::{descriptors, slot, sys};

/// How long an agent may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long none is looked for after none was there; twice as long each time, so that one that hangs is not waited for again and
/// again.
const REST_NS: u64 = 1_000_000_000;
const DOUBLINGS_MAX: u32 = 6;

static ASKING: Lock<Asking> = Lock::new(Asking { socket: None, rests_until: 0, failures: 0 });

#[derive(Debug)]
struct Asking {
    socket: Option<OwnedFd>,
    rests_until: u64,
    failures: u32,
}

/// The segment, four bells and the call of a connection.
pub(crate) type Rings = [OwnedFd; 6];

/// Offers rings for a socket that will connect.
pub(crate) fn offer(
    config: &Config,
    reference: u64,
    tcp: BorrowedFd<'_>,
    rings: [BorrowedFd<'_>; 6],
) -> Result<(), Reason> {
    let [a, b, c, d, e, f] = rings;
    match ask(config, &Message::Offer { reference }, &[tcp, a, b, c, d, e, f])?.0 {
        Message::Offered { reference: of } if of == reference => Ok(()),
        Message::Refused { reason, .. } => Err(reason),
        _ => Err(Reason::NoAgent),
    }
}

/// The rings of a socket that was accepted.
pub(crate) fn claim(config: &Config, tcp: BorrowedFd<'_>) -> Result<Rings, Reason> {
    match ask(config, &Message::Claim { reference: 1 }, &[tcp])? {
        (Message::Paired { .. }, rings) => rings.try_into().map_err(|_| Reason::NoAgent),
        (Message::Refused { reason, .. }, _) => Err(reason),
        _ => Err(Reason::NoAgent),
    }
}

/// Whether there is an agent to ask, as far as this process knows.
static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Whether there is an agent to ask, before anything is made for it. It is not asked.
pub(crate) fn reach(config: &Config) -> Result<(), Reason> {
    if IS_THERE.load(Relaxed) {
        return Ok(());
    }
    let mut asking = ASKING.lock().map_err(|_| Reason::NoAgent)?;
    asking.reach(config).map(|_| ())
}

/// Takes an offer back. Only of this process: a child is another client.
pub(crate) fn withdraw(reference: u64) {
    if let Ok(asking) = ASKING.lock()
        && let Some(socket) = &asking.socket
    {
        let _ = passing::send(socket, &Message::Withdraw { reference }.encode(), &[]);
    }
}

/// In a child: it asks by a connection of its own.
pub(crate) fn begin_anew() {
    if let Ok(mut asking) = ASKING.lock() {
        asking.forget();
        (asking.rests_until, asking.failures) = (0, 0);
    }
}

/// During a fork, nobody changes it.
pub(crate) fn lock_for_fork() {
    ASKING.hold(|_| {});
}

/// And after it, in the child of a thread.
pub(crate) fn unlock_after_fork(parents_thread: Option<u64>) {
    ASKING.let_go(parents_thread);
}

fn ask(
    config: &Config,
    question: &Message,
    descriptors: &[BorrowedFd<'_>],
) -> Result<(Message, Vec<OwnedFd>), Reason> {
    let mut asking = ASKING.lock().map_err(|_| Reason::NoAgent)?;
    let socket = asking.reach(config)?;
    let answer = send(socket, question, descriptors).and_then(|()| hear_answer(socket));
    match answer {
        Ok(answer) => {
            asking.failures = 0;
            Ok(answer)
        }
        Err(_) => {
            asking.forget();
            Err(asking.rest())
        }
    }
}

impl Asking {
    /// The way to the agent, which is looked for if there is none and it is time to.
    fn reach(&mut self, config: &Config) -> Result<&OwnedFd, Reason> {
        if self.socket.is_none() {
            if sys::now() < self.rests_until {
                return Err(Reason::NoAgent);
            }
            match greet(config) {
                Ok(socket) => {
                    IS_THERE.store(true, Relaxed);
                    self.socket = Some(socket);
                }
                // The time after it was waited for.
                Err(_) => return Err(self.rest()),
            }
        }
        self.socket.as_ref().ok_or(Reason::NoAgent)
    }

    fn rest(&mut self) -> Reason {
        self.rests_until = sys::now() + (REST_NS << self.failures);
        self.failures = DOUBLINGS_MAX.min(self.failures + 1);
        Reason::NoAgent
    }

    fn forget(&mut self) {
        IS_THERE.store(false, Relaxed);
        if let Some(socket) = self.socket.take() {
            slot::unset_own(socket.as_raw_fd());
        }
    }
}

/// Connects to the agent, and says which group this is.
pub(crate) fn greet(config: &Config) -> Result<OwnedFd, ShmError> {
    let refused = |errno| ShmError::System { what: "reach the agent", errno };
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None);
    let socket = descriptors::lift(socket.map_err(refused)?).ok_or(refused(Errno::MFILE))?;
    for timeout in [Timeout::Recv, Timeout::Send] {
        set_socket_timeout(&socket, timeout, Some(PATIENCE)).map_err(refused)?;
    }
    let address = SocketAddrUnix::new(&config.agent).map_err(refused)?;
    connect(&socket, &address).map_err(refused)?;
    send(&socket, &Message::Hello { group: config.group.clone() }, &[])?;
    match hear(&socket)?.0 {
        Message::Welcome => {
            slot::set_own(socket.as_raw_fd());
            Ok(socket)
        }
        _ => Err(ShmError::Message),
    }
}

pub(crate) fn send(
    socket: &OwnedFd,
    message: &Message,
    descriptors: &[BorrowedFd<'_>],
) -> Result<(), ShmError> {
    loop {
        match passing::send(socket.as_fd(), &message.encode(), descriptors) {
            Err(ShmError::System { errno: Errno::INTR, .. }) => {}
            sent => return sent,
        }
    }
}

fn hear_answer(socket: &OwnedFd) -> Result<(Message, Vec<OwnedFd>), ShmError> {
    loop {
        match hear(socket)? {
            // The rings say so too.
            (Message::Claimed { .. }, _) => {}
            answer => return Ok(answer),
        }
    }
}

pub(crate) fn hear(socket: &OwnedFd) -> Result<(Message, Vec<OwnedFd>), ShmError> {
    loop {
        let mut bytes = [0; MESSAGE_BYTES_MAX];
        match passing::receive(socket, &mut bytes) {
            Err(ShmError::System { errno: Errno::INTR, .. }) => {}
            Err(error) => return Err(error),
            Ok((length, descriptors)) => {
                let message = Message::decode(&bytes[..length], descriptors.len());
                return message.map(|m| (m, descriptors)).map_err(|_| ShmError::Message);
            }
        }
    }
}
