//! The offers of one trust group, and which of them a claim is for.

use std::collections::{HashMap, HashSet};

use afterbay_net_proto::Reason;

use crate::ends::{Address, Ends, Socket};
use crate::matcher::{ClientId, Destinations};
use crate::places::Places;

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
    places: Places,
    members: HashSet<ClientId>,
}

impl<S: Socket, R> Group<S, R> {
    pub(crate) fn new(destinations: Destinations) -> Self {
        Group {
            destinations,
            offers: HashMap::new(),
            places: Places::default(),
            members: HashSet::new(),
        }
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.places.is_refused()
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
        self.places.check()?;
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
        self.places.check()?;
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

    /// Forgets a client, and where it was. Whether anybody is left.
    pub(crate) fn leave(&mut self, client: ClientId) -> bool {
        self.drop_offers(|of, _| of == client);
        self.members.remove(&client);
        self.places.leave(client);
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
        let is_plausible = is_same_netns || !self.places.has(destination.ip);
        (self.destinations == Destinations::Rewritten && is_plausible).then_some(Fit::Rewritten)
    }

    fn see(&mut self, client: ClientId, ends: &Ends) {
        self.members.insert(client);
        self.places.see(client, ends);
    }
}

impl<S, R> Offer<S, R> {
    /// What it brings. The socket's descriptor is closed.
    pub(crate) fn into_rings(self) -> R {
        self.rings
    }
}
