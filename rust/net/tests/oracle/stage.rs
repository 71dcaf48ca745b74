//! Two players and what connects them: runs scripts, and keeps account of what has to arrive.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use afterbay_test_form::PATIENCE;

use crate::memory::{Memory, has_rings};
use crate::player::{Order, PLAYS};
use crate::script::{
    Family, Op, Opening, Outcome, ReceiveForm, SLOTS, Script, SendForm, Setting, Side, Step, bytes,
    hash,
};
use crate::system::takes_flags;

/// Bytes that may be under way to an end: less than any buffer, so that no sender waits.
const UNDER_WAY_MAX: usize = 24 << 10;
/// An answer that does not come within this time does not come, however busy the machine is.
const ANSWERS: Duration = PATIENCE.saturating_mul(2);

/// What a step came to; nothing, if it could not be done or its outcome would depend on the moment.
pub(crate) type Result = std::result::Result<Vec<Option<Outcome>>, String>;

/// A player's process.
#[derive(Debug)]
struct Player {
    process: Child,
    orders: UnixStream,
    answers: BufReader<UnixStream>,
    ports: [Option<i64>; 3],
}

/// What is known of an end of the connection.
#[derive(Debug, Clone, Copy, Default)]
struct End {
    open: [bool; SLOTS as usize],
    watched: [bool; SLOTS as usize],
    under_way: usize,
    sent: u64,
    received: u64,
    /// The other end has ended its stream.
    ended: bool,
    /// The connection was reset.
    dead: bool,
    reads_no_more: bool,
    writes_no_more: bool,
    nonblocking: bool,
    low_water: usize,
    resets_at_close: bool,
    /// The other end was closed before the last bytes were sent: TCP says so where the ring says that the stream has ended.
    writes_to_nobody: bool,
}

/// What the last script had of memory.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    /// Both players had rings when it began.
    pub(crate) began_with_rings: bool,
    /// And when its last step was done.
    pub(crate) ended_with_rings: bool,
    /// What both had written until then, by TCP and into rings, to connections that were open still. Nothing where there is no agent to
    /// ask.
    pub(crate) tcp_bytes: u64,
    pub(crate) ring_bytes: u64,
}

/// Two players.
#[derive(Debug)]
pub(crate) struct Stage {
    players: [Player; 2],
    ends: [End; 2],
    seen: Seen,
    environment: Vec<(String, String)>,
}

impl Player {
    fn start(side: Side, environment: &[(String, String)]) -> Player {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "plays", "--nocapture"])
            .env(PLAYS, side.index().to_string())
            .envs(environment.iter().cloned())
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        ours.set_read_timeout(Some(ANSWERS)).unwrap();
        let answers = BufReader::new(ours.try_clone().unwrap());
        Player { process, orders: ours, answers, ports: [None; 3] }
    }

    fn tell(&mut self, order: &Order) -> std::result::Result<(), String> {
        let mut text = serde_json::to_vec(order).unwrap();
        text.push(b'\n');
        self.orders.write_all(&text).map_err(|error| self.fate(order, &error.to_string()))
    }

    fn answer(&mut self, order: &Order) -> std::result::Result<Outcome, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) => Err(self.fate(order, "it ended")),
            Ok(_) => serde_json::from_str(&line).map_err(|error| format!("{line}: {error}")),
            Err(error) => Err(self.fate(order, &error.to_string())),
        }
    }

    /// What became of a player that does not answer.
    fn fate(&mut self, order: &Order, error: &str) -> String {
        let hangs = matches!(self.process.try_wait(), Ok(None));
        let state = if hangs { stack_of(self.process.id()) } else { String::new() };
        let _ = self.process.kill();
        format!("no answer to {order:?}: {error}; {:?} {state}", self.process.wait())
    }

    fn ask(&mut self, order: &Order) -> std::result::Result<Outcome, String> {
        self.tell(order)?;
        self.answer(order)
    }
}

