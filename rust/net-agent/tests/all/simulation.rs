//! A network of containers with few ports, so that addresses and ports are used again and again, by whom they are not meant for.
//! Whatever is connected, accepted and closed in whatever order: no acceptor gets the rings of another connection, and who can
//! be matched is.

use std::net::IpAddr;

use afterbay_net_agent::{Address, ClientId, Destinations, Ends};
use afterbay_net_proto::Reason;
use afterbay_test_form::network_cases;

use crate::{Agent, Said, agent, at, group};

const CONTAINERS: u64 = 6;
/// Some containers have no library.
const WITHOUT_LIBRARY: u64 = 5;
/// The container behind whose address others can be hidden.
const ROUTER: u64 = 0;
const PORTS: u64 = 4;
const STEPS: usize = 300;

/// Numbers that look random; the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

/// What the network does, and what the agent is told.
#[derive(Debug, Clone, Copy)]
struct World {
    destinations: Destinations,
    /// Virtual addresses stand for containers.
    has_services: bool,
    /// Sources are translated to the router's address.
    has_translated_sources: bool,
    /// The agent believes what clients say of their addresses, and one of them lies.
    believes_clients: bool,
}

const PLAIN: World = World {
    destinations: Destinations::Exact,
    has_services: false,
    has_translated_sources: false,
    believes_clients: false,
};

struct Connection {
    number: u32,
    from: u64,
    to: u64,
    connector: Ends,
    acceptor: Ends,
    is_accepted: bool,
    is_direct: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    matched: usize,
    swapped: usize,
    /// Both ends have the library, and nothing was translated.
    missed: usize,
    on_tcp: usize,
}

struct Network {
    world: World,
    random: Random,
    agent: Agent,
    connections: Vec<Connection>,
    made: u32,
    outcome: Outcome,
}

fn ip(container: u64) -> IpAddr {
    [10, 0, 0, container as u8 + 1].into()
}

fn service(container: u64) -> IpAddr {
    [10, 96, 0, container as u8 + 1].into()
}

impl Network {
    fn port(&mut self) -> u16 {
        40_000 + self.random.below(PORTS) as u16
    }

    fn happens(&mut self, is_possible: bool) -> bool {
        is_possible && self.random.below(3) == 0
    }

    /// A connection, if the kernels on its way allow it: their addresses and ports are not in use.
    fn connect(&mut self) {
        let (from, to) = (self.random.below(CONTAINERS), self.random.below(CONTAINERS));
        let port = self.port();
        let loopback = IpAddr::from([127, 0, 0, 1]);
        let is_loopback = from == to;
        let (own, target) = if is_loopback { (loopback, loopback) } else { (ip(from), ip(to)) };
        let is_service = self.happens(self.world.has_services && !is_loopback);
        // Who is hidden on the way to somebody is hidden there by each name, and maybe only by its virtual one.
        let is_always_hidden = (from * 7 + to * 3) % 4 == 0;
        let is_hidden = self.world.has_translated_sources
            && !is_loopback
            && from != ROUTER
            && (is_always_hidden || self.happens(is_service));
        let destination = if is_service { service(to) } else { target };
        let seen = if is_hidden { at(ip(ROUTER), self.port()) } else { at(own, port) };
        let ends = |local: Address, peer: Address, container: u64| Ends {
            local,
            peer: Some(peer),
            netns: container + 1,
        };
        let connector = ends(at(own, port), at(destination, 80), from);
        let acceptor = ends(at(target, 80), seen, to);
        let is_used =
            self.connections.iter().any(|c| c.connector == connector || c.acceptor == acceptor);
        if is_used {
            return;
        }
        self.made += 1;
        if from < WITHOUT_LIBRARY {
            self.offer(from, connector);
        }
        self.connections.push(Connection {
            number: self.made,
            from,
            to,
            connector,
            acceptor,
            is_accepted: false,
            is_direct: !is_service && !is_hidden,
        });
    }

