//! The agent's process: one thread, which waits for nobody.
//!
//! A client that sends what is no message, or does not take its answers, is let go: its sockets stay as they are, and those to
//! come use TCP.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use afterbay_net_proto::{MESSAGE_BYTES_MAX, Message, Reason};
use afterbay_net_shm::passing;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, chmod};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, listen, socket_with,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::ends::TcpSocket;
use crate::error::{AgentError, Result};
use crate::matcher::{ClientId, Destinations, GroupKey, Matcher};

/// What an offer brings: the segment, and the bells of reader and writer of both rings, first those of the ring to the acceptor.
pub type Rings = [OwnedFd; 5];

/// Descriptors of an offer: its rings and its TCP socket.
const DESCRIPTORS_OF_OFFER: u64 = 6;
/// Descriptors that are not those of offers: clients, and what is received and not kept.
const DESCRIPTORS_RESERVED: u64 = 512;
const CLIENTS_MAX: usize = 256;
/// Connections that wait to be accepted.
const BACKLOG: i32 = 64;

/// The agent of a host, or of one user of it.
#[derive(Debug)]
pub struct Agent {
    listener: OwnedFd,
    matcher: Matcher<TcpSocket, Rings>,
    clients: HashMap<ClientId, Client>,
    next: u64,
    offers_max: usize,
}

#[derive(Debug)]
struct Client {
    socket: OwnedFd,
    user: u32,
    group: Option<GroupKey>,
}

/// Why a client is let go.
struct LetGo;

impl Agent {
    /// Listens at a path, which only its user can open. Raises the process's limit of descriptors as far as it may.
    pub fn listen(path: &Path, destinations: Destinations) -> Result<Self> {
        let failed = |what| move |errno| AgentError::Socket { path: path.to_owned(), what, errno };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map_err(failed("make a socket"))?;
        let address = SocketAddrUnix::new(path).map_err(failed("name a socket"))?;
        bind(&listener, &address).map_err(failed("bind"))?;
        chmod(path, Mode::RUSR | Mode::WUSR).map_err(failed("set permissions"))?;
        listen(&listener, BACKLOG).map_err(failed("listen"))?;
        Ok(Agent {
            listener,
            matcher: Matcher::new(destinations),
            clients: HashMap::new(),
            next: 0,
            offers_max: offers_max(),
        })
    }

    /// Serves until `stop` can be read, or its other side is closed.
    pub fn serve(&mut self, stop: impl AsFd) -> Result<()> {
        loop {
            let (clients, is_stopped, is_called) = self.wait(stop.as_fd())?;
            if is_stopped {
                return Ok(());
            }
            for client in clients {
                if self.hear(client).is_err() {
                    self.let_go(client);
                }
            }
            if is_called {
                self.accept();
            }
        }
    }

