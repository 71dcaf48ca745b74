//! Random operations, crashes and faults on a simulated disk, against a plain map. And controls: a store that leaves out
//! one kind of sync must be found out.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod common;

use afterbay_blob_store::SyncPoint;
use afterbay_blob_store::sim::SimDisk;
use common::{Step, Tally, World, quiet_steps, rough_steps};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_partition_is_a_map(steps in quiet_steps(), seed: u64) {
        World::new(seed).run(&steps).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn what_is_acknowledged_survives(steps in rough_steps(), seed: u64) {
        World::new(seed).run(&steps).map_err(TestCaseError::fail)?;
    }
}

/// The same cases in each run.
fn fixed_cases(count: u64) -> impl Iterator<Item = (u64, Vec<Step>)> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(cases(1), rng);
    let steps = rough_steps();
    (0..count).map(move |seed| (seed, steps.new_tree(&mut runner).expect("no filter").current()))
}

fn first_failure(point: Option<SyncPoint>, tally: &mut Tally) -> Option<String> {
    fixed_cases(10_000).find_map(|(seed, steps)| {
        let disk = SimDisk::new(seed);
        if let Some(point) = point {
            disk.ignore(point);
        }
        let mut world = World::on(disk);
        let failure = world.run(&steps).err();
        tally.add(&world.tally);
        failure
    })
}

#[test]
fn no_sync_is_left_out() {
    let mut tally = Tally::default();
    assert_eq!(first_failure(None, &mut tally), None);
    // What the cases are for has happened, and often.
    let Tally { doubtful, compactions, cuts, rebuilt_indexes, alive } = tally;
    let least = doubtful.min(compactions).min(cuts).min(rebuilt_indexes).min(alive);
    assert!(least > 100, "{tally:?}");
}

fn is_missed(point: SyncPoint) -> bool {
    first_failure(Some(point), &mut Tally::default()).is_none()
}

#[test]
fn a_sync_that_is_left_out_is_found_out() {
    let found: Vec<_> = SyncPoint::ALL.into_iter().filter(|&point| is_missed(point)).collect();
    assert_eq!(found, [], "nobody noticed that these were left out");
}
