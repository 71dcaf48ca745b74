//! What others ask the agent.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use afterbay_net_proto::{GroupName, MESSAGE_BYTES_MAX, Message, Reason, Record};
use afterbay_net_shm::passing;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::agent::Rings;
use crate::error::{AgentError, Result};

/// A connection to the agent. One thread at a time: each question waits for its answer.
#[derive(Debug)]
pub struct AgentClient {
    socket: OwnedFd,
    claimed: Vec<u64>,
}

/// The connections of a user's programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Each with the process that has it.
    pub connections: Vec<(u32, Record)>,
    /// Programs that were asked.
    pub programs: u32,
    /// Programs that did not answer in time: stopped, or too busy.
    pub silent: u32,
}

impl AgentClient {
    /// Connects, and enters a trust group.
    pub fn connect(path: &Path, group: &GroupName) -> Result<Self> {
        let failed = |what| move |errno| AgentError::Socket { path: path.to_owned(), what, errno };
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map_err(failed("make a socket"))?;
        let address = SocketAddrUnix::new(path).map_err(failed("name a socket"))?;
        connect(&socket, &address).map_err(failed("connect"))?;
        let mut client = AgentClient { socket, claimed: Vec::new() };
        match client.ask(&Message::Hello { group: group.clone() }, &[])?.0 {
            Message::Welcome => Ok(client),
            _ => Err(AgentError::Answer),
        }
    }

    /// Offers rings for a socket that is bound and will connect. Whether the agent keeps them.
    pub fn offer(
        &mut self,
        reference: u64,
        tcp: BorrowedFd<'_>,
        rings: [BorrowedFd<'_>; 6],
    ) -> Result<std::result::Result<(), Reason>> {
        let [segment, a, b, c, d, call] = rings;
        match self.ask(&Message::Offer { reference }, &[tcp, segment, a, b, c, d, call])?.0 {
            Message::Offered { reference: of } if of == reference => Ok(Ok(())),
            Message::Refused { reference: of, reason } if of == reference => Ok(Err(reason)),
            _ => Err(AgentError::Answer),
        }
    }

    /// Takes an offer back: before the socket is closed, since the agent holds it open.
    pub fn withdraw(&mut self, reference: u64) -> Result<()> {
        Ok(passing::send(&self.socket, &Message::Withdraw { reference }.encode(), &[])?)
    }

    /// The rings of a socket that was accepted, if its other end offered some.
    pub fn claim(
        &mut self,
        reference: u64,
        tcp: BorrowedFd<'_>,
    ) -> Result<std::result::Result<Rings, Reason>> {
        match self.ask(&Message::Claim { reference }, &[tcp])? {
            (Message::Paired { reference: of }, descriptors) if of == reference => {
                descriptors.try_into().map(Ok).map_err(|_| AgentError::Answer)
            }
            (Message::Refused { reference: of, reason }, _) if of == reference => Ok(Err(reason)),
            _ => Err(AgentError::Answer),
        }
    }

    /// Offers that were claimed since the last call, as far as the agent's answers came with them.
    pub fn claimed(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.claimed)
    }

    /// Which connections there are, of all programs of this user. Programs that say nothing for so long are left out.
    pub fn status(&mut self, patience: Duration) -> Result<Status> {
        let question = Message::Status { reference: 1 };
        let (Message::Asked { programs, .. }, _) = self.ask(&question, &[])? else {
            return Err(AgentError::Answer);
        };
        let mut status = Status { connections: Vec::new(), programs, silent: programs };
        while status.silent > 0 && self.hears_within(patience)? {
            match self.hear()?.0 {
                Message::Listed { pid, record, .. } => status.connections.push((pid, record)),
                Message::Done { .. } => status.silent -= 1,
                _ => return Err(AgentError::Answer),
            }
        }
        status.connections.sort_by_key(|(pid, record)| (*pid, record.connection));
        Ok(status)
    }

    /// Tells a program, or all for 0, that a connection, or all for 0, shall go back to TCP. How many programs were told. It is
    /// so when [`AgentClient::status`] says so.
    pub fn demote(&mut self, pid: u32, connection: u64) -> Result<u32> {
        match self.ask(&Message::Demote { connection, pid }, &[])?.0 {
            Message::Told { programs, .. } => Ok(programs),
            _ => Err(AgentError::Answer),
        }
    }

    fn hears_within(&self, patience: Duration) -> Result<bool> {
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).map_err(|_| AgentError::Answer)?;
            let mut waited = [PollFd::new(&self.socket, PollFlags::IN)];
            match poll(&mut waited, Some(&left)) {
                Ok(heard) => return Ok(heard > 0),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(AgentError::System { what: "wait", errno }),
            }
        }
    }

    fn ask(
        &mut self,
        question: &Message,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(Message, Vec<OwnedFd>)> {
        passing::send(&self.socket, &question.encode(), descriptors)?;
        loop {
            match self.hear()? {
                (Message::Claimed { reference }, _) => self.claimed.push(reference),
                answer => return Ok(answer),
            }
        }
    }

    fn hear(&self) -> Result<(Message, Vec<OwnedFd>)> {
        let mut bytes = [0; MESSAGE_BYTES_MAX];
        let (length, descriptors) = passing::receive(&self.socket, &mut bytes)?;
        if length == 0 {
            return Err(AgentError::Gone);
        }
        Ok((Message::decode(&bytes[..length], descriptors.len())?, descriptors))
    }
}

impl AsFd for AgentClient {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
