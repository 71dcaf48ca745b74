//! Where the addresses of a trust group are, as far as this host knows.
//!
//! It is what decides whether two sockets can be the ends of one connection here, and so what may carry it: an address that is on this
//! host is reached through memory, any other one by TCP. The agent learns it from the sockets that are passed to it. An orchestrator
//! that knows on which host a container is would be asked here, and could name a third way.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use afterbay_net_proto::Reason;

use crate::ends::Ends;
use crate::matcher::ClientId;

/// Addresses that a group may have; with more, nothing more is matched.
const ADDRESSES_MAX: usize = 65_536;

/// The addresses that a group's sockets have had.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// As long as somebody is there.
    of: HashMap<IpAddr, Place>,
    /// An address is in two places, or there are too many. For good: nobody knows which one is meant.
    refused: bool,
}

/// A network namespace, and the clients whose sockets are in it.
#[derive(Debug)]
struct Place {
    netns: u64,
    clients: HashSet<ClientId>,
}

impl Places {
    /// Notes where a socket's own address is.
    pub(crate) fn see(&mut self, client: ClientId, ends: &Ends) {
        let ip = ends.local.ip;
        if ip.is_loopback() || ip.is_unspecified() {
            return;
        }
        let has_room = self.of.len() < ADDRESSES_MAX || self.has(ip);
        if !has_room {
            self.refused = true;
            return;
        }
        let new = || Place { netns: ends.netns, clients: HashSet::new() };
        let place = self.of.entry(ip).or_insert_with(new);
        place.clients.insert(client);
        self.refused |= place.netns != ends.netns;
    }

    /// Whether an address is on this host.
    pub(crate) fn has(&self, ip: IpAddr) -> bool {
        self.of.contains_key(&ip)
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.refused
    }

    /// Whether each address is in one place.
    pub(crate) fn check(&self) -> Result<(), Reason> {
        if self.refused { Err(Reason::DuplicateAddress) } else { Ok(()) }
    }

    /// Forgets the addresses that only this client had: they may be another container's from now on.
    pub(crate) fn leave(&mut self, client: ClientId) {
        self.of.retain(|_, place| {
            place.clients.remove(&client);
            !place.clients.is_empty()
        });
    }
}
