//! Each rule of the specification.

use afterbay_net_agent::{ClientId, Destinations, Ends, OFFERS_OF_CLIENT_MAX};
use afterbay_net_proto::Reason;

use crate::{ACCEPTOR, Agent, CONNECTOR, Said, address, agent, group};

fn ends(local: &str, peer: Option<&str>, netns: u64) -> Ends {
    Ends { local: address(local), peer: peer.map(address), netns }
}

/// What comes of a connection from a socket of one container to one of another.
fn pair_in(agent: &mut Agent, connector: Ends, acceptor: Ends) -> Result<u32, Reason> {
    agent.offer(&group("shop"), CONNECTOR, 7, Said::new(connector), 42)?;
    let claimed = agent.claim(&group("shop"), ACCEPTOR, &Said::new(acceptor));
    claimed.map(|(client, reference, rings)| {
        assert_eq!((client, reference), (CONNECTOR, 7));
        rings
    })
}

fn pair(connector: Ends, acceptor: Ends) -> Result<u32, Reason> {
    pair_in(&mut agent(Destinations::Exact), connector, acceptor)
}

fn pair_rewritten(connector: Ends, acceptor: Ends) -> Result<u32, Reason> {
    pair_in(&mut agent(Destinations::Rewritten), connector, acceptor)
}

const A: &str = "10.0.0.1:40000";
const B: &str = "10.0.0.2:80";

#[test]
fn both_ends_say_the_same() {
    assert_eq!(pair(ends(A, Some(B), 1), ends(B, Some(A), 2)), Ok(42));
    assert_eq!(pair(ends(A, Some(B), 1), ends(B, Some("10.0.0.3:40000"), 2)), Err(Reason::NoOffer));
    assert_eq!(pair(ends(A, Some(B), 1), ends(B, Some("10.0.0.1:40001"), 2)), Err(Reason::NoOffer));
    assert_eq!(pair(ends(A, Some(B), 1), ends("10.0.0.2:81", Some(A), 2)), Err(Reason::NoOffer));
    // As the JVM has it on one side.
    let mapped = ends("[::ffff:10.0.0.2]:80", Some("[::ffff:10.0.0.1]:40000"), 2);
    assert_eq!(pair(ends(A, Some(B), 1), mapped), Ok(42));
}

#[test]
fn an_offer_is_made_before_its_address_is_known() {
    let mut agent = agent(Destinations::Exact);
    let connector = Said::new(ends("0.0.0.0:40000", None, 1));
    let acceptor = Said::new(ends(B, Some(A), 2));
    agent.offer(&group("shop"), CONNECTOR, 7, connector.clone(), 42).unwrap();
    let claim = |agent: &mut Agent| agent.claim(&group("shop"), ACCEPTOR, &acceptor);
    // Not connected.
    assert_eq!(claim(&mut agent), Err(Reason::NoOffer));
    connector.say(ends(A, Some(B), 1));
    assert_eq!(claim(&mut agent), Ok((CONNECTOR, 7, 42)));
    // Once.
    assert_eq!(claim(&mut agent), Err(Reason::NoOffer));
}

#[test]
fn loopback_is_another_one_in_each_namespace() {
    let (from, to) = ("127.0.0.1:40000", "127.0.0.1:80");
    assert_eq!(pair(ends(from, Some(to), 1), ends(to, Some(from), 1)), Ok(42));
    assert_eq!(pair(ends(from, Some(to), 1), ends(to, Some(from), 2)), Err(Reason::NoOffer));
    // Nothing is refused because of it.
    let mut agent = agent(Destinations::Exact);
    for netns in [1, 2] {
        assert_eq!(
            pair_in(&mut agent, ends(from, Some(to), netns), ends(to, Some(from), netns)),
            Ok(42)
        );
    }
}

#[test]
fn a_rewritten_destination_has_to_be_allowed_and_plausible() {
    let service = ends(A, Some("10.96.0.1:80"), 1);
    assert_eq!(pair(service, ends(B, Some(A), 2)), Err(Reason::NoOffer));
    assert_eq!(pair_rewritten(service, ends(B, Some(A), 2)), Ok(42));
    // A sidecar, in the same namespace.
    let sidecar = ends("127.0.0.1:15001", Some(A), 1);
    assert_eq!(pair_rewritten(service, ends("10.0.0.1:15001", Some(A), 1)), Ok(42));
    assert_eq!(pair_rewritten(ends(A, Some(B), 1), sidecar), Ok(42));
    assert_eq!(pair(ends(A, Some(B), 1), sidecar), Err(Reason::NoOffer));
    // It was meant for somebody who is known.
    let mut agent = agent(Destinations::Rewritten);
    let other = Said::new(ends("10.0.0.3:50000", None, 3));
    agent.offer(&group("shop"), ClientId(3), 1, other, 1).unwrap();
    let for_other = ends(A, Some("10.0.0.3:80"), 1);
    assert_eq!(pair_in(&mut agent, for_other, ends(B, Some(A), 2)), Err(Reason::NoOffer));
}

