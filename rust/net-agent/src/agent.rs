//! The agent's process: one thread, which waits for nobody.
//!
//! A client that sends what is no message, or does not take its answers, is let go: its sockets stay as they are, and those to
//! come use TCP.

use std::collections::{HashMap, VecDeque};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use afterbay_net_proto::{MESSAGE_BYTES_MAX, Message, Reason};
use afterbay_net_shm::{ShmError, passing};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, chmod, unlink};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    socket_with,
};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

use crate::counters::Counters;
use crate::ends::TcpSocket;
use crate::error::{AgentError, Result};
use crate::matcher::{ClientId, Destinations, GroupKey, Matcher};
use crate::questions::{Asked, Questions};

/// What an offer brings: the segment, the bells of reader and writer of both rings, first those of the ring to the acceptor, and
/// the call.
pub type Rings = [OwnedFd; 6];

/// Descriptors of an offer: its rings and its TCP socket.
const DESCRIPTORS_OF_OFFER: usize = 7;
/// Clients, as far as there are descriptors: two for each program. What is more is let go.
const CLIENTS_MAX: usize = 2048;
/// Messages that wait for a client which asked for them. One that lets more wait is let go.
const OUTBOX_MAX: usize = 1 << 16;
/// How long nobody is accepted after there was no descriptor for it.
const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// Connections that wait to be accepted.
const BACKLOG: i32 = 64;

/// The agent of a host, or of one user of it.
#[derive(Debug)]
pub struct Agent {
    path: PathBuf,
    listener: OwnedFd,
    matcher: Matcher<TcpSocket, Rings>,
    clients: HashMap<ClientId, Client>,
    questions: Questions,
    counters: Arc<Counters>,
    next: u64,
    limits: Limits,
    /// There was no descriptor for a new client.
    rests: bool,
}

#[derive(Debug)]
struct Client {
    socket: OwnedFd,
    user: u32,
    pid: u32,
    group: Option<GroupKey>,
    /// It answers for its process.
    serves: bool,
    outbox: VecDeque<Message>,
}

/// What there are descriptors for.
#[derive(Debug)]
struct Limits {
    clients: usize,
    offers: usize,
}

/// Why a client is let go.
struct LetGo;

impl Agent {
    /// Listens at a path, which only its user can open, and which is removed in the end. A socket there at which nobody listens
    /// any more is replaced. Raises the process's limit of descriptors as far as it may.
    pub fn listen(path: &Path, destinations: Destinations) -> Result<Self> {
        let failed = |what| move |errno| AgentError::Socket { path: path.to_owned(), what, errno };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map_err(failed("make a socket"))?;
        let address = SocketAddrUnix::new(path).map_err(failed("name a socket"))?;
        let bound = match bind(&listener, &address) {
            Err(Errno::ADDRINUSE) if is_stale(&address) => {
                unlink(path).map_err(failed("remove the socket of an agent that has ended"))?;
                bind(&listener, &address)
            }
            bound => bound,
        };
        bound.map_err(failed("bind"))?;
        chmod(path, Mode::RUSR | Mode::WUSR).map_err(failed("set permissions"))?;
        listen(&listener, BACKLOG).map_err(failed("listen"))?;
        Ok(Agent {
            path: path.to_owned(),
            listener,
            matcher: Matcher::new(destinations),
            clients: HashMap::new(),
            questions: Questions::default(),
            counters: Arc::default(),
            next: 0,
            limits: limits(),
            rests: false,
        })
    }

    /// What it does, to be looked at while it serves.
    pub fn counters(&self) -> Arc<Counters> {
        self.counters.clone()
    }

    /// Serves until `stop` can be read, or its other side is closed.
    pub fn serve(&mut self, stop: impl AsFd) -> Result<()> {
        loop {
            let (clients, is_stopped, is_called) = self.wait(stop.as_fd())?;
            if is_stopped {
                return Ok(());
            }
            for client in clients {
                if self.empty_outbox(client).and_then(|()| self.hear(client)).is_err() {
                    self.let_go(client);
                }
            }
            if is_called {
                self.accept();
            }
        }
    }