    /// Which clients say something, whether to stop, and whether there is a new client.
    fn wait(&self, stop: BorrowedFd<'_>) -> Result<(Vec<ClientId>, bool, bool)> {
        let clients: Vec<_> = self.clients.iter().collect();
        // Those that are too many wait.
        let calls = if clients.len() < CLIENTS_MAX { PollFlags::IN } else { PollFlags::empty() };
        let mut waited = vec![
            PollFd::from_borrowed_fd(stop, PollFlags::IN),
            PollFd::from_borrowed_fd(self.listener.as_fd(), calls),
        ];
        let sockets = clients.iter().map(|(_, client)| client.socket.as_fd());
        waited.extend(sockets.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)));
        match poll(&mut waited, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(AgentError::System { what: "wait", errno }),
        }
        let mut happened = waited.iter().map(|fd| !fd.revents().is_empty());
        let (is_stopped, is_called) =
            (happened.next() == Some(true), happened.next() == Some(true));
        let heard = clients.iter().zip(happened).filter(|(_, happened)| *happened);
        Ok((heard.map(|((id, _), _)| **id).collect(), is_stopped, is_called))
    }

    /// One client, if one is there. What it does not come to, it finds out by itself.
    fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let Ok(socket) = accept_with(&self.listener, flags) else { return };
        let Ok(peer) = socket_peercred(&socket) else { return };
        self.next += 1;
        let client = Client { socket, user: peer.uid.as_raw(), group: None };
        self.clients.insert(ClientId(self.next), client);
    }

    fn let_go(&mut self, client: ClientId) {
        self.clients.remove(&client);
        self.matcher.leave(client);
    }

    /// One message of a client.
    fn hear(&mut self, client: ClientId) -> std::result::Result<(), LetGo> {
        let from = self.clients.get(&client).ok_or(LetGo)?;
        let mut bytes = [0; MESSAGE_BYTES_MAX];
        let (length, descriptors) =
            passing::receive(&from.socket, &mut bytes).map_err(|_| LetGo)?;
        let message = Message::decode(&bytes[..length], descriptors.len()).map_err(|_| LetGo)?;
        match (message, &from.group) {
            (Message::Hello { group: name }, None) => {
                let group = GroupKey { user: from.user, name };
                self.clients.entry(client).and_modify(|client| client.group = Some(group));
                self.tell(client, &Message::Welcome, &[])
            }
            (Message::Offer { reference }, Some(group)) => {
                let group = group.clone();
                let answer = match self.offer(&group, client, reference, descriptors)? {
                    Ok(()) => Message::Offered { reference },
                    Err(reason) => Message::Refused { reference, reason },
                };
                self.tell(client, &answer, &[])
            }
            (Message::Claim { reference }, Some(group)) => {
                let group = group.clone();
                self.claim(&group, client, reference, descriptors)
            }
            (Message::Withdraw { reference }, Some(_)) => {
                self.matcher.withdraw(client, reference);
                Ok(())
            }
            _ => Err(LetGo),
        }
    }

    fn offer(
        &mut self,
        group: &GroupKey,
        client: ClientId,
        reference: u64,
        descriptors: Vec<OwnedFd>,
    ) -> std::result::Result<std::result::Result<(), Reason>, LetGo> {
        let mut descriptors = descriptors.into_iter();
        let socket = TcpSocket(descriptors.next().ok_or(LetGo)?);
        let rings: Rings = descriptors.collect::<Vec<_>>().try_into().map_err(|_| LetGo)?;
        if self.matcher.waiting() >= self.offers_max {
            return Ok(Err(Reason::TooMany));
        }
        Ok(self.matcher.offer(group, client, reference, socket, rings))
    }

    fn claim(
        &mut self,
        group: &GroupKey,
        client: ClientId,
        reference: u64,
        descriptors: Vec<OwnedFd>,
    ) -> std::result::Result<(), LetGo> {
        let socket = TcpSocket(descriptors.into_iter().next().ok_or(LetGo)?);
        match self.matcher.claim(group, client, &socket) {
            Err(reason) => self.tell(client, &Message::Refused { reference, reason }, &[]),
            Ok((connector, offered, rings)) => {
                let rings: Vec<_> = rings.iter().map(AsFd::as_fd).collect();
                self.tell(client, &Message::Paired { reference }, &rings)?;
                // The connector finds out by its rings as well.
                if self.tell(connector, &Message::Claimed { reference: offered }, &[]).is_err() {
                    self.let_go(connector);
                }
                Ok(())
            }
        }
    }

    fn tell(
        &self,
        client: ClientId,
        message: &Message,
        descriptors: &[BorrowedFd<'_>],
    ) -> std::result::Result<(), LetGo> {
        let to = self.clients.get(&client).ok_or(LetGo)?;
        passing::send(&to.socket, &message.encode(), descriptors).map_err(|_| LetGo)
    }
}

/// How many offers there are descriptors for.
fn offers_max() -> usize {
    let limits = getrlimit(Resource::Nofile);
    // If it may not be raised, it stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, ..limits });
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20);
    let offers = descriptors.saturating_sub(DESCRIPTORS_RESERVED) / DESCRIPTORS_OF_OFFER;
    usize::try_from(offers).unwrap_or(usize::MAX)
}
