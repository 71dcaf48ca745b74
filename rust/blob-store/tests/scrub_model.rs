//! Random operations, then bits that turn anywhere in the files: a scrub says of each where it is, and whose it is.

use std::collections::BTreeSet;

use afterbay_blob_format::IndexDirectory;
use afterbay_blob_store::{Error, Finding, Flaw, Harm, Unpaced};
use afterbay_test_form::partition_cases;
use proptest::prelude::*;

use crate::common::{Step, World, blob_id, quiet_steps, scrub};
use crate::model::fixed_cases;

#[derive(Debug, Default)]
struct Tally {
    turned: usize,
    live: usize,
    garbage: usize,
    spare: usize,
}

/// Places that a scrub has to look at: not what is behind the last record, or between the parts of an index.
fn places(world: &World) -> Vec<(String, usize)> {
    let mut places = Vec::new();
    for name in world.disk.names() {
        let content = world.disk.content(&name).unwrap();
        let used = content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let padding = if name.ends_with(".index") {
            let resident = IndexDirectory::resident_bytes(&content).unwrap();
            resident..resident.next_multiple_of(4096)
        } else {
            0..0
        };
        if name != "SYNCED" {
            let checked = (0..used).filter(|at| !padding.contains(at));
            places.extend(checked.map(|at| (name.clone(), at)));
        }
    }
    places
}

/// Why a blob cannot be read as a whole.
fn fails(world: &World, blob: u8) -> Option<Error> {
    let reader = match world.partition().get(blob_id(blob)) {
        Ok(reader) => reader,
        Err(error) => return Some(error),
    };
    reader.properties().err().or_else(|| reader.read().err())
}

fn covers(finding: &Finding, name: &str, at: usize) -> bool {
    let bytes = finding.offset..finding.offset + finding.length;
    finding.file == name && bytes.contains(&(at as u64))
}

fn check(steps: &[Step], seed: u64, turns: &[u32], tally: &mut Tally) -> Result<(), String> {
    let mut world = World::new(seed);
    world.run(steps)?;
    let alive: Vec<u8> = (0..8).filter(|blob| fails(&world, *blob).is_none()).collect();
    let places = places(&world);
    // The same bit twice would be right again.
    let turned: BTreeSet<_> =
        turns.iter().map(|turn| places[*turn as usize % places.len()].clone()).collect();
    turned.iter().for_each(|(name, at)| world.disk.turn_bit(name, *at));
    let findings = scrub(world.partition(), &Unpaced);
    for (name, at) in &turned {
        if !findings.iter().any(|finding| covers(finding, name, *at)) {
            return Err(format!("{name} at {at} is not among {findings:?}"));
        }
    }
    for finding in &findings {
        let hit = turned.iter().any(|(name, at)| covers(finding, name, *at));
        if !hit || finding.flaw != Flaw::Damaged {
            return Err(format!("{finding:?}: only {turned:?} turned"));
        }
    }
    let indexes_are_whole = turned.iter().all(|(name, _)| !name.ends_with(".index"));
    for blob in 0..8 {
        let is_named = |finding: &&Finding| finding.blob == Some(blob_id(blob));
        let is_live = |finding: &Finding| finding.harm == Harm::Live;
        let lost = alive.contains(&blob) && fails(&world, blob).is_some();
        let unknown = findings.iter().any(|f| is_live(f) && f.blob.is_none());
        if lost && !unknown && !findings.iter().filter(is_named).any(is_live) {
            return Err(format!("blob {blob} is lost: {findings:?}"));
        }
        // Other records of a blob are not looked at when it is read.
        let of_content = |f: &&Finding| f.what.contains("body") || f.what.contains("properties");
        let said = findings.iter().filter(is_named).filter(of_content).any(is_live);
        if said && !lost && indexes_are_whole {
            return Err(format!("blob {blob} is not lost: {findings:?}"));
        }
    }
    tally.turned += turned.len();
    let count = |harm| findings.iter().filter(|finding| finding.harm == harm).count();
    tally.live += count(Harm::Live);
    tally.garbage += count(Harm::Garbage);
    tally.spare += count(Harm::Spare);
    Ok(())
}

#[test]
fn each_bit_that_turned_is_found_and_nothing_else() {
    let mut tally = Tally::default();
    let cases = u64::from(partition_cases());
    let turns = proptest::collection::vec(any::<u32>(), 1..6);
    let steps = (quiet_steps(), turns);
    for (seed, (steps, turns)) in fixed_cases(cases, steps) {
        let checked = check(&steps, seed, &turns, &mut tally);
        assert_eq!(checked, Ok(()), "seed {seed}: {turns:?}: {steps:?}");
    }
    let Tally { turned, live, garbage, spare } = tally;
    assert!(live.min(garbage).min(spare) as u64 > cases / 10, "{turned} {live} {garbage} {spare}");
}
