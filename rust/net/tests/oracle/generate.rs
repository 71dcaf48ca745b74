//! Random scripts.

use crate::script::{
    DupForm, EpollChange, Family, Op, Opening, PollForm, Question, ReceiveForm, SLOTS, Script,
    SendForm, Setting, Side, Step,
};

/// Random numbers of a seed (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Once in so many times.
    fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// The script of a seed.
pub(crate) fn script(seed: u64) -> Script {
    let random = &mut Random(seed);
    let opening = Opening {
        family: random.of(&[Family::V4, Family::V4, Family::V6, Family::Mapped]),
        binds: random.once_in(4),
        polls: random.once_in(3),
        accepts_nonblocking: random.once_in(4),
    };
    let steps = (0..5 + random.below(25)).map(|_| step(random)).collect();
    Script { opening, steps }
}

fn step(random: &mut Random) -> Step {
    match random.below(40) {
        0 => Step::Demote,
        1..=3 => waits(random),
        _ => Step::One(random.of(&Side::BOTH), op(random)),
    }
}

fn slot(random: &mut Random) -> u8 {
    if random.once_in(3) { random.below(SLOTS.into()) as u8 } else { 0 }
}

fn length(random: &mut Random) -> usize {
    match random.below(12) {
        0 => 0,
        1 => 1,
        2..=7 => 1 + random.below(200) as usize,
        8..=10 => 1 + random.below(4000) as usize,
        _ => 1 + random.below(16_000) as usize,
    }
}

fn op(random: &mut Random) -> Op {
    let slot = slot(random);
    match random.below(64) {
        0..=17 => send(random, slot),
        18..=35 => receive(random, slot),
        36..=37 => Op::Available { slot },
        38..=41 => poll(random, 0),
        42..=45 => change(random, slot),
        46..=49 => Op::EpollWait { timeout_ms: 0 },
        50..=51 => dup(random, slot),
        52..=53 => Op::NonBlocking { slot, on: random.once_in(2), by_ioctl: random.once_in(2) },
        54..=55 => set(random, slot),
        56..=57 => ask(random, slot),
        58 => Op::Names { slot },
        59 => Op::Shutdown {
            slot,
            how: random.of(&[libc::SHUT_WR, libc::SHUT_WR, libc::SHUT_RD, libc::SHUT_RDWR]),
        },
        60..=61 => Op::Close { slot },
        62 => in_child(random, slot),
        _ => Op::Receive {
            slot,
            form: ReceiveForm::Exec,
            bytes: 1 + random.below(100) as usize,
            flags: 0,
        },
    }
}

fn send(random: &mut Random, slot: u8) -> Op {
    use SendForm::{Send, SendFile, SendMmsg, SendMsg, SendTo, Splice, Stdio, Write, Writev};
    let common = [Write, Writev, Send, SendTo, SendMsg, SendMmsg];
    let form =
        if random.once_in(12) { random.of(&[Stdio, SendFile, Splice]) } else { random.of(&common) };
    let flags = random.of(&[0, 0, libc::MSG_DONTWAIT, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL]);
    // What goes by a pipe fits into it. `writev` of no bytes does not come as far as the socket.
    let bytes = length(random).max(usize::from(form == Writev));
    Op::Send { slot, form, bytes, flags: flags | libc::MSG_NOSIGNAL, from: 0 }
}

fn receive(random: &mut Random, slot: u8) -> Op {
    use ReceiveForm::{
        Read, ReadChk, Readv, Recv, RecvChk, RecvFrom, RecvFromChk, RecvMmsg, RecvMsg, Splice,
        Stdio,
    };
    let common = [Read, ReadChk, Readv, Recv, RecvChk, RecvFrom, RecvFromChk, RecvMsg, RecvMmsg];
    let form = if random.once_in(12) { random.of(&[Stdio, Splice]) } else { random.of(&common) };
    let flags = match (random.below(6), form) {
        (0, RecvMmsg) => libc::MSG_DONTWAIT,
        (_, RecvMmsg) => 0,
        (0, _) => libc::MSG_PEEK,
        (1, _) => libc::MSG_PEEK | libc::MSG_DONTWAIT,
        (2, _) => libc::MSG_WAITALL,
        (3, _) => random.of(&[
            libc::MSG_TRUNC,
            libc::MSG_TRUNC | libc::MSG_PEEK,
            libc::MSG_WAITALL | libc::MSG_PEEK,
        ]),
        _ => random.of(&[0, libc::MSG_DONTWAIT]),
    };
    // `recv` of no bytes waits for some by TCP, and does not in memory, as `read` does: nobody can mean that.
    let least = match form {
        Read | Readv | ReadChk => 0,
        RecvMmsg => 3,
        _ => 1,
    };
    let bytes = length(random).max(least);
    Op::Receive { slot, form, bytes, flags }
}

fn poll(random: &mut Random, timeout_ms: i32) -> Op {
    let form = random.of(&[PollForm::Poll, PollForm::Ppoll, PollForm::Select, PollForm::Pselect]);
    let events = [
        libc::POLLIN,
        libc::POLLOUT,
        libc::POLLIN | libc::POLLOUT | libc::POLLRDHUP,
        libc::POLLPRI,
    ];
    Op::Poll { form, events: random.of(&events), timeout_ms }
}