#[test]
fn of_two_that_could_be_meant_none_is() {
    let mut agent = agent(Destinations::Rewritten);
    let offer = |agent: &mut Agent, reference, destination| {
        let socket = Said::new(ends(A, Some(destination), 1));
        agent.offer(&group("shop"), CONNECTOR, reference, socket, 0).unwrap();
    };
    // One address and port, connected to two virtual addresses at once.
    offer(&mut agent, 1, "10.96.0.1:80");
    offer(&mut agent, 2, "10.96.0.2:80");
    let acceptor = Said::new(ends(B, Some(A), 2));
    assert_eq!(agent.claim(&group("shop"), ACCEPTOR, &acceptor), Err(Reason::Ambiguous));
    // One that fits exactly comes first.
    offer(&mut agent, 3, B);
    assert_eq!(agent.claim(&group("shop"), ACCEPTOR, &acceptor), Ok((CONNECTOR, 3, 0)));
    offer(&mut agent, 4, B);
    offer(&mut agent, 5, B);
    assert_eq!(agent.claim(&group("shop"), ACCEPTOR, &acceptor), Err(Reason::Ambiguous));
}

#[test]
fn an_address_in_two_places_refuses_the_group() {
    let mut agent = agent(Destinations::Exact);
    assert_eq!(pair_in(&mut agent, ends(A, Some(B), 1), ends(B, Some(A), 2)), Ok(42));
    let duplicate = Said::new(ends("10.0.0.1:50000", None, 3));
    let refused = agent.offer(&group("shop"), ClientId(3), 1, duplicate, 1);
    assert_eq!(refused, Err(Reason::DuplicateAddress));
    assert_eq!(agent.refused_groups().collect::<Vec<_>>(), [&group("shop")]);
    let again = pair_in(&mut agent, ends(A, Some(B), 1), ends(B, Some(A), 2));
    assert_eq!(again, Err(Reason::DuplicateAddress));
    // Until they are gone. Others never noticed.
    for client in [CONNECTOR, ACCEPTOR, ClientId(3)] {
        agent.leave(client);
    }
    assert_eq!(agent.refused_groups().count(), 0);
    assert_eq!(pair_in(&mut agent, ends(A, Some(B), 4), ends(B, Some(A), 2)), Ok(42));
}

#[test]
fn an_address_may_move_when_nobody_has_it() {
    let mut agent = agent(Destinations::Exact);
    assert_eq!(pair_in(&mut agent, ends(A, Some(B), 1), ends(B, Some(A), 2)), Ok(42));
    agent.leave(CONNECTOR);
    assert_eq!(pair_in(&mut agent, ends(A, Some(B), 9), ends(B, Some(A), 2)), Ok(42));
}

#[test]
fn groups_and_users_share_nothing() {
    let mut agent = agent(Destinations::Exact);
    let offered = Said::new(ends(A, Some(B), 1));
    agent.offer(&group("shop"), CONNECTOR, 7, offered, 42).unwrap();
    let acceptor = Said::new(ends(B, Some(A), 2));
    let mut other_user = group("shop");
    other_user.user = 1001;
    for key in [group("bank"), other_user] {
        assert_eq!(agent.claim(&key, ACCEPTOR, &acceptor), Err(Reason::NoOffer));
    }
    assert!(agent.claim(&group("shop"), ACCEPTOR, &acceptor).is_ok());
}

#[test]
fn what_waits_is_bounded_and_can_be_taken_back() {
    let mut agent = agent(Destinations::Exact);
    let offer = |agent: &mut Agent, reference: u64| {
        let port = 1024 + u16::try_from(reference).unwrap();
        let socket = Said::new(ends(&format!("10.0.0.1:{port}"), Some(B), 1));
        agent.offer(&group("shop"), CONNECTOR, reference, socket, 0)
    };
    let many = OFFERS_OF_CLIENT_MAX as u64;
    for reference in 0..many {
        offer(&mut agent, reference).unwrap();
    }
    assert_eq!(offer(&mut agent, many), Err(Reason::TooMany));
    agent.withdraw(CONNECTOR, 5);
    agent.withdraw(CONNECTOR, 5);
    offer(&mut agent, many).unwrap();
    assert_eq!(offer(&mut agent, many + 1), Err(Reason::TooMany));
    let acceptor = |port: u16| Said::new(ends(B, Some(&format!("10.0.0.1:{port}")), 2));
    let claim = |agent: &mut Agent, port| agent.claim(&group("shop"), ACCEPTOR, &acceptor(port));
    assert_eq!(claim(&mut agent, 1024 + 5), Err(Reason::NoOffer));
    assert_eq!(claim(&mut agent, 1024 + 6), Ok((CONNECTOR, 6, 0)));
    offer(&mut agent, many + 1).unwrap();
    agent.leave(CONNECTOR);
    assert_eq!(claim(&mut agent, 1024 + 7), Err(Reason::NoOffer));
}

#[test]
fn what_is_no_socket_is_refused() {
    let mut agent = agent(Destinations::Exact);
    let none = Said::new(ends(A, None, 1));
    assert_eq!(agent.claim(&group("shop"), ACCEPTOR, &none), Err(Reason::NotBound));
    let unbound = Said::new(ends("0.0.0.0:0", None, 1));
    assert_eq!(agent.offer(&group("shop"), CONNECTOR, 1, unbound, 0), Err(Reason::NotBound));
    none.0.set(None);
    assert_eq!(agent.claim(&group("shop"), ACCEPTOR, &none), Err(Reason::NotTcp));
    assert_eq!(agent.offer(&group("shop"), CONNECTOR, 1, none, 0), Err(Reason::NotTcp));
}
