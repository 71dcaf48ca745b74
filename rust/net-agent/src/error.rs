//! What the agent and its clients cannot do.

use std::path::PathBuf;

use afterbay_net_proto::DecodeError;
use afterbay_net_shm::ShmError;
use rustix::io::Errno;

/// The result of an operation of an agent, or of one of its clients.
pub type Result<T> = std::result::Result<T, AgentError>;

/// What the agent and its clients cannot do. A program goes on by TCP then.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The agent's socket.
    #[error("{path}: {what}: {errno}")]
    Socket {
        /// Where it is.
        path: PathBuf,
        /// What was asked for.
        what: &'static str,
        /// The system's answer.
        errno: Errno,
    },
    /// The system refused something.
    #[error("{what}: {errno}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// Its answer.
        errno: Errno,
    },
    /// A message could not be sent or received.
    #[error("the agent: {0}")]
    Message(#[from] ShmError),
    /// What was received is no message.
    #[error("the agent: {0}")]
    Decode(#[from] DecodeError),
    /// The agent is gone.
    #[error("the agent has ended")]
    Gone,
    /// The agent answers something else.
    #[error("the agent answers another question")]
    Answer,
}
