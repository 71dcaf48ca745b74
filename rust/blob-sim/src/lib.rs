//! Deterministic simulation of the blob store on 3 to 9 nodes: one thread, simulated time, disks, network and clocks, and everything that
//! goes wrong drawn from a seed. The nodes are those of `afterbay-blob-cluster` over real partitions.
//!
//! ```text
//!              +--------------------- World: events by (time, number) ----------------------+
//!  Clients --->|  Network: delay, loss,      Machine: Node, LocalStore,     SimDisk: what    |
//!   stories    |  doubles, cuts              WallClock                      was not synced   |
//!     |        +----------------------------------------------------------------------------+
//!     |              ^ Nemesis: kills, power, cuts, lost disks, flips ...     | check
//!     +--------------------------------------------------------------------->-+
//! ```
//!
//! After the simulators of FoundationDB (Zhou et al., SIGMOD '21, section 4) and TigerBeetle (VOPR): a *safety* phase with
//! faults, in which nothing wrong may be said, then a *liveness* phase without, in which what is healthy must become equal within a
//! bounded time. Each seed has settings of its own (swarm testing). The same seed gives the same events, byte for byte.

mod check;
pub mod cli;
mod clients;
mod events;
mod faults;
mod lives;
mod machine;
mod nemesis;
mod network;
mod random;
mod report;
mod run;
mod settings;
mod story;
mod sweep;
mod trace;
mod violation;
mod wall_clock;
mod without;
mod world;

pub use clients::Counts;
pub use faults::{FaultCounts, FaultKind};
pub use run::{Outcome, simulate};
pub use settings::Settings;
pub use sweep::{Sweep, sweep};
pub use trace::Trace;
pub use violation::{Law, Violation};
pub use without::Without;