    /// Which clients say something, whether to stop, and whether there is a new client.
    fn wait(&mut self, stop: BorrowedFd<'_>) -> Result<(Vec<ClientId>, bool, bool)> {
        let clients: Vec<_> = self.clients.iter().collect();
        let calls = if self.rests { PollFlags::empty() } else { PollFlags::IN };
        let mut waited = vec![
            PollFd::from_borrowed_fd(stop, PollFlags::IN),
            PollFd::from_borrowed_fd(self.listener.as_fd(), calls),
        ];
        waited.extend(clients.iter().map(|(_, client)| client.poll()));
        let rest = std::mem::take(&mut self.rests).then_some(&REST);
        match poll(&mut waited, rest) {
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
        let socket = match accept_with(&self.listener, flags) {
            Ok(socket) => socket,
            Err(errno) => {
                self.rests = !matches!(errno, Errno::AGAIN | Errno::INTR | Errno::CONNABORTED);
                return;
            }
        };
        // One that is too many is told at once: it goes on by TCP, and does not wait.
        if self.clients.len() >= self.limits.clients {
            return;
        }
        let Ok(peer) = socket_peercred(&socket) else { return };
        self.next += 1;
        let client = Client {
            socket,
            user: peer.uid.as_raw(),
            // 0, if it is in a process namespace that this process does not see.
            pid: Pid::as_raw(Some(peer.pid)).unsigned_abs(),
            group: None,
            serves: false,
            outbox: VecDeque::new(),
        };
        self.clients.insert(ClientId(self.next), client);
    }

    fn let_go(&mut self, client: ClientId) {
        let Some(gone) = self.clients.remove(&client) else { return };
        self.matcher.leave(client);
        for asked in self.questions.leave(client) {
            self.pass_on(asked, Message::Done { reference: asked.reference, pid: gone.pid });
        }
    }

    /// One message of a client.
    fn hear(&mut self, client: ClientId) -> std::result::Result<(), LetGo> {
        let from = self.clients.get(&client).ok_or(LetGo)?;
        let mut bytes = [0; MESSAGE_BYTES_MAX];
        let received = passing::receive(&from.socket, &mut bytes);
        if let Err(ShmError::System { errno: Errno::AGAIN, .. }) = received {
            return Ok(());
        }
        let (length, descriptors) = received.map_err(|_| LetGo)?;
        let message = Message::decode(&bytes[..length], descriptors.len()).map_err(|_| LetGo)?;
        match (message, &from.group) {
            (Message::Hello { group: name }, None) => {
                let group = GroupKey { user: from.user, name };
                self.clients.entry(client).and_modify(|client| client.group = Some(group));
                self.tell(client, &Message::Welcome, &[])
            }
            (Message::Offer { reference }, Some(group)) => {
                let group = group.clone();
                let offered = self.offer(&group, client, reference, descriptors)?;
                self.counters.count_offer(offered);
                let answer = match offered {
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
            (Message::Serve, Some(_)) => {
                self.clients.entry(client).and_modify(|client| client.serves = true);
                Ok(())
            }
            (message, Some(_)) => self.look(client, message),
            _ => Err(LetGo),
        }
    }

    /// What is not about sockets: who looks at connections, and what libraries say of them.
    fn look(&mut self, client: ClientId, message: Message) -> std::result::Result<(), LetGo> {
        let from = self.clients.get(&client).ok_or(LetGo)?;
        let (user, pid) = (from.user, from.pid);
        match message {
            Message::Status { reference } => {
                let libraries = self.libraries(user, 0);
                let asked = Asked { asker: client, reference };
                let question = self.questions.ask(asked, &libraries).ok_or(LetGo)?;
                let programs = libraries.len() as u32;
                self.tell(client, &Message::Asked { reference, programs }, &[])?;
                self.tell_all(&libraries, &Message::Report { reference: question });
                Ok(())
            }
            Message::Demote { connection, pid } => {
                let libraries = self.libraries(user, pid);
                self.tell_all(&libraries, &Message::GoBack { connection });
                let programs = libraries.len() as u32;
                self.tell(client, &Message::Told { connection, programs }, &[])
            }
            Message::Record { reference, record } => {
                if let Some(asked) = self.questions.answered(reference, client) {
                    let reference = asked.reference;
                    self.pass_on(asked, Message::Listed { reference, pid, record });
                }
                Ok(())
            }
            Message::Reported { reference } => {
                if let Some(asked) = self.questions.done(reference, client) {
                    self.pass_on(asked, Message::Done { reference: asked.reference, pid });
                }
                Ok(())
            }
            _ => Err(LetGo),
        }
    }

    /// Those who answer for a user's programs, or for one of them.
    fn libraries(&self, user: u32, pid: u32) -> Vec<ClientId> {
        let is_meant = |client: &Client| {
            client.serves && client.user == user && (pid == 0 || client.pid == pid)
        };
        let meant = self.clients.iter().filter(|(_, client)| is_meant(client));
        meant.map(|(&id, _)| id).collect()
    }

    fn tell_all(&mut self, clients: &[ClientId], message: &Message) {
        for &client in clients {
            if self.tell(client, message, &[]).is_err() {
                self.let_go(client);
            }
        }
    }

    /// To who asked, when there is room for it.
    fn pass_on(&mut self, asked: Asked, message: Message) {
        let Some(asker) = self.clients.get_mut(&asked.asker) else { return };
        asker.outbox.push_back(message);
        let is_slow = asker.outbox.len() > OUTBOX_MAX;
        if is_slow || self.empty_outbox(asked.asker).is_err() {
            self.let_go(asked.asker);
        }
    }

    /// As far as the client takes it.
    fn empty_outbox(&mut self, client: ClientId) -> std::result::Result<(), LetGo> {
        let Some(client) = self.clients.get_mut(&client) else { return Ok(()) };
        while let Some(message) = client.outbox.front() {
            match passing::send(&client.socket, &message.encode(), &[]) {
                Ok(()) => drop(client.outbox.pop_front()),
                Err(ShmError::System { errno: Errno::AGAIN, .. }) => return Ok(()),
                Err(_) => return Err(LetGo),
            }
        }
        Ok(())
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
        if self.matcher.waiting() >= self.limits.offers {
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
            Err(reason) => {
                self.counters.count_refusal(reason);
                self.tell(client, &Message::Refused { reference, reason }, &[])
            }
            Ok((connector, offered, rings)) => {
                self.counters.count_pair();
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

impl Client {
    fn poll(&self) -> PollFd<'_> {
        let out = if self.outbox.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN | out)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Who comes later finds that nobody is there.
        let _ = unlink(&self.path);
    }
}

/// Whether nobody listens at a socket that is there.
fn is_stale(address: &SocketAddrUnix) -> bool {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None);
    socket.is_ok_and(|socket| connect(&socket, address) == Err(Errno::CONNREFUSED))
}

/// What there are descriptors for: a quarter of them for clients, the others for offers.
fn limits() -> Limits {
    let limits = getrlimit(Resource::Nofile);
    // If it may not be raised, it stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, ..limits });
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20);
    let descriptors = usize::try_from(descriptors).unwrap_or(usize::MAX);
    let clients = (descriptors / 4).min(CLIENTS_MAX);
    Limits { clients, offers: (descriptors - clients) / 2 / DESCRIPTORS_OF_OFFER }
}
