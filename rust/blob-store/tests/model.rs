//! Random operations, crashes and faults on a simulated disk, against a plain map. And controls: a store that leaves out
//! one kind of sync must be found out.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod common;

use afterbay_blob_store::SyncPoint;
use afterbay_blob_store::sim::SimDisk;
use common::{Step, World, quiet_steps, rough_steps};
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

fn first_failure(point: Option<SyncPoint>) -> Option<String> {
    fixed_cases(3000).find_map(|(seed, steps)| {
        let disk = SimDisk::new(seed);
        if let Some(point) = point {
            disk.ignore(point);
        }
        World::on(disk).run(&steps).err()
    })
}

#[test]
fn no_sync_is_left_out() {
    assert_eq!(first_failure(None), None);
}

#[test]
fn a_sync_that_is_left_out_is_found_out() {
    let found: Vec<_> =
        SyncPoint::ALL.into_iter().filter(|&p| first_failure(Some(p)).is_none()).collect();
    assert_eq!(found, [], "nobody noticed that these were left out");
}
