//! The blob store's server.
pub mod node;
