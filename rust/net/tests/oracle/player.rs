//! A process that is one end of connections, and does what it is told.

use std::collections::HashMap;
use std::ffi::c_int;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use afterbay_test_form::PATIENCE;
use serde::{Deserialize, Serialize};

use crate::script::{
    DupForm, Family, Op, Opening, Outcome, PollForm, SLOTS, SendForm, Setting, Side, bytes, hash,
};
use crate::system;

/// Which end this process is, if it is one: its input is the socket by which it is told what to do.
pub(crate) const PLAYS: &str = "AFTERBAY_NET_PLAYS";

/// For controls: what this process does otherwise than TCP.
pub(crate) const LIES: &str = "AFTERBAY_NET_LIES";

/// How long what was sent is waited for: less than an answer is.
const ARRIVES: Duration = PATIENCE;

/// What a player is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Listens, once for each family: the result is the port, or -1 where the machine has no such addresses.
    Listen(Family),
    Connect(Opening, u16),
    Accept(Opening),
    Do(Op),
    /// Closes all of the connection.
    Reset,
}

#[derive(Debug)]
struct Player {
    side: Side,
    listeners: HashMap<u8, (c_int, u16)>,
    slots: [Option<c_int>; SLOTS as usize],
    epoll: c_int,
    /// What both ends of the connection were called at its beginning.
    names: [Result<Vec<u8>, i32>; 2],
}

/// Plays until nobody says anything any more.
pub(crate) fn play(side: Side) {
    use std::os::fd::AsFd;
    let orders: OwnedFd = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let mut answers = UnixStream::from(orders);
    let orders = BufReader::new(answers.try_clone().unwrap());
    let mut player = Player {
        side,
        listeners: HashMap::new(),
        slots: [None; SLOTS as usize],
        epoll: -1,
        names: [Err(0), Err(0)],
    };
    let lie = std::env::var(LIES).unwrap_or_default();
    for order in orders.lines() {
        let order = serde_json::from_str(&order.unwrap()).unwrap();
        let mut outcome = match lied(&lie, &order) {
            Some(other) => player.follow(other),
            None => player.follow(order.clone()),
        };
        lie_about(&lie, &order, &mut outcome);
        let mut answer = serde_json::to_vec(&outcome).unwrap();
        answer.push(b'\n');
        answers.write_all(&answer).unwrap();
    }
}

/// Another order that is followed instead.
fn lied(lie: &str, order: &Order) -> Option<Order> {
    match order {
        // Peeks one byte fewer.
        Order::Do(Op::Receive { slot, form, bytes, flags })
            if lie == "peek" && flags & libc::MSG_PEEK != 0 =>
        {
            let (slot, form, flags) = (*slot, *form, *flags);
            Some(Order::Do(Op::Receive { slot, form, bytes: bytes.saturating_sub(1), flags }))
        }
        _ => None,
    }
}

fn lie_about(lie: &str, order: &Order, outcome: &mut Outcome) {
    match (lie, order) {
        ("event", Order::Do(Op::EpollWait { .. })) if outcome.more.len() == 2 => {
            outcome.more[1] &= !i64::from(libc::EPOLLRDHUP);
        }
        ("errno", Order::Do(Op::Receive { .. })) if outcome.errno == libc::EAGAIN => {
            outcome.errno = libc::EINTR;
        }
        ("bytes", Order::Do(Op::Receive { .. })) if outcome.result > 3000 => outcome.hash ^= 1,
        _ => {}
    }
}

fn number(result: i64) -> Outcome {
    Outcome { result, errno: 0, hash: 0, more: Vec::new() }
}

impl Player {
    fn follow(&mut self, order: Order) -> Outcome {
        match order {
            Order::Listen(family) => number(self.listen(family)),
            Order::Connect(opening, port) => self.connect(opening, port),
            Order::Accept(opening) => self.accept(opening),
            Order::Do(op) => self.act(&op),
            Order::Reset => {
                self.reset();
                number(0)
            }
        }
    }

    fn listen(&mut self, family: Family) -> i64 {
        let fd = system::socket(family);
        if !system::bind(fd, family) {
            system::close(fd);
            return -1;
        }
        system::listen(fd);
        let name = system::name(fd, false).unwrap();
        let port = u16::from_be_bytes([name[2], name[3]]);
        self.listeners.insert(family as u8, (fd, port));
        port.into()
    }

    fn connect(&mut self, opening: Opening, port: u16) -> Outcome {
        let fd = system::socket(opening.family);
        if opening.binds {
            assert!(system::bind(fd, opening.family));
        }
        if opening.polls {
            system::set_nonblocking(fd, true, false);
        }
        let mut outcome = system::connect(fd, opening.family, port);
        if opening.polls {
            // Over the loopback interface it may be connected at once, or not yet.
            outcome = system::poll(&[fd], PollForm::Poll, libc::POLLOUT, -1);
            outcome.more.extend(system::ask(fd, crate::script::Question::Error).more);
            system::set_nonblocking(fd, false, false);
        }
        self.open(fd);
        outcome
    }

    fn accept(&mut self, opening: Opening) -> Outcome {
        let (listener, _) = self.listeners[&(opening.family as u8)];
        let fd = system::accept(listener, opening.accepts_nonblocking);
        assert!(fd >= 0, "accept: {fd}");
        self.open(fd);
        number(0)
    }

