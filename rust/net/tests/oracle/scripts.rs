//! Random scripts on TCP, and on connections in memory.

use afterbay_test_form::{Wait, counted, net_scripts};

use crate::compare::Pair;
use crate::generate::script;
use crate::memory::Memory;
use crate::player::LIES;
use crate::script::{Family, Op, Opening, ReceiveForm, Script, SendForm, Side, Step};
use crate::stage::{Seen, Stage};

/// Of so many scripts, some write into rings for sure.
const MANY: u64 = 50;

/// What goes there and back where rings are promised: by the last messages, each end has them, however late it gets them.
const ROUNDS: u64 = 20;
const MESSAGE: u64 = 1000;
const ALL: u64 = 2 * ROUNDS * MESSAGE;

/// More operations than a script has.
const NEVER: u32 = 1_000_000;

/// The seed of the first script. Later ones count on from it. `AFTERBAY_NET_SEED`.
fn first_seed() -> u64 {
    let seed = std::env::var("AFTERBAY_NET_SEED")
        .ok()
        .map(|seed| seed.parse().expect("a seed is a number"));
    seed.unwrap_or(1)
}

/// A script that somebody wants to see once more.
fn wanted() -> Option<Script> {
    let script = std::env::var("AFTERBAY_NET_SCRIPT").ok()?;
    Some(serde_json::from_str(&script).expect("a script, as a difference shows it"))
}

/// What scripts had of memory.
#[derive(Debug, Default)]
struct Had {
    scripts: u64,
    /// The seeds of those that began without rings.
    began_on_tcp: Vec<u64>,
    /// Bytes that went through rings.
    ring_bytes: u64,
}

impl Had {
    fn add(&mut self, seed: u64, seen: Seen) {
        self.scripts += 1;
        self.ring_bytes += seen.ring_bytes;
        if !seen.began_with_rings {
            self.began_on_tcp.push(seed);
        }
    }

    /// Says how much it was; `when` is when connections got their rings.
    #[track_caller]
    fn used_rings(&self, when: &str) {
        let Had { scripts, ring_bytes, .. } = self;
        counted(&format!(
            "net: {scripts} scripts by TCP and in memory ({when}), no difference; {ring_bytes} bytes through rings"
        ));
        assert!(*ring_bytes > 0 || *scripts < MANY, "{scripts} scripts, and no byte through rings");
    }
}

fn compare(pair: &mut Pair<'_>) -> Had {
    let mut had = Had::default();
    if let Some(script) = wanted() {
        if let Some(difference) = pair.differs(&script) {
            panic!("differs from TCP:\n{difference}");
        }
        return had;
    }
    let seeds = first_seed()..first_seed() + net_scripts();
    for seed in seeds {
        if let Some(difference) = pair.differs(&script(seed)) {
            let difference = pair.shrink(difference);
            panic!("AFTERBAY_NET_SEED={seed} differs from TCP:\n{difference}");
        }
        had.add(seed, pair.other.seen());
    }
    assert_eq!(had.scripts, net_scripts());
    had
}

/// Messages there and back, one at a time.
fn there_and_back() -> Script {
    let (family, flags, bytes) = (Family::V4, libc::MSG_NOSIGNAL, MESSAGE as usize);
    let opening = Opening { family, binds: false, polls: false, accepts_nonblocking: false };
    let send = Op::Send { slot: 0, form: SendForm::Send, bytes, flags, from: 0 };
    let receive = Op::Receive { slot: 0, form: ReceiveForm::Recv, bytes, flags: 0 };
    let mut steps = Vec::new();
    for _ in 0..ROUNDS {
        for side in Side::BOTH {
            steps.push(Step::One(side, send.clone()));
            steps.push(Step::One(side.other(), receive.clone()));
        }
    }
    Script { opening, steps }
}

/// Sends messages there and back. What was seen of memory.
#[track_caller]
fn look(pair: &mut Pair<'_>) -> Seen {
    let difference = pair.differs(&there_and_back());
    assert!(difference.is_none(), "differs from TCP:\n{}", difference.unwrap());
    pair.other.seen()
}

/// Again, until it is as it has to be: a library tells the agent of itself on its own time.
#[track_caller]
fn look_until(pair: &mut Pair<'_>, what: &'static str, is: impl Fn(&Seen) -> bool) -> Seen {
    let wait = Wait::until(what);
    loop {
        let seen = look(pair);
        if is(&seen) {
            return seen;
        }
        wait.check(seen);
    }
}

