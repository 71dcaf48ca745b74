//! Random scripts on TCP, and on connections in memory.

use afterbay_test_form::net_scripts;

use crate::compare::Pair;
use crate::generate::script;
use crate::memory::Memory;
use crate::player::LIES;
use crate::script::Script;
use crate::stage::Stage;

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

fn compare(pair: &mut Pair<'_>) {
    if let Some(script) = wanted() {
        if let Some(difference) = pair.differs(&script) {
            panic!("differs from TCP:\n{difference}");
        }
        return;
    }
    let seeds = first_seed()..first_seed() + net_scripts();
    let mut ran = 0;
    for seed in seeds {
        if let Some(difference) = pair.differs(&script(seed)) {
            let difference = pair.shrink(difference);
            panic!("AFTERBAY_NET_SEED={seed} differs from TCP:\n{difference}");
        }
        ran += 1;
    }
    assert_eq!(ran, net_scripts());
    println!("{ran} scripts, no difference");
}

#[test]
fn tcp_does_what_tcp_does() {
    compare(&mut Pair { tcp: Stage::new(&[]), other: Stage::new(&[]), demote: &|_| Ok(()) });
}

#[test]
fn memory_does_what_tcp_does() {
    let memory = Memory::new();
    let demote = |stage: &Stage| memory.demote_quickly(stage.processes()[0]);
    let other = Stage::new(&memory.environment());
    compare(&mut Pair { tcp: Stage::new(&[]), other, demote: &demote });
}

/// Connections move in the middle of a script, before and after whatever comes first in it.
#[test]
fn memory_that_comes_later_does_what_tcp_does() {
    let memory = Memory::new();
    let demote = |stage: &Stage| memory.demote_quickly(stage.processes()[0]);
    for after in [1, 4] {
        let other = Stage::new(&memory.environment_after(after));
        compare(&mut Pair { tcp: Stage::new(&[]), other, demote: &demote });
    }
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
    let mut pair = Pair { tcp: Stage::new(&[]), other, demote: &|_| Ok(()) };
    let difference = pair.differs(&serde_json::from_str(ONCE).unwrap());
    assert!(difference.is_none(), "differs from TCP:\n{}", difference.unwrap());
}

/// Controls: ends that do one thing otherwise. Each is found.
#[test]
fn an_end_that_lies_is_found() {
    for lie in ["peek", "event", "errno", "bytes"] {
        let other = Stage::new(&[(LIES.to_owned(), lie.to_owned())]);
        let mut pair = Pair { tcp: Stage::new(&[]), other, demote: &|_| Ok(()) };
        let found = (1..500).find_map(|seed| pair.differs(&script(seed)));
        let difference =
            pair.shrink(found.unwrap_or_else(|| panic!("nobody notices the lie {lie}")));
        assert!(difference.script.steps.len() <= 4, "{lie}: not shrunk:\n{difference}");
    }
}