fn change(random: &mut Random, slot: u8) -> Op {
    let change =
        random.of(&[EpollChange::Add, EpollChange::Add, EpollChange::Modify, EpollChange::Delete]);
    let mut events = random.of(&[libc::EPOLLIN, libc::EPOLLOUT, libc::EPOLLIN | libc::EPOLLOUT]);
    for more in [libc::EPOLLET, libc::EPOLLONESHOT, libc::EPOLLRDHUP] {
        events |= if random.once_in(3) { more } else { 0 };
    }
    if change == EpollChange::Add && random.once_in(8) {
        events |= libc::EPOLLEXCLUSIVE;
    }
    Op::EpollCtl { slot, change, events: events as u32 }
}

fn dup(random: &mut Random, slot: u8) -> Op {
    let forms = [DupForm::Dup, DupForm::Dup2, DupForm::Dup3, DupForm::Fcntl, DupForm::Passed];
    Op::Dup { slot, form: random.of(&forms), to: random.below(SLOTS.into()) as u8 }
}

fn set(random: &mut Random, slot: u8) -> Op {
    let settings = [
        Setting::NoDelay,
        Setting::KeepAlive,
        Setting::SendTimeout,
        Setting::Linger,
        Setting::ReceiveLowWater,
    ];
    let setting = random.of(&settings);
    let value = match setting {
        Setting::Linger => random.of(&[-1, 0, 1]),
        Setting::SendTimeout => 100,
        Setting::ReceiveLowWater => {
            let most = random.of(&[1, 300, 5000]);
            1 + random.below(most) as i32
        }
        _ => random.below(2) as i32,
    };
    Op::Set { slot, setting, value }
}

fn ask(random: &mut Random, slot: u8) -> Op {
    use Question::{
        Domain, Error, IsListening, KeepAlive, NoDelay, Protocol, ReceiveLowWater, ReceiveTimeout,
        Type,
    };
    let questions = [
        Error,
        Error,
        Type,
        Domain,
        Protocol,
        IsListening,
        ReceiveLowWater,
        ReceiveTimeout,
        NoDelay,
        KeepAlive,
    ];
    Op::Ask { slot, question: random.of(&questions) }
}

fn in_child(random: &mut Random, slot: u8) -> Op {
    let op = match random.below(4) {
        0 => send(random, slot),
        1 => receive(random, slot),
        2 => Op::Available { slot },
        _ => poll(random, 0),
    };
    Op::InChild { op: Box::new(op) }
}

/// An operation that waits, and what ends its waiting.
fn waits(random: &mut Random) -> Step {
    let side = random.of(&Side::BOTH);
    let send = |random: &mut Random, bytes| {
        // Of what is gathered from several buffers, a reader may see a part.
        let form = random.of(&[SendForm::Write, SendForm::Send, SendForm::SendTo]);
        Op::Send { slot: 0, form, bytes, flags: libc::MSG_NOSIGNAL, from: 0 }
    };
    let forms = [
        ReceiveForm::Read,
        ReceiveForm::Readv,
        ReceiveForm::Recv,
        ReceiveForm::RecvMsg,
        ReceiveForm::RecvFrom,
    ];
    let with_flags = [ReceiveForm::Recv, ReceiveForm::RecvMsg, ReceiveForm::RecvFrom];
    let bytes = 1 + random.below(4000) as usize;
    let end = Op::Shutdown { slot: 0, how: libc::SHUT_WR };
    let (op, others) = match random.below(7) {
        0 | 1 => {
            let op = Op::Receive { slot: 0, form: random.of(&forms), bytes: 4096, flags: 0 };
            (op, vec![send(random, bytes)])
        }
        2 => {
            let op = Op::Receive {
                slot: 0,
                form: random.of(&with_flags),
                bytes: 2 * bytes,
                flags: libc::MSG_WAITALL,
            };
            (op, vec![send(random, bytes), send(random, bytes)])
        }
        3 => (poll_for_input(random), vec![send(random, bytes)]),
        4 => (Op::EpollWait { timeout_ms: -1 }, vec![send(random, bytes)]),
        5 if random.once_in(3) => {
            let waiting = [
                Op::Receive { slot: 0, form: random.of(&forms), bytes: 100, flags: 0 },
                poll_for_input(random),
                Op::EpollWait { timeout_ms: -1 },
            ];
            (waiting[random.below(3) as usize].clone(), vec![end])
        }
        _ => {
            let bytes = 1 + random.below(600_000) as usize;
            let piece = 1 + random.below(40_000) as usize;
            let from = Op::SendAll { slot: 0, bytes, piece: piece.max(200), from: 0 };
            (
                Op::ReceiveAll { slot: 0, bytes, piece: 1 + random.below(60_000) as usize },
                vec![from],
            )
        }
    };
    Step::Waits(side, op, others)
}

fn poll_for_input(random: &mut Random) -> Op {
    let form = random.of(&[PollForm::Poll, PollForm::Ppoll, PollForm::Select, PollForm::Pselect]);
    Op::Poll { form, events: libc::POLLIN, timeout_ms: -1 }
}
