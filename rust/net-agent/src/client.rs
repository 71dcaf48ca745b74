//! What the library asks the agent.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use afterbay_net_proto::{GroupName, MESSAGE_BYTES_MAX, Message, Reason};
use afterbay_net_shm::passing;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::agent::Rings;
use crate::error::{AgentError, Result};

/// A connection to the agent. One thread at a time: each question waits for its answer.
#[derive(Debug)]
pub struct AgentClient {
    socket: OwnedFd,
    claimed: Vec<u64>,
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
        rings: [BorrowedFd<'_>; 5],
    ) -> Result<std::result::Result<(), Reason>> {
        let [segment, a, b, c, d] = rings;
        match self.ask(&Message::Offer { reference }, &[tcp, segment, a, b, c, d])?.0 {
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

    fn ask(
        &mut self,
        question: &Message,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(Message, Vec<OwnedFd>)> {
        passing::send(&self.socket, &question.encode(), descriptors)?;
        loop {
            let mut bytes = [0; MESSAGE_BYTES_MAX];
            let (length, descriptors) = passing::receive(&self.socket, &mut bytes)?;
            if length == 0 {
                return Err(AgentError::Gone);
            }
            match Message::decode(&bytes[..length], descriptors.len())? {
                Message::Claimed { reference } => self.claimed.push(reference),
                message => return Ok((message, descriptors)),
            }
        }
    }
}

impl AsFd for AgentClient {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
