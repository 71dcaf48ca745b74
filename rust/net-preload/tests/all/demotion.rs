//! Back to TCP in the middle of a stream: no byte is lost, doubled or added.

use afterbay_net_proto::{Flow, Reason, Record, Transport};

use crate::world::{World, has_python, is_in_rings};

fn demote(who: impl Fn(u32, u32) -> Vec<u32>) {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&["echo"]);
    let port = server.port();
    let mut client = world.start(&["flow", "127.0.0.1", &port]);
    client.says("begun");
    world.status_when("both ends are in rings and in the middle", |all| {
        let is_in_middle =
            |record: &Record| is_in_rings(record) && record.out.ring_bytes > 1_000_000;
        all.len() == 2 && all.iter().all(|(_, record)| is_in_middle(record))
    });
    for pid in who(client.id(), server.id()) {
        assert_eq!(world.asker().demote(pid, 0).unwrap(), 1);
    }
    let status = world.status_when("both ends go on by TCP", |all| {
        let is_back = |flow: Flow| flow.transport == Transport::Tcp && flow.tcp_bytes > 1_000_000;
        all.len() == 2 && all.iter().all(|(_, r)| is_back(r.out) && is_back(r.input))
    });
    for (_, record) in status {
        let reasons = [Some(Reason::Asked), Some(Reason::Peer)];
        assert!(reasons.contains(&record.reason), "{record:?}");
        assert!(record.out.tcp_bytes > 0 && record.out.ring_bytes > 0, "{record:?}");
    }
    client.go_on();
    client.says("same END");
    client.ends();
}

#[test]
fn by_who_has_connected() {
    demote(|client, _| vec![client]);
}

#[test]
fn by_who_has_accepted() {
    demote(|_, server| vec![server]);
}

#[test]
fn by_both() {
    demote(|client, server| vec![client, server]);
}

/// It goes along when it runs again, and loses nothing until then.
#[test]
fn the_other_end_is_stopped() {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&["echo"]);
    let port = server.port();
    let mut client = world.start(&["flow", "127.0.0.1", &port]);
    client.says("begun");
    world.status_when("both ends are in rings", |all| {
        all.len() == 2 && all.iter().all(|(_, record)| is_in_rings(record))
    });
    server.signal("STOP");
    assert_eq!(world.asker().demote(client.id(), 0).unwrap(), 1);
    world.status_when("the end that runs goes on by TCP", |all| {
        all.iter().any(|(pid, record)| {
            *pid == client.id()
                && record.out.transport == Transport::Tcp
                && record.input.transport == Transport::Tcp
        })
    });
    server.signal("CONT");
    client.go_on();
    client.says("same END");
    client.ends();
}

#[test]
fn before_a_file_is_sent() {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut sink = world.start(&["sink"]);
    let port = sink.port();
    let mut sender = world.start(&["send-file", &port, "9000000"]);
    sender.says("sent 9000000");
    sink.says("got 9000000 END");
    sender.ends();
    sink.ends();
}
