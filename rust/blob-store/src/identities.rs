//! Where identities come from: of logs, segments and incarnations.

use uuid::Uuid;

/// Gives identities. A simulation has one that its seed decides.
pub trait Identities: Send + Sync + std::fmt::Debug {
    /// One that nobody has got before.
    fn uuid(&self) -> Uuid;
}

/// Random ones (UUID version 4).
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIdentities;

impl Identities for RandomIdentities {
    fn uuid(&self) -> Uuid {
        Uuid::new_v4()
    }
}
