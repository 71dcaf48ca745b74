//! The offers and addresses of one trust group.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use afterbay_net_proto::Reason;

use crate::ends::{Address, Ends, Socket};
use crate::matcher::{ClientId, Destinations};

/// Addresses that a group may have; with more, nothing more is matched.
const ADDRESSES_MAX: usize = 65_536;

/// A socket that will connect, or has, with what it brings.
#[derive(Debug)]
pub(crate) struct Offer<S, R> {
    pub(crate) client: ClientId,
    pub(crate) reference: u64,
    socket: S,
    rings: R,
}

/// How well an offer fits a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// Both ends say the same of both addresses.
    Exact,
    /// The connector meant another destination.
    Rewritten,
}

#[derive(Debug)]
pub(crate) struct Group<S, R> {
    destinations: Destinations,
    /// By the port that they connect from.
    offers: HashMap<u16, Vec<Offer<S, R>>>,
    /// Where each address is, as long as somebody is there.
    addresses: HashMap<IpAddr, Place>,
    members: HashSet<ClientId>,
    /// An address is in two places, or there are too many. Until all members are gone.
    refused: bool,
}

/// A network namespace, and the clients whose sockets are in it.
#[derive(Debug)]
struct Place {
    netns: u64,
    clients: HashSet<ClientId>,
}

impl<S: Socket, R> Group<S, R> {
    pub(crate) fn new(destinations: Destinations) -> Self {
        Group {
            destinations,
            offers: HashMap::new(),
            addresses: HashMap::new(),
            members: HashSet::new(),
            refused: false,
        }
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.refused
    }

    /// Keeps an offer.
    pub(crate) fn offer(
        &mut self,
        client: ClientId,
        reference: u64,
        socket: S,
        rings: R,
    ) -> Result<(), Reason> {
        let ends = socket.ends().ok_or(Reason::NotTcp)?;
        if ends.local.port == 0 {
            return Err(Reason::NotBound);
        }
        self.see(client, &ends);
        self.check()?;
        let offer = Offer { client, reference, socket, rings };
        self.offers.entry(ends.local.port).or_default().push(offer);
        Ok(())
    }

    /// Takes the offer that fits.
    pub(crate) fn claim(&mut self, client: ClientId, socket: &S) -> Result<Offer<S, R>, Reason> {
        let accepted = socket.ends().ok_or(Reason::NotTcp)?;
        let from = accepted.peer.ok_or(Reason::NotBound)?;
        self.see(client, &accepted);
        let waiting = self.offers.get(&from.port).map_or(&[][..], Vec::as_slice);
        // An offer's own address may be known only now: many sockets connect from whatever address leads there.
        let connected: Vec<_> =
            waiting.iter().map(|offer| (offer.client, offer.socket.ends())).collect();
        for (client, ends) in &connected {
            ends.iter().for_each(|ends| self.see(*client, ends));
        }
        self.check()?;
        let fits = |fit: Fit| {
            let fits = |ends: &Option<Ends>| {
                ends.is_some_and(|ends| self.fit(&ends, &accepted) == Some(fit))
            };
            let mut found = connected.iter().enumerate().filter(|(_, (_, ends))| fits(ends));
            (found.next().map(|(at, _)| at), found.next().is_some())
        };
        let at = match (fits(Fit::Exact), fits(Fit::Rewritten)) {
            ((Some(at), false), _) | ((None, _), (Some(at), false)) => at,
            ((None, _), (None, _)) => return Err(Reason::NoOffer),
            _ => return Err(Reason::Ambiguous),
        };
        self.take(from.port, at).ok_or(Reason::NoOffer)
    }

    /// Drops offers, and closes their descriptors.
    pub(crate) fn drop_offers(&mut self, is_dropped: impl Fn(ClientId, u64) -> bool) {
        self.offers.retain(|_, waiting| {
            waiting.retain(|offer| !is_dropped(offer.client, offer.reference));
            !waiting.is_empty()
        });
    }

    /// Forgets a client, and the addresses that only it had: they may be another container's from now on. Whether anybody is
    /// left.
    pub(crate) fn leave(&mut self, client: ClientId) -> bool {
        self.drop_offers(|of, _| of == client);
        self.members.remove(&client);
        self.addresses.retain(|_, place| {
            place.clients.remove(&client);
            !place.clients.is_empty()
        });
        !self.members.is_empty()
    }

    /// How many offers of a client wait.
    pub(crate) fn offers_of(&self, client: ClientId) -> usize {
        self.offers.values().flatten().filter(|offer| offer.client == client).count()
    }

    fn take(&mut self, port: u16, at: usize) -> Option<Offer<S, R>> {
        let waiting = self.offers.get_mut(&port)?;
        let offer = waiting.swap_remove(at);
        if waiting.is_empty() {
            self.offers.remove(&port);
        }
        Some(offer)
    }

    /// Whether the two are the ends of one connection, and by what.
    fn fit(&self, connector: &Ends, acceptor: &Ends) -> Option<Fit> {
        let destination = connector.peer?;
        if Some(connector.local) != acceptor.peer {
            return None;
        }
        let is_same_netns = connector.netns == acceptor.netns;
        let is_loopback = |address: Address| address.ip.is_loopback();
        if (is_loopback(connector.local) || is_loopback(destination)) && !is_same_netns {
            return None;
        }
        if destination == acceptor.local {
            return Some(Fit::Exact);
        }
        // Redirected beside its source (a sidecar), or meant for a virtual address (a Service).
        let is_plausible = is_same_netns || !self.addresses.contains_key(&destination.ip);
        (self.destinations == Destinations::Rewritten && is_plausible).then_some(Fit::Rewritten)
    }

    /// Notes where an address is.
    fn see(&mut self, client: ClientId, ends: &Ends) {
        self.members.insert(client);
        let ip = ends.local.ip;
        if ip.is_loopback() || ip.is_unspecified() {
            return;
        }
        let has_room = self.addresses.len() < ADDRESSES_MAX || self.addresses.contains_key(&ip);
        let new = || Place { netns: ends.netns, clients: HashSet::new() };
        if !has_room {
            self.refused = true;
            return;
        }
        let place = self.addresses.entry(ip).or_insert_with(new);
        place.clients.insert(client);
        self.refused |= place.netns != ends.netns;
    }

    fn check(&self) -> Result<(), Reason> {
        if self.refused { Err(Reason::DuplicateAddress) } else { Ok(()) }
    }
}

impl<S, R> Offer<S, R> {
    /// What it brings. The socket's descriptor is closed.
    pub(crate) fn into_rings(self) -> R {
        self.rings
    }
}
