//! Back to TCP in the middle of a stream: no byte is lost, doubled or added.

use afterbay_net_proto::{Reason, Transport};

use crate::world::{World, has_python, is_in_rings};

fn demote(who: impl Fn(u32, u32) -> Vec<u32>) {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&["echo"]);
    let port = server.port();
    let mut client = world.start(&["stream", "127.0.0.1", &port, "30000000", "hold"]);
    client.says("begun");
    let in_rings = "both ends are in rings and in the middle";
    world.status_when(in_rings, |all| {
        let is_in_middle = |bytes| (1_000_000..25_000_000).contains(&bytes);
        all.len() == 2 && all.iter().all(|(_, r)| is_in_rings(r) && is_in_middle(r.out.ring_bytes))
    });
    for pid in who(client.id(), server.id()) {
        assert_eq!(world.asker().demote(pid, 0).unwrap(), 1);
    }
    client.says("got 30000000 ALL");
    let status = world.status_when("both ends are on TCP", |all| {
        let is_back = |transport| transport == Transport::Tcp;
        all.len() == 2
            && all.iter().all(|(_, r)| is_back(r.out.transport) && is_back(r.input.transport))
    });
    for (_, record) in status {
        let reasons = [Some(Reason::Asked), Some(Reason::Peer)];
        assert!(reasons.contains(&record.reason), "{record:?}");
        assert!(record.out.tcp_bytes > 0 && record.out.ring_bytes > 0, "{record:?}");
    }
    client.go_on();
    client.says("end 0");
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