/// What a process that hangs waits for, as far as the system says it.
fn stack_of(process: u32) -> String {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}"));
    ["wchan", "syscall"]
        .into_iter()
        .filter_map(|name| read(name).ok())
        .collect::<Vec<_>>()
        .join(" ")
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Stage {
    /// Players with these variables in their environment.
    pub(crate) fn new(environment: &[(String, String)]) -> Stage {
        let players = Side::BOTH.map(|side| Player::start(side, environment));
        let environment = environment.to_vec();
        Stage { players, ends: Default::default(), seen: Seen::default(), environment }
    }

    /// The processes of both players.
    pub(crate) fn processes(&self) -> [u32; 2] {
        [0, 1].map(|at| self.players[at].process.id())
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen
    }

    fn have_rings(&self) -> bool {
        self.processes().into_iter().all(has_rings)
    }

    /// Runs a script. After an error, the players are new ones.
    pub(crate) fn run(&mut self, script: &Script, memory: Option<&Memory>) -> Result {
        let result = self.try_run(script, memory);
        if result.is_err() {
            *self = Stage::new(&self.environment.clone());
        }
        result
    }

    fn try_run(&mut self, script: &Script, memory: Option<&Memory>) -> Result {
        self.open(script.opening)?;
        self.seen = Seen { began_with_rings: self.have_rings(), ..Seen::default() };
        let mut outcomes = Vec::new();
        for step in &script.steps {
            outcomes.push(match step {
                Step::One(side, op) => self.one(*side, op)?,
                Step::Waits(side, op, others) => {
                    let waited = self.waits(*side, op, others)?;
                    outcomes.extend(waited);
                    continue;
                }
                Step::Demote => {
                    if let Some(memory) = memory {
                        memory.demote_quickly(self.processes()[0])?;
                    }
                    None
                }
            });
        }
        self.look(memory);
        for player in &mut self.players {
            player.ask(&Order::Reset)?;
        }
        Ok(outcomes)
    }

    fn look(&mut self, memory: Option<&Memory>) {
        self.seen.ended_with_rings = self.have_rings();
        if let Some(memory) = memory {
            (self.seen.tcp_bytes, self.seen.ring_bytes) = memory.written_by(self.processes());
        }
    }

    fn open(&mut self, opening: Opening) -> std::result::Result<(), String> {
        let [connector, acceptor] = &mut self.players;
        let port = match acceptor.ports[opening.family as usize] {
            Some(port) => port,
            None => acceptor.ask(&Order::Listen(opening.family))?.result,
        };
        acceptor.ports[opening.family as usize] = Some(port);
        // A machine without IPv6.
        let (opening, port) = match u16::try_from(port) {
            Ok(port) => (opening, port),
            Err(_) => return self.open(Opening { family: Family::V4, ..opening }),
        };
        connector.ask(&Order::Connect(opening, port))?;
        acceptor.ask(&Order::Accept(opening))?;
        let end = End { open: [true, false, false], low_water: 1, ..End::default() };
        self.ends = [end, End { nonblocking: opening.accepts_nonblocking, ..end }];
        Ok(())
    }

    fn end(&self, side: Side) -> &End {
        &self.ends[side.index()]
    }

    fn end_mut(&mut self, side: Side) -> &mut End {
        &mut self.ends[side.index()]
    }

    fn act(&mut self, side: Side, op: &Op) -> std::result::Result<Outcome, String> {
        self.players[side.index()].ask(&Order::Do(op.clone()))
    }

    fn one(&mut self, side: Side, op: &Op) -> std::result::Result<Option<Outcome>, String> {
        if !self.is_determined(side, op) {
            return Ok(None);
        }
        self.prepare(side, op)?;
        let op = self.placed(side, op);
        let outcome = self.act(side, &op)?;
        self.account(side, &op, &outcome)?;
        Ok(Some(outcome))
    }

    /// An operation that waits for others: none of them knows whether it waits already.
    fn waits(
        &mut self,
        side: Side,
        op: &Op,
        others: &[Op],
    ) -> std::result::Result<Vec<Option<Outcome>>, String> {
        let end = *self.end(side);
        let is_quiet = end.under_way == 0 && !end.ended && !end.dead && !end.reads_no_more;
        let is_alone = end.open.iter().filter(|open| **open).count() == 1 && end.open[0];
        let other = self.end(side.other());
        let may_send = !other.nonblocking && !other.writes_no_more && !other.dead && other.open[0];
        if !is_quiet || !is_alone || !may_send || end.nonblocking {
            return Ok(vec![None; 1 + others.len()]);
        }
        self.act(side, &Op::Set { slot: 0, setting: Setting::ReceiveTimeout, value: 0 })?;
        self.act(side, &Op::Set { slot: 0, setting: Setting::ReceiveLowWater, value: 1 })?;
        self.end_mut(side).low_water = 1;
        if matches!(op, Op::EpollWait { .. }) {
            self.watch(side)?;
        }
        let order = Order::Do(op.clone());
        self.players[side.index()].tell(&order)?;
        let mut outcomes = vec![None];
        for other in others {
            let placed = self.placed(side.other(), other);
            let outcome = self.act(side.other(), &placed)?;
            self.account(side.other(), &placed, &outcome)?;
            outcomes.push(Some(outcome));
        }
        let outcome = self.players[side.index()].answer(&order)?;
        self.account(side, op, &outcome)?;
        outcomes[0] = Some(outcome);
        self.act(side, &Op::Set { slot: 0, setting: Setting::ReceiveTimeout, value: 4 })?;
        Ok(outcomes)
    }

    /// Watches for what can be read, and for nothing else.
    fn watch(&mut self, side: Side) -> std::result::Result<(), String> {
        use crate::script::EpollChange::{Add, Delete};
        let events = libc::EPOLLIN as u32;
        if self.end(side).watched[0] {
            self.act(side, &Op::EpollCtl { slot: 0, change: Delete, events: 0 })?;
        }
        self.act(side, &Op::EpollCtl { slot: 0, change: Add, events })?;
        self.end_mut(side).watched[0] = true;
        Ok(())
    }

    /// Whether what comes of an operation depends on nothing but what went before.
    fn is_determined(&self, side: Side, op: &Op) -> bool {
        let (end, other) = (self.end(side), self.end(side.other()));
        if op.slot().is_some_and(|slot| !end.open[usize::from(slot)]) {
            return false;
        }
        match op {
            // Nobody knows how many of its messages are sent before the answer to the first one comes.
            Op::Send { form: SendForm::SendMmsg, .. } if !other.open.contains(&true) => false,
            Op::Send { bytes, .. } => {
                // Linux resets a connection whose reader has said that it reads no more, at moments of its own.
                other.under_way + bytes <= UNDER_WAY_MAX && (end.dead || !other.reads_no_more)
            }
            Op::Receive { form: ReceiveForm::Exec, bytes, .. } => {
                *bytes > 0
                    && end.under_way >= *bytes
                    && !end.nonblocking
                    && !end.dead
                    && !end.reads_no_more
            }
            Op::Receive { form: ReceiveForm::Stdio, bytes, .. } => {
                end.under_way >= *bytes && !end.dead && !end.reads_no_more
            }
            // It says an error before bytes that came before it.
            Op::Receive { form: ReceiveForm::RecvMmsg, .. } if end.dead => false,
            Op::Receive { .. } => !end.writes_to_nobody,
            Op::Dup { slot, to, .. } => slot != to,
            Op::InChild { op } => self.is_determined(side, op),
            Op::SendAll { .. } | Op::ReceiveAll { .. } | Op::Settle { .. } => false,
            Op::Poll { .. } | Op::EpollWait { .. } => end.open.contains(&true),
            _ => true,
        }
    }

    /// With its place in the stream.
    fn placed(&self, side: Side, op: &Op) -> Op {
        let from = self.end(side).sent;
        match op.clone() {
            Op::Send { slot, form, bytes, flags, .. } => {
                Op::Send { slot, form, bytes, flags, from }
            }
            Op::SendAll { slot, bytes, piece, .. } => Op::SendAll { slot, bytes, piece, from },
            Op::InChild { op } => Op::InChild { op: Box::new(self.placed(side, &op)) },
            other => other,
        }
    }

    /// What has to have arrived before an operation has.
    fn prepare(&mut self, side: Side, op: &Op) -> std::result::Result<(), String> {
        let end = *self.end(side);
        let Some(slot) = end.open.iter().position(|open| *open) else { return Ok(()) };
        let settle =
            Op::Settle { slot: slot as u8, bytes: end.under_way, ended: end.ended, dead: end.dead };
        let settled = self.act(side, &settle)?;
        if settled.result != 0 {
            return Err(format!("what was sent did not arrive, {settle:?}: {:?}", settled.more));
        }
        // A set of epoll keeps what is closed while there are copies of it: no program means that.
        let goes = match op {
            Op::Close { slot } | Op::Dup { to: slot, .. } => usize::from(*slot),
            _ => return Ok(()),
        };
        if end.watched[goes] {
            let delete = crate::script::EpollChange::Delete;
            self.act(side, &Op::EpollCtl { slot: goes as u8, change: delete, events: 0 })?;
            self.end_mut(side).watched[goes] = false;
        }
        Ok(())
    }

    /// Keeps account, and checks the bytes that came.
    fn account(
        &mut self,
        side: Side,
        op: &Op,
        outcome: &Outcome,
    ) -> std::result::Result<(), String> {
        let done = outcome.result;
        match op {
            Op::InChild { op } => {
                return self.account(side, op, outcome);
            }
            Op::Send { .. } | Op::SendAll { .. } if done > 0 => {
                self.end_mut(side).sent += done as u64;
                let (is_gone, other) =
                    (!self.end(side.other()).open.contains(&true), self.end_mut(side.other()));
                other.under_way += done as usize;
                self.end_mut(side).dead |= is_gone;
                self.end_mut(side).writes_to_nobody |= is_gone;
            }
            Op::Receive { form, flags, .. } if done > 0 => {
                let flags = if takes_flags(*form) { *flags } else { 0 };
                return self.received(side, outcome, flags);
            }
            Op::ReceiveAll { .. } if done > 0 => return self.received(side, outcome, 0),
            Op::Shutdown { how, .. } if done == 0 => {
                if *how != libc::SHUT_WR {
                    self.end_mut(side).reads_no_more = true;
                }
                if *how != libc::SHUT_RD {
                    self.end_mut(side).writes_no_more = true;
                    self.end_mut(side.other()).ended = true;
                }
            }
            Op::Close { slot } => self.closed(side, usize::from(*slot)),
            Op::Dup { to, .. } if done == 0 => self.end_mut(side).open[usize::from(*to)] = true,
            Op::NonBlocking { on, .. } if done == 0 => self.end_mut(side).nonblocking = *on,
            Op::Set { setting: Setting::Linger, value, .. } if done == 0 => {
                self.end_mut(side).resets_at_close = *value == 0;
            }
            Op::Set { setting: Setting::ReceiveLowWater, value, .. } if done == 0 => {
                self.end_mut(side).low_water = *value as usize;
            }
            Op::EpollCtl { slot, change, .. } if done == 0 => {
                let is_watched = *change != crate::script::EpollChange::Delete;
                self.end_mut(side).watched[usize::from(*slot)] = is_watched;
            }
            _ => {}
        }
        Ok(())
    }

    fn received(
        &mut self,
        side: Side,
        outcome: &Outcome,
        flags: i32,
    ) -> std::result::Result<(), String> {
        let length = outcome.result as usize;
        let end = self.end_mut(side);
        if length > end.under_way {
            return Err(format!("{length} bytes came where {} were sent", end.under_way));
        }
        let expected = bytes(side.other(), end.received, length);
        if flags & libc::MSG_TRUNC == 0 && outcome.hash != hash(&expected) {
            return Err(format!(
                "{length} wrong bytes at {} of the stream to {side:?}",
                end.received
            ));
        }
        if flags & libc::MSG_PEEK == 0 {
            end.received += length as u64;
            end.under_way -= length;
        }
        Ok(())
    }

    fn closed(&mut self, side: Side, slot: usize) {
        let end = self.end_mut(side);
        end.open[slot] = false;
        if end.open.contains(&true) {
            return;
        }
        let resets = end.resets_at_close || (end.under_way > 0 && !end.dead);
        let other = self.end_mut(side.other());
        other.ended = true;
        other.dead |= resets;
    }
}
