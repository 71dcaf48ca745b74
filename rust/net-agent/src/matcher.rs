//! Offers of all trust groups, and claims.

use std::collections::HashMap;

use afterbay_net_proto::{GroupName, Reason};

use crate::ends::Socket;
use crate::group::Group;

/// Offers of one client that wait. Of more, it is told that they stay on TCP.
pub const OFFERS_OF_CLIENT_MAX: usize = 1024;

/// A connection to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// Who may share memory: programs of one user, in a group that they name. The user is what the kernel says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GroupKey {
    /// The user's number.
    pub user: u32,
    /// The group.
    pub name: GroupName,
}

/// What is between the programs of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Destinations {
    /// Connections arrive where they were meant to, or stay on TCP.
    #[default]
    Exact,
    /// Virtual addresses stand for several programs (Services), and connections are redirected beside their source (sidecars).
    /// To be allowed only where no address of the group hides others behind it: a translated source could be taken for a
    /// connection of that address itself.
    Rewritten,
}

/// Which two sockets are the ends of one connection. `R` is what an offer brings. One thread at a time.
#[derive(Debug)]
pub struct Matcher<S, R> {
    destinations: Destinations,
    groups: HashMap<GroupKey, Group<S, R>>,
    waiting: HashMap<ClientId, usize>,
}

impl<S: Socket, R> Matcher<S, R> {
    /// Without offers.
    pub fn new(destinations: Destinations) -> Self {
        Matcher { destinations, groups: HashMap::new(), waiting: HashMap::new() }
    }

    /// Keeps what a socket brings that is about to connect, until the other end claims it.
    pub fn offer(
        &mut self,
        group: &GroupKey,
        client: ClientId,
        reference: u64,
        socket: S,
        rings: R,
    ) -> Result<(), Reason> {
        if self.waiting.get(&client).is_some_and(|&waiting| waiting >= OFFERS_OF_CLIENT_MAX) {
            return Err(Reason::TooMany);
        }
        self.group(group).offer(client, reference, socket, rings)?;
        *self.waiting.entry(client).or_insert(0) += 1;
        Ok(())
    }

    /// What the other end of an accepted socket brought, who that is, and its name for its socket.
    pub fn claim(
        &mut self,
        group: &GroupKey,
        client: ClientId,
        socket: &S,
    ) -> Result<(ClientId, u64, R), Reason> {
        let offer = self.group(group).claim(client, socket)?;
        if let Some(waiting) = self.waiting.get_mut(&offer.client) {
            *waiting = waiting.saturating_sub(1);
        }
        Ok((offer.client, offer.reference, offer.into_rings()))
    }

    /// Drops one offer, and closes its descriptors.
    pub fn withdraw(&mut self, client: ClientId, reference: u64) {
        let mut left = 0;
        for group in self.groups.values_mut() {
            group.drop_offers(|of, offered| of == client && offered == reference);
            left += group.offers_of(client);
        }
        self.waiting.insert(client, left);
    }

    /// Drops all offers of a client that is gone, and forgets where it was.
    pub fn leave(&mut self, client: ClientId) {
        self.groups.retain(|_, group| group.leave(client));
        self.waiting.remove(&client);
    }

    /// Offers of all clients that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.values().sum()
    }

    /// Groups in which an address names two containers: nothing is matched there any more.
    pub fn refused_groups(&self) -> impl Iterator<Item = &GroupKey> {
        self.groups.iter().filter(|(_, group)| group.is_refused()).map(|(key, _)| key)
    }

    fn group(&mut self, key: &GroupKey) -> &mut Group<S, R> {
        let destinations = self.destinations;
        self.groups.entry(key.clone()).or_insert_with(|| Group::new(destinations))
    }
}
