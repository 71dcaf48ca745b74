//! How many replicas have to acknowledge, and to be asked.

pub use afterbay_blob_store::{InvalidPolicy, Policy};

/// How many of `replicas` have to be asked to meet one at least that acknowledged a delete, an undelete or a TTL update of
/// before: whatever the policy of who asks is, a majority did that, and perhaps no more.
pub(crate) fn reads_for(replicas: usize) -> usize {
    let majority = Policy::Majority.acknowledgements(replicas);
    (replicas + 1).saturating_sub(majority).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reads_before_a_delete_meets_who_acknowledged_one() {
        for replicas in 1..=9 {
            for policy in [Policy::One, Policy::K(2), Policy::K(4), Policy::Majority, Policy::All] {
                let acknowledged = policy.lifecycle_acknowledgements(replicas);
                assert!(acknowledged + reads_for(replicas) > replicas, "{policy} of {replicas}");
                assert!(2 * acknowledged > replicas, "{policy} of {replicas}");
            }
        }
        assert_eq!([1, 2, 3, 4, 5].map(reads_for), [1, 1, 2, 2, 3]);
    }
}
