//! Every target for a time (`afterbay_test_form::fuzz_time`), after all that was ever found.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use afterbay_fuzz::{Finding, Runner, TARGETS, Target, quiet};
use afterbay_test_form::{PATIENCE, Wait, fuzz_time};

/// Threads that run targets.
const THREADS: usize = 2;

fn folder(kind: &str, target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(target.name)
}

fn run(target: Target) -> Result<(u64, usize), Finding> {
    let mut runner = Runner::new(target, 7);
    runner.replay(&folder("regressions", &target))?;
    runner.replay(&folder("corpus", &target))?;
    runner.run_for(fuzz_time())?;
    // A target that is always refused at its first byte tests nothing.
    let wait = Wait::until("inputs end in several ways");
    while runner.outcomes() < 2 && wait.may_go_on() {
        runner.run_for(fuzz_time())?;
    }
    Ok((runner.runs, runner.outcomes()))
}

/// Where the input can be read again.
fn keep(target: &Target, finding: &Finding) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("found-{}", target.name));
    std::fs::write(&path, &finding.input).unwrap();
    path
}

#[test]
fn no_parser_fails() {
    let targets = std::sync::Mutex::new(TARGETS.to_vec());
    let next = || targets.lock().unwrap().pop();
    let work = || {
        let mut done = Vec::new();
        while let Some(target) = next() {
            done.push((target, run(target)));
        }
        done
    };
    let done: Vec<_> = quiet(|| {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        })
    });
    let mut failed = Vec::new();
    for (target, result) in &done {
        match result {
            Ok((runs, outcomes)) => {
                println!("{:15} {runs:9} runs, {outcomes:4} outcomes", target.name);
                assert!(*outcomes >= 2, "{}: all inputs end in the same way", target.name);
            }
            Err(finding) => {
                let path = keep(target, finding);
                failed.push(format!("{}: {} ({})", target.name, finding.message, path.display()));
            }
        }
    }
    assert_eq!(done.len(), TARGETS.len());
    assert_eq!(failed, Vec::<String>::new(), "copy the file into regressions/TARGET, and mend it");
}

/// The seeds are what the parsers are for: each target accepts one.
#[test]
fn seeds_are_accepted() {
    for target in TARGETS {
        let accepted = (target.seeds)().iter().any(|seed| {
            let said = (target.run)(seed);
            said.starts_with("ok") || said.ends_with(" damaged")
        });
        assert!(accepted, "{}", target.name);
    }
}

/// A parser that trusts the count it reads.
fn planted(bytes: &[u8]) -> String {
    let Some((b"PLNT", rest)) = bytes.split_first_chunk() else {
        return "magic".to_owned();
    };
    let Some((count, numbers)) = rest.split_first_chunk() else {
        return "too short".to_owned();
    };
    let count = usize::from(u16::from_be_bytes(*count));
    (0..count).map(|i| usize::from(numbers[4 * i])).sum::<usize>().to_string()
}

#[test]
fn a_planted_bug_is_found() {
    let seeds = || vec![b"PLNT\x00\x02\x01\x00\x00\x00\x02\x00\x00\x00".to_vec()];
    let target = Target { name: "planted", seeds, run: planted };
    let mut runner = Runner::new(target, 7);
    let finding = runner.run_for(PATIENCE).unwrap_err();
    assert!(finding.message.contains("out of bounds"), "{finding:?}");
    assert!(finding.input.len() <= 10, "it was made short: {finding:?}");
}
