//! Which two sockets belong together: by rules, in a simulated network, and with real sockets.

#![cfg(target_os = "linux")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod agent;
mod real;
mod rules;
mod simulation;
mod status;

use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;

use afterbay_net_agent::{Address, ClientId, Destinations, Ends, GroupKey, Matcher, Socket};

/// A socket of which a test says what the kernel would say, also after it was handed over.
#[derive(Debug, Clone)]
struct Said(Rc<Cell<Option<Ends>>>);

impl Said {
    fn new(ends: Ends) -> Self {
        Said(Rc::new(Cell::new(Some(ends))))
    }

    fn say(&self, ends: Ends) {
        self.0.set(Some(ends));
    }
}

impl Socket for Said {
    fn ends(&self) -> Option<Ends> {
        self.0.get()
    }
}

fn address(text: &str) -> Address {
    text.parse::<std::net::SocketAddr>().unwrap().into()
}

fn at(ip: IpAddr, port: u16) -> Address {
    Address { ip, port }
}

fn group(name: &str) -> GroupKey {
    GroupKey { user: 1000, name: name.parse().unwrap() }
}

type Agent = Matcher<Said, u32>;

fn agent(destinations: Destinations) -> Agent {
    Matcher::new(destinations)
}

const CONNECTOR: ClientId = ClientId(1);
const ACCEPTOR: ClientId = ClientId(2);
