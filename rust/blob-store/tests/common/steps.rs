//! Steps that are taken on a partition and on a plain map, at random.

use afterbay_blob_store::sim::Fault;
use afterbay_blob_store::{Durability, Operation, Properties, PropertyClass, Put};
use proptest::prelude::*;

use super::blob_id;

/// A content: which bytes, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    pub seed: u8,
    pub length: u16,
}

impl Content {
    pub fn body(self) -> Vec<u8> {
        let mut body = vec![0; self.length.into()];
        for (i, part) in body.chunks_mut(8).enumerate() {
            part.fill(self.seed.wrapping_mul(31).wrapping_add(i as u8));
        }
        body
    }

    pub fn properties(self) -> Properties {
        Properties::default().with(PropertyClass::User, "seed", vec![self.seed])
    }
}

#[derive(Debug, Clone)]
pub enum Op {
    Put { blob: u8, content: Content, ttl: u64 },
    Delete(u8),
    Undelete(u8),
    UpdateTtl(u8, u64),
}

impl Op {
    pub fn blob(&self) -> u8 {
        match self {
            Op::Put { blob, .. }
            | Op::Delete(blob)
            | Op::Undelete(blob)
            | Op::UpdateTtl(blob, _) => *blob,
        }
    }

    pub fn operation(&self, now_ms: u64) -> Operation {
        let expires = |ttl: u64| if ttl == 0 { 0 } else { now_ms + ttl };
        match *self {
            Op::Put { blob, content, ttl } => Operation::Put(Put {
                properties: content.properties(),
                expires_ms: expires(ttl),
                ..Put::new(blob_id(blob), content.body())
            }),
            Op::Delete(blob) => Operation::Delete(blob_id(blob)),
            Op::Undelete(blob) => Operation::Undelete(blob_id(blob)),
            Op::UpdateTtl(blob, ttl) => Operation::UpdateTtl(blob_id(blob), expires(ttl)),
        }
    }
}

#[derive(Debug, Clone)]
pub enum Step {
    Batch(Vec<(Op, Durability)>),
    Flush,
    Seal,
    Compact {
        garbage_percent_min: u8,
        tombstones: bool,
    },
    Wait(u64),
    Reopen,
    Kill,
    LosePower,
    /// Notes what is synced.
    Note,
    Close,
    /// From here on, the so many-th change meets a fault.
    Fault(u8, Fault),
    LoseIndexes,
    /// A sector of one of the files goes bad.
    BadSector {
        file: u8,
        at: u16,
    },
    /// All bad sectors can be read again, and the process begins again.
    Heal,
    /// The process or the machine ends, and while it begins again, once more.
    FaultInRecovery {
        after: u8,
        fault: Fault,
        power: (bool, bool),
    },
}

fn durability() -> impl Strategy<Value = Durability> {
    prop_oneof![
        2 => Just(Durability::Fast),
        5 => Just(Durability::Durable),
        1 => Just(Durability::Paranoid),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let blob = || 0..8u8;
    // Few contents, so that the same blob comes again.
    let length = prop_oneof![3 => 0..200u16, 2 => 200..3000u16, 1 => 3000..9000u16];
    let content =
        (0..3u8, length).prop_map(|(seed, length)| Content { seed, length: length / 100 * 100 });
    let ttl = || prop_oneof![3 => Just(0), 1 => 1..100u64];
    prop_oneof![
        6 => (blob(), content, ttl()).prop_map(|(blob, content, ttl)| Op::Put { blob, content, ttl }),
        3 => blob().prop_map(Op::Delete),
        1 => blob().prop_map(Op::Undelete),
        1 => (blob(), ttl()).prop_map(|(blob, ttl)| Op::UpdateTtl(blob, ttl)),
    ]
}

fn batch() -> impl Strategy<Value = Step> {
    proptest::collection::vec((op(), durability()), 1..5).prop_map(Step::Batch)
}

fn quiet_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        24 => batch(),
        1 => Just(Step::Flush),
        2 => Just(Step::Seal),
        3 => (0..60u8, any::<bool>())
            .prop_map(|(garbage_percent_min, tombstones)| Step::Compact { garbage_percent_min, tombstones }),
        3 => (1..60u64).prop_map(Step::Wait),
        1 => Just(Step::Reopen),
        1 => Just(Step::LoseIndexes),
    ]
}

fn note() -> impl Strategy<Value = Step> {
    prop_oneof![2 => Just(Step::Note), 1 => Just(Step::Close)]
}

/// Steps without crashes and faults.
pub fn quiet_steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(prop_oneof![20 => quiet_step(), 1 => note()], 1..60)
}

/// Steps with crashes and faults.
pub fn rough_steps() -> impl Strategy<Value = Vec<Step>> {
    let fault = prop_oneof![
        4 => Just(Fault::Stop),
        2 => Just(Fault::Eio),
        1 => Just(Fault::Enospc),
    ];
    proptest::collection::vec(step_with(fault), 1..60)
}

/// Steps that make and compact segments often, and after which the process or the power ends: a sync of their directory that
/// is left out shows there first.
pub fn turning_steps() -> impl Strategy<Value = Vec<Step>> {
    let compact = (0..20u8, any::<bool>()).prop_map(|(garbage_percent_min, tombstones)| {
        Step::Compact { garbage_percent_min, tombstones }
    });
    let step = prop_oneof![
        8 => batch(),
        4 => Just(Step::Seal),
        6 => compact,
        1 => (1..60u64).prop_map(Step::Wait),
        3 => (0..24u8).prop_map(|after| Step::Fault(after, Fault::Stop)),
        4 => Just(Step::LosePower),
        1 => Just(Step::Kill),
    ];
    proptest::collection::vec(step, 1..60)
}

/// The same with panics, and with notes of what is synced.
pub fn rougher_steps() -> impl Strategy<Value = Vec<Step>> {
    let fault = prop_oneof![
        3 => Just(Fault::Stop),
        2 => Just(Fault::Eio),
        1 => Just(Fault::Enospc),
        2 => Just(Fault::Panic),
    ];
    proptest::collection::vec(prop_oneof![12 => step_with(fault), 1 => note()], 1..60)
}

/// Steps with sectors that go bad, and the process and the power that end.
pub fn worn_steps() -> impl Strategy<Value = Vec<Step>> {
    let bad = (any::<u8>(), any::<u16>()).prop_map(|(file, at)| Step::BadSector { file, at });
    let step = prop_oneof![
        10 => step_with(Just(Fault::Stop)),
        1 => note(),
        2 => bad,
        1 => Just(Step::Heal),
    ];
    proptest::collection::vec(step, 1..60)
}

fn step_with(fault: impl Strategy<Value = Fault> + Clone + 'static) -> impl Strategy<Value = Step> {
    let in_recovery = (0..12u8, fault.clone(), any::<(bool, bool)>())
        .prop_map(|(after, fault, power)| Step::FaultInRecovery { after, fault, power });
    prop_oneof![
        12 => quiet_step(),
        1 => in_recovery,
        1 => Just(Step::Kill),
        2 => Just(Step::LosePower),
        3 => (0..40u8, fault).prop_map(|(after, fault)| Step::Fault(after, fault)),
    ]
}
