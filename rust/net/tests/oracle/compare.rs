//! The same script on TCP and in memory, and the shortest one that comes to something else.

use crate::memory::Memory;
use crate::script::{DupForm, Op, Outcome, Script, Side, Step};
use crate::stage::{Result, Stage};

/// Of a script that comes to something else each time, so many are known.
const TRIES: usize = 20;

/// A script that has to differ gets so many chances.
const ATTEMPTS: usize = 3;

/// Where scripts are run, by TCP and by what is compared with it.
pub(crate) struct Pair<'a> {
    pub(crate) tcp: Stage,
    pub(crate) other: Stage,
    /// What the other players have, if there is an agent.
    pub(crate) memory: Option<&'a Memory>,
}

/// What a script came to on TCP, and otherwise.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) script: Script,
    tcp: Result,
    other: Result,
}

impl Pair<'_> {
    /// Nothing, if both come to the same, or if TCP comes to this now and then.
    pub(crate) fn differs(&mut self, script: &Script) -> Option<Difference> {
        let other = self.other.run(script, self.memory);
        let mut tcp = self.tcp.run(script, None);
        for _ in 0..TRIES {
            if is_same(script, &tcp, &other) {
                return None;
            }
            tcp = self.tcp.run(script, None);
        }
        Some(Difference { script: script.clone(), tcp, other })
    }

    /// As [`Pair::differs`], in some attempts: not every difference comes each time.
    fn still_differs(&mut self, script: &Script) -> Option<Difference> {
        (0..ATTEMPTS).find_map(|_| self.differs(script))
    }

    /// Leaves steps out as long as the rest differs.
    pub(crate) fn shrink(&mut self, mut found: Difference) -> Difference {
        let mut piece = found.script.steps.len() / 2;
        while piece > 0 {
            let mut at = 0;
            while at < found.script.steps.len() {
                let mut script = found.script.clone();
                script.steps.drain(at..script.steps.len().min(at + piece));
                match self.still_differs(&script) {
                    Some(smaller) => found = smaller,
                    None => at += piece,
                }
            }
            piece /= 2;
        }
        found
    }
}

/// Whether both are outcomes of TCP.
fn is_same(script: &Script, tcp: &Result, other: &Result) -> bool {
    let (Ok(tcp), Ok(other)) = (tcp, other) else { return false };
    let ops = script.steps.iter().flat_map(|step| match step {
        Step::One(_, op) => vec![Some(op)],
        Step::Demote => vec![None],
        Step::Waits(_, op, others) => std::iter::once(op).chain(others).map(Some).collect(),
    });
    let mut outcomes = ops.zip(tcp.iter().zip(other));
    tcp.len() == other.len()
        && outcomes.all(|(op, outcomes)| match outcomes {
            (Some(tcp), Some(other)) => {
                tcp == other
                    || op.is_some_and(|op| {
                        is_alike(op, tcp, other)
                            || is_relayed(script, op)
                            || is_edge_again(script, op, tcp, other)
                    })
            }
            (tcp, other) => tcp == other,
        })
}

/// Behind a relay, which goes on with a connection that was handed on with bytes that are in memory only, its ends have other names.
fn is_relayed(script: &Script, op: &Op) -> bool {
    let is_passed =
        |step: &Step| matches!(step, Step::One(_, Op::Dup { form: DupForm::Passed, .. }));
    matches!(op, Op::Names { .. }) && script.steps.iter().any(is_passed)
}

/// That there is room is told by edges once more when writes move to the ring: a program that was told before cannot know better. And
/// where bytes came and are read by now, TCP's edge says once more that there is room, to who waits for both.
fn is_edge_again(script: &Script, op: &Op, tcp: &Outcome, other: &Outcome) -> bool {
    let waits_for = |events: i32| {
        let edges = libc::EPOLLET as u32 | events as u32;
        let is = |op: &Op| matches!(op, Op::EpollCtl { events, .. } if events & edges == edges);
        script.steps.iter().any(|step| matches!(step, Step::One(_, op) if is(op)))
    };
    let has_edge = waits_for(libc::EPOLLOUT);
    let has_both = waits_for(libc::EPOLLIN | libc::EPOLLOUT);
    let room = i64::from(libc::EPOLLOUT);
    let told = |outcome: &Outcome, without: i64| -> Vec<(i64, i64)> {
        let told = outcome.more.chunks_exact(2).map(|told| (told[0], told[1] & !without));
        told.filter(|(_, events)| *events != 0).collect()
    };
    let has_all = told(tcp, 0).iter().all(|(slot, events)| {
        told(other, 0).iter().any(|(of, said)| of == slot && said & events == *events)
    });
    let is_wait = matches!(op, Op::EpollWait { .. }) && has_edge && tcp.errno == other.errno;
    is_wait && (has_all || has_both) && told(tcp, room) == told(other, room)
}

/// What TCP does not promise. A look at what comes (`MSG_PEEK`) may see fewer bytes, where some are in memory and some are not: which
/// bytes they are, the stage has checked. Of two reasons why nobody can be written to any more, a write says one.
fn is_alike(op: &Op, tcp: &Outcome, other: &Outcome) -> bool {
    let is_gone = |outcome: &Outcome| {
        outcome.result < 0 && [libc::EPIPE, libc::ECONNRESET].contains(&outcome.errno)
    };
    match op {
        Op::InChild { op } => is_alike(op, tcp, other),
        Op::Receive { flags, .. } if flags & libc::MSG_PEEK != 0 => {
            (1..=tcp.result).contains(&other.result)
        }
        Op::Send { .. } => is_gone(tcp) && is_gone(other),
        _ => false,
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:?}", self.script.opening)?;
        let names = self.script.steps.iter().flat_map(names);
        let of = |result: &Result, at: usize| match result {
            Ok(outcomes) => {
                outcomes.get(at).cloned().flatten().map(|outcome| format!("{outcome:?}"))
            }
            Err(_) => None,
        };
        for (at, name) in names.enumerate() {
            let [tcp, other] = [&self.tcp, &self.other].map(|result| of(result, at));
            writeln!(f, "  {name}")?;
            if tcp != other {
                writeln!(f, "    TCP:   {}", tcp.as_deref().unwrap_or("-"))?;
                writeln!(f, "    other: {}", other.as_deref().unwrap_or("-"))?;
            }
        }
        for (name, result) in [("TCP", &self.tcp), ("other", &self.other)] {
            if let Err(error) = result {
                writeln!(f, "  {name}: {error}")?;
            }
        }
        let json = serde_json::to_string(&self.script).map_err(|_| std::fmt::Error)?;
        write!(f, "  once more: AFTERBAY_NET_SCRIPT='{json}'")
    }
}

/// Of each outcome of a step.
fn names(step: &Step) -> Vec<String> {
    match step {
        Step::One(side, op) => vec![format!("{side:?}: {op:?}")],
        Step::Demote => vec!["Demote".to_owned()],
        Step::Waits(side, op, others) => {
            let other: Side = side.other();
            let first = format!("{side:?} waits: {op:?}");
            std::iter::once(first)
                .chain(others.iter().map(|op| format!("{other:?} meanwhile: {op:?}")))
                .collect()
        }
    }
}
