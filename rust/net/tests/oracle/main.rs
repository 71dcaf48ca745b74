//! Programs notice nothing: what is done on connections in memory comes to what it comes to on TCP.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]
#![cfg(target_os = "linux")]

mod beside;
mod calls;
mod channels;
mod compare;
mod ends;
mod epolls;
mod family;
mod forks;
mod generate;
mod leaves;
mod lingers;
mod memory;
mod namespaces;
mod player;
mod programs;
mod python;
mod redis;
mod relays;
mod script;
mod scripts;
mod silence;
mod sleeps;
mod stage;
mod system;
mod vfork;

use script::Side;

/// Not a test by itself: processes that play are started as this one.
#[test]
fn plays() {
    if let Ok(side) = std::env::var(player::PLAYS) {
        player::play(if side == "0" { Side::Connector } else { Side::Acceptor });
    }
}
