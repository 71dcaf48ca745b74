//! What goes wrong.

use std::collections::BTreeMap;
use std::fmt;

macro_rules! fault_kinds {
    ($($(#[$comment:meta])* $kind:ident = $name:literal,)*) => {
        /// A kind of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultKind {
            $($(#[$comment])* $kind,)*
        }

        impl FaultKind {
            /// All of them.
            pub const ALL: &[FaultKind] = &[$(FaultKind::$kind,)*];

            /// As it is written into settings.
            pub fn name(self) -> &'static str {
                match self {
                    $(FaultKind::$kind => $name,)*
                }
            }
        }
    };
}

fault_kinds! {
    /// A process is killed, and started again later. What it wrote stays.
    Kill = "kill",
    /// The power of a node is lost, and comes back later. What was not synced is lost or torn.
    PowerLoss = "power-loss",
    /// The power of all nodes is lost at once.
    Darkness = "darkness",
    /// A node stands, and goes on later with what came meanwhile.
    Pause = "pause",
    /// Nothing comes from one node to another one, while the other direction works.
    CutOneWay = "cut-one-way",
    /// A node is cut off from all others.
    Isolate = "isolate",
    /// All cuts end.
    Join = "join",
    /// A clock is set forward or back.
    ClockJump = "clock-jump",
    /// One of the next operations of a disk fails.
    DiskError = "disk-error",
    /// One of the next writes of a disk finds no room.
    DiskFull = "disk-full",
    /// The power is lost in the middle of one of the next operations of a disk.
    TornWrite = "torn-write",
    /// A bit on a disk turns.
    BitFlip = "bit-flip",
    /// A sector of a disk cannot be read any more.
    BadSector = "bad-sector",
    /// A disk is lost with all that is on it; an empty one takes its place.
    LostDisk = "lost-disk",
    /// A disk gets the content that it had some time ago, as from a backup.
    Restore = "restore",
    /// A node is lost for good; by a new map, an empty one takes its place.
    Replace = "replace",
}

/// How often each kind has happened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultCounts(BTreeMap<FaultKind, u64>);

impl FaultCounts {
    pub(crate) fn add(&mut self, kind: FaultKind) {
        *self.0.entry(kind).or_default() += 1;
    }

    pub(crate) fn add_all(&mut self, other: &FaultCounts) {
        for (&kind, count) in &other.0 {
            *self.0.entry(kind).or_default() += count;
        }
    }

    /// How often one has.
    pub fn of(&self, kind: FaultKind) -> u64 {
        self.0.get(&kind).copied().unwrap_or(0)
    }

    /// How often any has.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

impl fmt::Display for FaultCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, &kind) in FaultKind::ALL.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{kind} {}", self.of(kind))?;
        }
        Ok(())
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
