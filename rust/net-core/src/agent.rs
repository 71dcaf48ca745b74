//! What the library asks the host's agent. It never waits long: without an answer, all that is new is plain TCP.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use afterbay_net_proto::{MESSAGE_BYTES_MAX, Message, Reason};
use afterbay_net_shm::{ShmError, passing};
use libc::{POLLIN, pollfd};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::config::Config;
use crate::lock::Lock;
use crate::{descriptors, slot, sys};

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
    asking.reach(config, deadline()).map(|_| ())
}

/// Until when an agent may answer that is asked now, all in all.
fn deadline() -> u64 {
    sys::now() + crate::patience().as_nanos() as u64
}

/// Takes an offer back. Only of this process: a child is another client.
pub(crate) fn withdraw(reference: u64) {
    let Ok(mut asking) = ASKING.lock() else { return };
    let Some(socket) = &asking.socket else { return };
    if send(socket, &Message::Withdraw { reference }, &[]).is_err() {
        // Each close would wait for an agent that takes nothing. It hears of the end, and forgets all that was offered here.
        asking.forget();
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
    let end = deadline();
    let socket = asking.reach(config, end)?;
    let answer = send(socket, question, descriptors).and_then(|()| hear_answer(socket, end));
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
    fn reach(&mut self, config: &Config, end: u64) -> Result<&OwnedFd, Reason> {
        if self.socket.is_none() {
            if sys::now() < self.rests_until {
                return Err(Reason::NoAgent);
            }
            match greet(config, end) {
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

/// Connects to the agent, and hears that it knows this process.
fn greet(config: &Config, end: u64) -> Result<OwnedFd, ShmError> {
    let socket = call(config)?;
    match hear_until(&socket, end)?.0 {
        Message::Welcome => {
            slot::set_own(socket.as_raw_fd());
            Ok(socket)
        }
        _ => Err(ShmError::Message),
    }
}

/// Connects to the agent, and says which group this is. It is not waited for.
pub(crate) fn call(config: &Config) -> Result<OwnedFd, ShmError> {
    let refused = |errno| ShmError::System { what: "reach the agent", errno };
    let flags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None);
    let socket = descriptors::lift(socket.map_err(refused)?).ok_or(refused(Errno::MFILE))?;
    let address = SocketAddrUnix::new(&config.agent).map_err(refused)?;
    connect(&socket, &address).map_err(refused)?;
    ioctl_fionbio(&socket, false).map_err(refused)?;
    set_socket_timeout(&socket, Timeout::Send, Some(crate::patience())).map_err(refused)?;
    send(&socket, &Message::Hello { group: config.group.clone() }, &[])?;
    Ok(socket)
}

pub(crate) fn send(
    socket: &OwnedFd,
    message: &Message,
    descriptors: &[BorrowedFd<'_>],
) -> Result<(), ShmError> {
    let end = deadline();
    loop {
        match passing::send(socket.as_fd(), &message.encode(), descriptors) {
            Err(ShmError::System { errno: Errno::INTR, .. }) if sys::now() < end => {}
            sent => return sent,
        }
    }
}

fn hear_answer(socket: &OwnedFd, end: u64) -> Result<(Message, Vec<OwnedFd>), ShmError> {
    loop {
        match hear_until(socket, end)? {
            // The rings say so too.
            (Message::Claimed { .. }, _) => {}
            answer => return Ok(answer),
        }
    }
}

pub(crate) fn hear(socket: &OwnedFd) -> Result<(Message, Vec<OwnedFd>), ShmError> {
    hear_until(socket, deadline())
}

/// Signals do not make it longer, however many there are.
fn hear_until(socket: &OwnedFd, end: u64) -> Result<(Message, Vec<OwnedFd>), ShmError> {
    let failed = |errno| ShmError::System { what: "hear the agent", errno };
    loop {
        let mut comes = [pollfd { fd: socket.as_raw_fd(), events: POLLIN, revents: 0 }];
        match sys::poll(&mut comes, Some(end.saturating_sub(sys::now())), None) {
            Ok(0) => return Err(failed(Errno::TIMEDOUT)),
            Err(Errno::INTR) => continue,
            comes => drop(comes.map_err(failed)?),
        }
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::Duration;

    use rustix::net::socketpair;

    use super::*;

    /// Each close of a connection whose offer nobody has claimed would wait for it.
    #[test]
    fn an_agent_that_takes_nothing_is_left() {
        let flags = SocketFlags::CLOEXEC;
        let (near, _far) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        set_socket_timeout(&near, Timeout::Send, Some(Duration::from_millis(1))).unwrap();
        while passing::send(&near, &[0], &[]).is_ok() {}
        ASKING.lock().unwrap().socket = Some(near);
        withdraw(1);
        assert!(ASKING.lock().unwrap().socket.is_none());
    }
}