/// Most bytes go through rings, and so those of both ways.
#[track_caller]
fn has_rings(pair: &mut Pair<'_>) {
    let seen =
        look_until(pair, "most bytes go through rings", |seen| seen.ring_bytes * 4 > ALL * 3);
    assert!(seen.ended_with_rings, "{seen:?}");
}

#[test]
fn tcp_does_what_tcp_does() {
    let (tcp, other) = (Stage::new(&[]), Stage::new(&[]));
    let had = compare(&mut Pair { tcp, other, memory: None });
    assert_eq!(had.began_on_tcp.len() as u64, had.scripts);
}

#[test]
fn memory_does_what_tcp_does() {
    let memory = Memory::new();
    let other = Stage::new(&memory.environment());
    let mut pair = Pair { tcp: Stage::new(&[]), other, memory: Some(&memory) };
    has_rings(&mut pair);
    let had = compare(&mut pair);
    let began_on_tcp = &had.began_on_tcp;
    assert!(began_on_tcp.is_empty(), "no rings at the beginning, seeds {began_on_tcp:?}");
    had.used_rings("at once");
}

/// Connections move in the middle of a script, before and after whatever comes first in it.
#[test]
fn memory_that_comes_later_does_what_tcp_does() {
    let memory = Memory::new();
    for after in [1, 4] {
        let other = Stage::new(&memory.environment_after(after));
        let mut pair = Pair { tcp: Stage::new(&[]), other, memory: Some(&memory) };
        has_rings(&mut pair);
        compare(&mut pair).used_rings(&format!("after {after} operations"));
    }
}

/// Controls: without an agent, and on connections that never become worth rings, there are none, and that is seen.
#[test]
fn where_there_are_no_rings_none_are_seen() {
    let has_any = |seen: Seen| seen.began_with_rings || seen.ended_with_rings;
    let memory = Memory::without_agent();
    let other = Stage::new(&memory.environment());
    let seen = look(&mut Pair { tcp: Stage::new(&[]), other, memory: None });
    assert!(!has_any(seen), "without an agent: {seen:?}");
    let memory = Memory::new();
    let other = Stage::new(&memory.environment_after(NEVER));
    let mut pair = Pair { tcp: Stage::new(&[]), other, memory: Some(&memory) };
    let seen = look_until(&mut pair, "all bytes go by TCP", |seen| seen.tcp_bytes == ALL);
    assert!(!has_any(seen) && seen.ring_bytes == 0, "{seen:?}");
}

/// Found by seeds that the normal form does not come to.
#[test]
fn what_once_differed_is_the_same() {
    // What fires once says all that is so, in one event.
    const ONCE: &str = r#"{"opening": {"family": "V4", "binds": false, "polls": true, "accepts_nonblocking": false}, "steps": [
        {"One": ["Connector", {"EpollCtl": {"slot": 0, "change": "Add", "events": 1073750021}}]},
        {"One": ["Acceptor", {"Send": {"slot": 0, "form": "SendMmsg", "bytes": 1380, "flags": 16384, "from": 0}}]},
        {"One": ["Connector", {"EpollWait": {"timeout_ms": 0}}]}]}"#;
    let memory = Memory::new();
    let other = Stage::new(&memory.environment());
    let mut pair = Pair { tcp: Stage::new(&[]), other, memory: Some(&memory) };
    let difference = pair.differs(&serde_json::from_str(ONCE).unwrap());
    assert!(difference.is_none(), "differs from TCP:\n{}", difference.unwrap());
}

/// Controls: ends that do one thing otherwise. Each is found.
#[test]
fn an_end_that_lies_is_found() {
    for lie in ["peek", "event", "errno", "bytes"] {
        let other = Stage::new(&[(LIES.to_owned(), lie.to_owned())]);
        let mut pair = Pair { tcp: Stage::new(&[]), other, memory: None };
        let found = (1..500).find_map(|seed| pair.differs(&script(seed)));
        let difference =
            pair.shrink(found.unwrap_or_else(|| panic!("nobody notices the lie {lie}")));
        assert!(difference.script.steps.len() <= 4, "{lie}: not shrunk:\n{difference}");
    }
}
