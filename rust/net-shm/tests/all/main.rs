//! Real memory, real descriptors, real processes.

#![cfg(target_os = "linux")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod bells;
mod processes;
mod segments;

use afterbay_net_ring::{Capacity, Geometry};

fn geometry(to_acceptor: u64, to_connector: u64) -> Geometry {
    Geometry::new(Capacity::new(to_acceptor).unwrap(), Capacity::new(to_connector).unwrap())
        .unwrap()
}