    fn open(&mut self, fd: c_int) {
        assert_eq!(self.slots, [None; SLOTS as usize]);
        // No script hangs: what would wait for ever waits for a moment.
        system::set(fd, Setting::ReceiveTimeout, 4);
        self.slots[0] = Some(fd);
        self.epoll = system::epoll_create();
        self.names = [system::name(fd, false), system::name(fd, true)];
    }

    fn reset(&mut self) {
        for fd in self.slots.iter_mut().filter_map(Option::take) {
            // Leaves no port behind that waits.
            system::set(fd, Setting::Linger, 0);
            system::close(fd);
        }
        if self.epoll >= 0 {
            system::close(self.epoll);
            self.epoll = -1;
        }
    }

    fn act(&mut self, op: &Op) -> Outcome {
        let fd = op.slot().map_or(-1, |slot| self.slots[usize::from(slot)].unwrap());
        let all: Vec<_> = self.slots.iter().flatten().copied().collect();
        match *op {
            Op::Send { form, bytes: length, flags, from, .. } => {
                system::send(fd, form, &mut bytes(self.side, from, length), flags)
            }
            Op::Receive { form, bytes, flags, .. } => system::receive(fd, form, bytes, flags),
            Op::SendAll { bytes, piece, from, .. } => self.send_all(fd, bytes, piece, from),
            Op::ReceiveAll { bytes, piece, .. } => receive_all(fd, bytes, piece),
            Op::Shutdown { how, .. } => system::shutdown(fd, how),
            Op::Close { slot } => {
                self.slots[usize::from(slot)] = None;
                system::close(fd)
            }
            Op::Dup { form, to, .. } => self.dup(fd, form, to),
            Op::NonBlocking { on, by_ioctl, .. } => system::set_nonblocking(fd, on, by_ioctl),
            Op::Set { setting, value, .. } => system::set(fd, setting, value),
            Op::Ask { question, .. } => system::ask(fd, question),
            Op::Available { .. } => system::available(fd),
            Op::Names { .. } => {
                let is = |peer: bool| match system::name(fd, peer) {
                    Ok(name) => i64::from(self.names[usize::from(peer)].as_ref() == Ok(&name)),
                    Err(errno) => -i64::from(errno),
                };
                Outcome { more: vec![is(false), is(true)], ..number(0) }
            }
            Op::Poll { form, events, timeout_ms } => system::poll(&all, form, events, timeout_ms),
            Op::EpollCtl { slot, change, events } => {
                system::epoll_ctl(self.epoll, fd, slot, change, events)
            }
            Op::EpollWait { timeout_ms } => system::epoll_wait(self.epoll, timeout_ms),
            Op::InChild { ref op } => system::in_child(|| self.act(op)),
            Op::Settle { bytes, ended, dead, .. } => settle(fd, bytes, ended, dead),
        }
    }

    fn send_all(&self, fd: c_int, length: usize, piece: usize, from: u64) -> Outcome {
        let mut content = bytes(self.side, from, length);
        let mut sent = 0;
        while sent < length {
            let end = length.min(sent + piece);
            let outcome =
                system::send(fd, SendForm::Send, &mut content[sent..end], libc::MSG_NOSIGNAL);
            match outcome.result {
                1.. => sent += outcome.result as usize,
                _ => return Outcome { more: vec![sent as i64], ..outcome },
            }
        }
        number(sent as i64)
    }

    fn dup(&mut self, fd: c_int, form: DupForm, to: u8) -> Outcome {
        let over = self.slots[usize::from(to)];
        let copy = system::dup(fd, form, over);
        if copy < 0 {
            return number(copy.into());
        }
        match over {
            Some(over) if over != copy => drop(system::close(over)),
            _ => {}
        }
        self.slots[usize::from(to)] = Some(copy);
        number(0)
    }
}

fn receive_all(fd: c_int, length: usize, piece: usize) -> Outcome {
    let mut content = Vec::with_capacity(length);
    let began = Instant::now();
    while content.len() < length && began.elapsed() < ARRIVES {
        let mut buffer = vec![0; piece.min(length - content.len())];
        let outcome = system::receive_into(fd, &mut buffer);
        match outcome.result {
            1.. => content.extend_from_slice(&buffer[..outcome.result as usize]),
            // Nothing came within the socket's timeout.
            -1 if outcome.errno == libc::EAGAIN => {}
            _ => {
                return Outcome {
                    hash: hash(&content),
                    more: vec![content.len() as i64],
                    ..outcome
                };
            }
        }
    }
    Outcome { hash: hash(&content), ..number(content.len() as i64) }
}

/// Waits until what was sent to this end is there: bytes, the end of the stream, or of the connection.
fn settle(fd: c_int, length: usize, ended: bool, dead: bool) -> Outcome {
    let (ends, dies) = (libc::POLLRDHUP | libc::POLLHUP, libc::POLLHUP);
    let began = Instant::now();
    loop {
        let available = system::available(fd);
        let ready = system::poll(&[fd], PollForm::Poll, libc::POLLIN | libc::POLLRDHUP, 0).more[0];
        let has = |events: i16| ready & i64::from(events) != 0;
        let arrived = dead || available.more == [length as i64];
        if arrived && (!ended || has(ends)) && (!dead || has(dies)) {
            return number(0);
        }
        if began.elapsed() > ARRIVES {
            return Outcome { more: vec![available.more[0], ready], ..number(-1) };
        }
        std::thread::sleep(Duration::from_micros(20));
    }
}
