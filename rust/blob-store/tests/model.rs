//! Random operations, crashes and faults on a simulated disk, against a plain map. And controls: a store that leaves out
//! one of its syncs must be found out.

use afterbay_blob_store::sim::SimDisk;
use afterbay_blob_store::{SyncPoint, SyncScope};
use afterbay_test_form::{
    CONTROL_CASES, fixed_rough_cases, fixed_worn_cases, partition_cases, rough_cases, worn_cases,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::common::{
    Tally, World, quiet_steps, rough_steps, rougher_steps, turning_steps, worn_steps,
};

fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() }
}

proptest! {
    #![proptest_config(cases(partition_cases()))]

    #[test]
    fn a_partition_is_a_map(steps in quiet_steps(), seed: u64) {
        World::new(seed).run(&steps).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(cases(rough_cases()))]

    #[test]
    fn what_is_acknowledged_survives(steps in rougher_steps(), seed: u64) {
        World::new(seed).run(&steps).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(cases(worn_cases()))]

    #[test]
    fn what_cannot_be_read_is_not_lost(steps in worn_steps(), seed: u64) {
        World::new(seed).run(&steps).map_err(TestCaseError::fail)?;
    }
}

/// The same cases in each run.
pub(crate) fn fixed_cases<T: std::fmt::Debug>(
    count: u64,
    steps: impl Strategy<Value = T>,
) -> impl Iterator<Item = (u64, T)> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(cases(1), rng);
    (0..count).map(move |seed| (seed, steps.new_tree(&mut runner).expect("no filter").current()))
}

fn first_failure(cases: u64, point: Option<SyncPoint>, tally: &mut Tally) -> Option<String> {
    fixed_cases(cases, prop_oneof![rough_steps(), turning_steps()]).find_map(|(seed, steps)| {
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
    let cases = fixed_rough_cases();
    assert_eq!(first_failure(cases, None, &mut tally), None);
    // What the cases are for has happened, and often.
    let Tally { doubtful, compactions, cuts, rebuilt_indexes, alive, .. } = tally;
    let least = doubtful.min(compactions).min(cuts).min(rebuilt_indexes).min(alive);
    assert!(least > cases / 100, "{tally:?}");
}

fn first_failure_of_worn_disks(cases: u64, hides_bad: bool, tally: &mut Tally) -> Option<String> {
    fixed_cases(cases, worn_steps()).find_map(|(seed, steps)| {
        let disk = SimDisk::new(seed);
        if hides_bad {
            disk.hide_bad_sectors();
        }
        let mut world = World::on(disk);
        let failure = world.run(&steps).err();
        tally.add(&world.tally);
        failure.map(|failure| format!("seed {seed}: {failure}: {steps:?}"))
    })
}

#[test]
fn bad_sectors_lose_nothing_that_can_be_read_later() {
    let mut tally = Tally::default();
    let cases = fixed_worn_cases();
    assert_eq!(first_failure_of_worn_disks(cases, false, &mut tally), None);
    let Tally { compactions, cuts, unreadable, unreadable_ranges, heals, left_alone, .. } = tally;
    let least = compactions.min(cuts).min(unreadable).min(unreadable_ranges).min(heals);
    assert!(least.min(left_alone) > cases / 150, "{tally:?}");
    let control = first_failure_of_worn_disks(CONTROL_CASES, true, &mut Tally::default());
    assert!(control.is_some(), "nobody noticed a store that takes for torn what cannot be read");
}

fn is_missed(point: SyncPoint) -> bool {
    first_failure(CONTROL_CASES, Some(point), &mut Tally::default()).is_none()
}

#[test]
fn a_sync_that_is_left_out_is_found_out() {
    let points = SyncPoint::ALL.iter().filter(|point| point.scope() == SyncScope::Partition);
    let missed: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = points.map(|point| (point, scope.spawn(|| is_missed(*point)))).collect();
        let missed =
            all.into_iter().filter_map(|(point, thread)| thread.join().unwrap().then_some(point));
        missed.collect()
    });
    assert_eq!(missed, [] as [&SyncPoint; 0], "nobody noticed that these were left out");
}
