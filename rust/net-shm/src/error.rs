//! Why memory or a descriptor is not used.

use afterbay_net_ring::LayoutError;
use rustix::io::Errno;

/// The result of an operation on shared memory.
pub type Result<T> = std::result::Result<T, ShmError>;

/// Why memory or a descriptor is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShmError {
    /// The system refused something.
    #[error("{what}: {errno}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// Its answer.
        errno: Errno,
    },
    /// The file is none of shared memory: on tmpfs, with small pages.
    #[error("the descriptor is not that of a memfd")]
    NotMemory,
    /// The file could be cut off, or grow, or lose its seals.
    #[error("the memory is not sealed: it has {found:#x}, and needs {needed:#x}")]
    Seals {
        /// The seals that it has.
        found: u32,
        /// Those that it needs.
        needed: u32,
    },
    /// The file is longer or shorter than its geometry says.
    #[error("the memory has {found} bytes, and its rings need {needed}")]
    Length {
        /// Its length.
        found: u64,
        /// That of its rings.
        needed: u64,
    },
    /// The file has another layout.
    #[error("the memory is {0}")]
    Layout(#[from] LayoutError),
    /// The descriptor is none of an eventfd.
    #[error("the descriptor is not that of an eventfd")]
    NotEvent,
    /// A message has other descriptors than it says, or is longer than it may be.
    #[error("a message is cut off, or has too many descriptors")]
    Message,
}

/// What the system refused.
pub(crate) fn system(what: &'static str) -> impl Fn(Errno) -> ShmError {
    move |errno| ShmError::System { what, errno }
}
