//! A real agent, real sockets, real rings: connections that move to memory and back, and what an agent does with clients that
//! misbehave.

use std::io::{ErrorKind, PipeWriter, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use afterbay_net_agent::{Agent, AgentClient, AgentError, Destinations, Rings};
use afterbay_net_proto::{GroupName, Message, Reason};
use afterbay_net_ring::{
    Capacity, Consumer, Direction, Geometry, Incoming, Outgoing, Producer, Route, Source,
};
use afterbay_net_shm::{EventBell, MappedRing, Segment, passing};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketAddrV4, SocketFlags, SocketType, bind, connect, socket,
    socket_with,
};
use tempfile::TempDir;

pub(crate) struct Running {
    folder: TempDir,
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent");
        let mut agent = Agent::listen(&path, Destinations::Exact).unwrap();
        let (stopped, stop) = std::io::pipe().unwrap();
        let thread = thread::spawn(move || agent.serve(stopped).unwrap());
        Running { folder, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    pub(crate) fn client(&self) -> AgentClient {
        AgentClient::connect(&self.path(), &name()).unwrap()
    }

    fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn name() -> GroupName {
    "shop".parse().unwrap()
}

/// Both rings of a connection, as who connects makes them.
fn rings() -> Rings {
    let capacity = Capacity::new(1 << 16).unwrap();
    let segment = Segment::create(Geometry::new(capacity, capacity).unwrap()).unwrap();
    // There is nothing to read, and room to write.
    let bells = [false, true, false, true, false].map(|rings| EventBell::create(rings).unwrap());
    let [a, b, c, d, call] = bells.each_ref().map(AsFd::as_fd);
    [segment.as_fd(), a, b, c, d, call].map(|fd| fd.try_clone_to_owned().unwrap())
}

fn bound() -> OwnedFd {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddrV4::new([127, 0, 0, 1].into(), 0)).unwrap();
    socket
}

fn connect_to(listener: &TcpListener, socket: OwnedFd) -> TcpStream {
    let SocketAddr::V4(to) = listener.local_addr().unwrap() else { panic!("IPv4") };
    connect(&socket, &to).unwrap();
    socket.into()
}

fn offer(agent: &mut AgentClient, reference: u64, socket: &OwnedFd, rings: &Rings) {
    let descriptors = std::array::from_fn(|at| rings[at].as_fd());
    agent.offer(reference, socket.as_fd(), descriptors).unwrap().unwrap();
}

fn wait(descriptors: &[(BorrowedFd<'_>, PollFlags)]) {
    let waited = descriptors.iter().map(|&(fd, flags)| PollFd::from_borrowed_fd(fd, flags));
    poll(&mut waited.collect::<Vec<_>>(), None).unwrap();
}

/// One end of a connection, as the library will have it.
struct End {
    tcp: TcpStream,
    out: Outgoing<MappedRing, EventBell>,
    input: Incoming<MappedRing, EventBell>,
    sent_on_tcp: u64,
}

impl End {
    fn new(tcp: TcpStream, rings: Rings, is_connector: bool) -> Self {
        let [segment, bells @ ..] = rings;
        let segment = Segment::open(segment).unwrap();
        let [a, b, c, d, _call] = bells.map(|bell| EventBell::open(bell).unwrap());
        let (forth, back) = ((Direction::ToAcceptor, a, b), (Direction::ToConnector, c, d));
        let (out, input) = if is_connector { (forth, back) } else { (back, forth) };
        tcp.set_nonblocking(true).unwrap();
        End {
            tcp,
            out: Outgoing::new(Producer::new(segment.ring(out.0), out.2, out.1)),
            input: Incoming::new(Consumer::new(segment.ring(input.0), input.1, input.2)),
            sent_on_tcp: 0,
        }
    }

    fn write_all(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() || matches!(self.out.route().unwrap(), Route::Backlog(_)) {
            match self.out.route().unwrap() {
                Route::Tcp => bytes = &bytes[self.send(bytes)..],
                Route::Backlog(_) => {
                    let mut back = [0; 4096];
                    let length = self.out.backlog(&mut back);
                    self.send(&back[..length]);
                }
                Route::Ring => {
                    let written = self.out.write(bytes).unwrap();
                    bytes = &bytes[written..];
                    if written == 0 && !self.out.settle().unwrap() {
                        wait(&[(self.out.ring().bell().as_fd(), PollFlags::IN)]);
                    }
                }
            }
        }
    }

    /// By TCP, as much as it takes.
    fn send(&mut self, bytes: &[u8]) -> usize {
        match self.tcp.write(bytes) {
            Ok(sent) => {
                self.out.sent(sent);
                self.sent_on_tcp += sent as u64;
                sent
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                wait(&[(self.tcp.as_fd(), PollFlags::OUT)]);
                0
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// At least one byte, or the end.
    fn read(&mut self, out: &mut [u8]) -> usize {
        loop {
            let (length, is_ended) = match self.input.source().unwrap() {
                Source::Ring => (self.input.read(out).unwrap(), self.is_tcp_ended()),
                Source::Tcp { limit } => {
                    let limit = limit.map_or(usize::MAX, |limit| limit as usize);
                    let length = out.len().min(limit);
                    match self.tcp.read(&mut out[..length]) {
                        Ok(length) => {
                            self.input.received(length);
                            (length, length == 0)
                        }
                        Err(error) if error.kind() == ErrorKind::WouldBlock => (0, false),
                        Err(error) => panic!("{error}"),
                    }
                }
            };
            if length > 0 {
                return length;
            }
            // After the end of TCP nothing comes into the ring.
            if is_ended {
                return self.input.read(out).unwrap();
            }
            if !self.input.settle().unwrap() {
                let bell = self.input.ring().bell().as_fd();
                wait(&[(self.tcp.as_fd(), PollFlags::IN), (bell, PollFlags::IN)]);
            }
        }
    }

    fn is_tcp_ended(&self) -> bool {
        self.tcp.peek(&mut [0]).is_ok_and(|length| length == 0)
    }

    fn read_exactly(&mut self, out: &mut [u8]) {
        let mut at = 0;
        while at < out.len() {
            let length = self.read(&mut out[at..]);
            assert!(length > 0, "the end, after {at} bytes");
            at += length;
        }
    }
}

/// The byte at a position of a stream.
fn byte(position: usize) -> u8 {
    ((position as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

const CHUNK: usize = 10_000;

/// Sends back what comes. Into the ring from the second chunk on.
fn echo(mut end: End) -> End {
    let mut chunk = [0; CHUNK];
    let mut chunks = 0;
    loop {
        let length = end.read(&mut chunk);
        if length == 0 {
            end.tcp.shutdown(Shutdown::Write).unwrap();
            return end;
        }
        chunks += 1;
        if chunks == 2 {
            end.out.switch().unwrap();
        }
        end.write_all(&chunk[..length]);
    }
}

#[test]
fn a_connection_moves_to_memory_and_back_and_outlives_the_agent() {
    let mut agent = Running::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (mut connectors, mut acceptors) = (agent.client(), agent.client());
    let (socket, rings) = (bound(), rings());
    offer(&mut connectors, 7, &socket, &rings);
    let mut end = End::new(connect_to(&listener, socket), rings, true);
    // Nobody is there yet who would read the ring.
    assert!(!end.out.switch().unwrap());
    let (accepted, _) = listener.accept().unwrap();
    let theirs = acceptors.claim(1, accepted.as_fd()).unwrap().unwrap();
    let other = thread::spawn(move || echo(End::new(accepted, theirs, false)));

    let mut chunk = [0; CHUNK];
    let mut exchange = |end: &mut End, number: usize| {
        let sent: Vec<u8> = (number * CHUNK..(number + 1) * CHUNK).map(byte).collect();
        end.write_all(&sent);
        end.read_exactly(&mut chunk);
        assert!(chunk[..] == sent[..], "chunk {number} came back otherwise");
    };
    for number in 0..100 {
        match number {
            10 => assert!(end.out.switch().unwrap(), "the acceptor has its rings"),
            40 => agent.stop(),
            60 => end.out.demote().unwrap(),
            80 => assert!(end.input.demote().unwrap(), "the acceptor is still in the ring"),
            _ => {}
        }
        exchange(&mut end, number);
    }
    end.tcp.shutdown(Shutdown::Write).unwrap();
    assert_eq!(end.read(&mut [0; 10]), 0);
    let theirs = other.join().unwrap();
    // Chunks 10 to 59 went by memory, and about 80 of the answers.
    assert_eq!(end.out.ring().written(), 50 * CHUNK as u64);
    assert_eq!(end.sent_on_tcp, 50 * CHUNK as u64);
    assert!(theirs.out.ring().written() > 70 * CHUNK as u64);
    assert!(theirs.sent_on_tcp < 30 * CHUNK as u64);
}

#[test]
fn without_an_offer_it_is_tcp() {
    let agent = Running::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _plain = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    assert_eq!(agent.client().claim(1, accepted.as_fd()).unwrap().unwrap_err(), Reason::NoOffer);
}

/// The agent holds the sockets of offers open.
#[test]
fn a_withdrawn_offer_holds_no_connection_open() {
    let agent = Running::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = agent.client();
    let (socket, rings) = (bound(), rings());
    offer(&mut client, 7, &socket, &rings);
    let connector = connect_to(&listener, socket);
    let (mut accepted, _) = listener.accept().unwrap();
    drop(connector);
    accepted.set_nonblocking(true).unwrap();
    let still_open = accepted.read(&mut [0]).unwrap_err();
    assert_eq!(still_open.kind(), ErrorKind::WouldBlock);
    client.withdraw(7).unwrap();
    accepted.set_nonblocking(false).unwrap();
    assert_eq!(accepted.read(&mut [0]).unwrap(), 0);
}

/// A client that is gone takes its offers with it.
#[test]
fn a_client_that_is_gone_holds_no_connection_open() {
    let agent = Running::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = agent.client();
    let (socket, rings) = (bound(), rings());
    offer(&mut client, 7, &socket, &rings);
    drop((connect_to(&listener, socket), client));
    let (mut accepted, _) = listener.accept().unwrap();
    assert_eq!(accepted.read(&mut [0]).unwrap(), 0);
}

pub(crate) fn raw(path: &Path) -> OwnedFd {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    connect(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
    socket
}

#[test]
fn who_sends_what_is_no_message_is_let_go() {
    let agent = Running::start();
    let hello = Message::Hello { group: name() }.encode();
    let (offer, claim) = (Message::Offer { reference: 1 }, Message::Claim { reference: 1 });
    let null = std::fs::File::open("/dev/null").unwrap();
    let nulls = [null.as_fd(); 7];
    // Each of these after a hello, but the first: messages and their descriptors.
    let status = Message::Status { reference: 1 };
    let cases: [(bool, Vec<u8>, usize); 9] = [
        (false, claim.encode(), 1),
        (true, b"nonsense".to_vec(), 0),
        (true, vec![0; 2000], 0),
        (true, hello.clone(), 0),
        (true, offer.encode(), 6),
        (true, claim.encode(), 0),
        (true, Message::Welcome.encode(), 0),
        (false, status.encode(), 0),
        (true, Message::Report { reference: 1 }.encode(), 0),
    ];
    for (says_hello, message, descriptors) in cases {
        let client = raw(&agent.path());
        let mut answer = [0; 100];
        if says_hello {
            passing::send(&client, &hello, &[]).unwrap();
            let (length, _) = passing::receive(&client, &mut answer).unwrap();
            assert_eq!(Message::decode(&answer[..length], 0), Ok(Message::Welcome));
        }
        passing::send(&client, &message, &nulls[..descriptors]).unwrap();
        // The end, also where an unread message makes it a reset.
        assert!(passing::receive(&client, &mut answer).map_or(true, |(length, _)| length == 0));
    }
    // Descriptors of the wrong kind are refused, and others are served.
    let mut client = agent.client();
    assert_eq!(client.claim(1, null.as_fd()).unwrap().unwrap_err(), Reason::NotTcp);
    let refused = client.offer(1, null.as_fd(), [null.as_fd(); 6]).unwrap();
    assert_eq!(refused, Err(Reason::NotTcp));
}

#[test]
fn the_socket_of_an_agent_that_was_killed_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent");
    // Whoever is killed leaves its socket behind.
    let killed = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    bind(&killed, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    drop(killed);
    let agent = Agent::listen(&path, Destinations::Exact).unwrap();
    // One that lives is not.
    let second = Agent::listen(&path, Destinations::Exact).unwrap_err();
    assert!(matches!(second, AgentError::Socket { what: "bind", .. }), "{second}");
    drop(agent);
    assert!(!path.exists());
}

#[test]
fn an_agent_that_is_gone_is_named() {
    let mut agent = Running::start();
    let mut client = agent.client();
    agent.stop();
    let null = std::fs::File::open("/dev/null").unwrap();
    assert!(client.claim(1, null.as_fd()).is_err());
    let error = AgentClient::connect(&agent.path(), &name()).unwrap_err();
    assert!(matches!(error, AgentError::Socket { what: "connect", .. }), "{error}");
    assert!(error.to_string().starts_with(&agent.path().display().to_string()));
}