    /// Before the first packet; the address may not be known yet.
    fn offer(&mut self, from: u64, connector: Ends) {
        let unbound = at([0, 0, 0, 0].into(), connector.local.port);
        let local = if self.random.below(2) == 0 { unbound } else { connector.local };
        let socket = Said::new(Ends { local, peer: None, ..connector });
        let reference = u64::from(self.made);
        let offered =
            self.agent.offer(&group("shop"), ClientId(from), reference, socket.clone(), self.made);
        assert_eq!(offered, Ok(()));
        let mut others = self.connections.iter().map(|connection| connection.connector);
        let other = others.next_back().filter(|_| self.world.believes_clients);
        socket.say(other.unwrap_or(connector));
    }

    fn accept(&mut self) {
        let waiting: Vec<_> =
            (0..self.connections.len()).filter(|&at| !self.connections[at].is_accepted).collect();
        if waiting.is_empty() {
            return;
        }
        let at = waiting[self.random.below(waiting.len() as u64) as usize];
        let connection = &mut self.connections[at];
        connection.is_accepted = true;
        if connection.to >= WITHOUT_LIBRARY {
            return;
        }
        let (group, client) = (group("shop"), ClientId(connection.to));
        match self.agent.claim(&group, client, &Said::new(connection.acceptor)) {
            Ok((_, _, rings)) if rings == connection.number => self.outcome.matched += 1,
            Ok(_) => self.outcome.swapped += 1,
            Err(reason) => {
                assert!(matches!(reason, Reason::NoOffer | Reason::Ambiguous), "{reason}");
                let is_missed = connection.from < WITHOUT_LIBRARY && connection.is_direct;
                self.outcome.missed += usize::from(is_missed);
                self.outcome.on_tcp += 1;
            }
        }
    }

    fn close(&mut self) {
        if self.connections.is_empty() {
            return;
        }
        let at = self.random.below(self.connections.len() as u64) as usize;
        let closed = self.connections.swap_remove(at);
        self.agent.withdraw(ClientId(closed.from), closed.number.into());
    }

    /// A program ends, and one like it begins. What it connected is closed.
    fn restart(&mut self) {
        let container = self.random.below(CONTAINERS);
        self.connections.retain(|connection| connection.from != container);
        self.agent.leave(ClientId(container));
    }
}

fn run(world: World) -> Outcome {
    let mut all = Outcome::default();
    for seed in 1..=network_cases() {
        let mut network = Network {
            world,
            random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            agent: agent(world.destinations),
            connections: Vec::new(),
            made: 0,
            outcome: Outcome::default(),
        };
        for _ in 0..STEPS {
            match network.random.below(20) {
                0..10 => network.connect(),
                10..17 => network.accept(),
                17..19 => network.close(),
                _ => network.restart(),
            }
        }
        all.matched += network.outcome.matched;
        all.swapped += network.outcome.swapped;
        all.missed += network.outcome.missed;
        all.on_tcp += network.outcome.on_tcp;
    }
    all
}

#[test]
fn nothing_is_swapped_and_what_can_be_matched_is() {
    let worlds = [
        PLAIN,
        World { has_translated_sources: true, ..PLAIN },
        World { has_services: true, has_translated_sources: true, ..PLAIN },
        World { has_services: true, destinations: Destinations::Rewritten, ..PLAIN },
    ];
    for world in worlds {
        let outcome = run(world);
        assert_eq!((outcome.swapped, outcome.missed), (0, 0), "{world:?}: {outcome:?}");
        assert!(outcome.matched > 1000 && outcome.on_tcp > 100, "{world:?}: {outcome:?}");
    }
}

/// The control: addresses from clients, one of whom says those of another connection.
#[test]
fn an_agent_that_believes_clients_swaps_connections() {
    let outcome = run(World { believes_clients: true, ..PLAIN });
    assert!(outcome.swapped > 0, "{outcome:?}");
}

/// Why rewritten destinations have to be allowed: a translated source is taken for a connection of the router itself.
#[test]
fn rewritten_destinations_do_not_go_with_translated_sources() {
    let world = World {
        has_services: true,
        has_translated_sources: true,
        destinations: Destinations::Rewritten,
        ..PLAIN
    };
    let outcome = run(world);
    assert!(outcome.swapped > 0, "{outcome:?}");
}
