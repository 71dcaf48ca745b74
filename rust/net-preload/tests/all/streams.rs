//! Streams in both directions, by all that programs wait with.

use afterbay_net_proto::{Flow, Reason, Record, Transport};

use crate::world::{World, has_python, is_in_rings, python};

const TOTAL: u64 = 20_000_000;

/// What is sent where connections get rings later: more than TCP has under way by then.
const TOTAL_LATER: u64 = 12_000_000;

/// Streams bytes to a server that sends them back, on connections that have rings from the beginning, and get them later.
fn stream_to(server: &str) {
    if !has_python() {
        return;
    }
    stream_in(&World::new(), server, TOTAL, |flow| {
        assert!(flow.tcp_bytes < TOTAL / 100, "more than 1 % went by TCP: {flow:?}");
    });
    for world in [World::by_default(), World::after(1)] {
        stream_in(&world, server, TOTAL_LATER, |flow| {
            assert!(flow.tcp_bytes > 0 && flow.ring_bytes > 0, "{flow:?}");
        });
    }
}

/// Its records are looked at before the end.
fn stream_in(world: &World, server: &str, total: u64, check: impl Fn(&Flow)) {
    let words: Vec<_> = server.split(' ').collect();
    let mut server = world.start(&words);
    let port = server.port();
    let mut client = world.start(&["stream", "127.0.0.1", &port, &total.to_string(), "hold"]);
    client.says("begun");
    client.says(&format!("got {total} ALL"));
    let status = world.status_when("both ends have their connection", |all| all.len() == 2);
    for (_, record) in status {
        assert!(is_in_rings(&record) && record.reason.is_none(), "{record:?}");
        for flow in [record.out, record.input] {
            assert!(flow.ring_bytes + flow.tcp_bytes >= total, "{record:?}");
            check(&flow);
        }
    }
    client.go_on();
    client.says("end 0");
    client.ends();
    // And many at once.
    let mut clients = world.start(&["streams", &port, "8", "1000000"]);
    clients.says("right 8 of 8");
    clients.ends();
}

#[test]
fn blocking() {
    stream_to("echo");
}

#[test]
fn by_select() {
    stream_to("echo-ready select");
}

#[test]
fn by_poll() {
    stream_to("echo-ready poll");
}

#[test]
fn by_epoll() {
    stream_to("echo-ready epoll");
}

#[test]
fn by_epoll_of_edges() {
    stream_to("echo-ready edge");
}

#[test]
fn by_epoll_once() {
    stream_to("echo-ready oneshot");
}

/// The wait began when no socket had rings: what the kernel says is put together all the same.
#[test]
fn a_thread_waits_before_there_is_a_socket() {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&["echo"]);
    let mut client = world.start(&["late", &server.port(), "30"]);
    client.says("right 30 of 30");
    client.ends();
}

#[test]
fn by_asyncio() {
    stream_to("echo-asyncio");
}

/// The control: without an agent, nothing is in rings.
#[test]
fn without_an_agent_it_is_tcp() {
    if !has_python() {
        return;
    }
    let world = World::without_agent();
    let mut server = world.start(&["echo"]);
    let port = server.port();
    let mut client = world.start(&["stream", "127.0.0.1", &port, "1000000"]);
    client.says("begun");
    client.says("got 1000000 ALL");
    client.says("end 0");
    client.ends();
}

/// A program without the library at the other end: TCP, and it is said why.
#[test]
fn without_a_library_at_the_other_end_it_is_tcp() {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&["echo"]);
    let port = server.port();
    let mut command = world.command(python().unwrap());
    command
        .env_remove("LD_PRELOAD")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/peer.py"));
    command.args(["stream", "127.0.0.1", &port, "1000000", "hold"]);
    let mut client = crate::world::Program::start(command);
    client.says("begun");
    client.says("got 1000000 ALL");
    let status = world.status_when("the server has a connection", |all| all.len() == 1);
    let (pid, record) = status[0];
    assert_eq!((pid, record.reason), (server.id(), Some(Reason::NoOffer)));
    assert_eq!(record.out.transport, Transport::Tcp);
    assert_eq!((record.out.ring_bytes, record.input.ring_bytes), (0, 0));
    assert_eq!((record.out.tcp_bytes, record.input.tcp_bytes), (1_001_000, 1_001_000));
    client.go_on();
    client.says("end 0");
    client.ends();
}

/// A connection that carries little has no rings, and it is said why. One more small message, and it has.
#[test]
fn it_gets_rings_when_it_is_worth_them() {
    if !has_python() {
        return;
    }
    let world = World::by_default();
    let mut server = world.start(&["echo"]);
    let mut client = world.start(&["ping", &server.port()]);
    // With the answers, 30 operations.
    client.tell("15");
    client.says("15 right");
    let few = |all: &[(u32, Record)]| {
        all.len() == 2 && all.iter().all(|(_, r)| r.reason == Some(Reason::FewBytes))
    };
    let status = world.status_when("both ends have their connection", few);
    for (_, record) in status {
        assert_eq!((record.out.tcp_bytes, record.out.ring_bytes), (15 * 64, 0), "{record:?}");
    }
    assert_eq!((bytes_of_rings(client.id()), bytes_of_rings(server.id())), (0, 0));
    // 41 at the end that has accepted, and some more until both know of it.
    client.tell("8");
    client.says("8 right");
    let status = world.status_when("both ends are in rings", |all| {
        all.len() == 2 && all.iter().all(|(_, record)| is_in_rings(record))
    });
    for (_, record) in status {
        let flows = [record.out, record.input];
        assert!(flows.iter().all(|flow| flow.tcp_bytes + flow.ring_bytes == 23 * 64), "{flows:?}");
    }
    client.go_on();
    client.ends();
}

/// Somebody wants it on TCP before it has rings: it never gets any.
#[test]
fn it_gets_no_rings_after_it_went_back() {
    if !has_python() {
        return;
    }
    let world = World::by_default();
    let mut server = world.start(&["echo"]);
    let mut client = world.start(&["ping", &server.port()]);
    client.tell("2");
    client.says("2 right");
    world.status_when("both ends have their connection", |all| all.len() == 2);
    assert_eq!(world.asker().demote(client.id(), 0).unwrap(), 1);
    let asked = |(_, record): &(u32, Record)| record.reason == Some(Reason::Asked);
    world.status_when("it is back", |all| all.iter().any(asked));
    client.tell("200");
    client.says("200 right");
    for (_, record) in world.status_when("both ends answer", |all| all.len() == 2) {
        assert_eq!((record.out.tcp_bytes, record.out.ring_bytes), (202 * 64, 0), "{record:?}");
    }
    client.go_on();
    client.ends();
}

/// A thread waits for bytes by TCP when the connection gets rings by another one's writes: it is not left behind.
#[test]
fn who_waits_meanwhile_gets_what_comes() {
    if !has_python() {
        return;
    }
    for how in ["read", "poll", "select"] {
        let world = World::after(4);
        let mut server = world.start(&["count", "2000000"]);
        let mut client = world.start(&["upload", &server.port(), how, "2000000"]);
        client.says("got 2000000");
        client.ends();
        server.says("ring");
        server.ends();
    }
}

/// Bytes of rings that a process has touched.
fn bytes_of_rings(process: u32) -> u64 {
    let maps = std::fs::read_to_string(format!("/proc/{process}/smaps")).unwrap();
    let mut is_ring = false;
    let mut kib = 0;
    for line in maps.lines() {
        if let Some(size) = line.strip_prefix("Rss:") {
            kib += if is_ring { size.trim().trim_end_matches(" kB").parse().unwrap() } else { 0 };
        } else if line.contains(" r") && line.contains('-') {
            is_ring = line.contains("memfd:afterbay-net");
        }
    }
    kib * 1024
}

/// A thousand take less than 200 MB, whatever they may grow to.
#[test]
fn connections_that_do_nothing_take_little_memory() {
    if !has_python() {
        return;
    }
    let count: u64 = if afterbay_test_form::is_long() { 1000 } else { 50 };
    let world = World::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/peer.py");
    let starts = |words: &[&str]| {
        let mut command = world.command(python().unwrap());
        command.env("AFTERBAY_NET_RING", "1m").arg(script).args(words);
        crate::world::Program::start(command)
    };
    let mut server = starts(&["echo"]);
    let mut clients = starts(&["idle", &server.port(), &count.to_string(), "300000"]);
    clients.says(&format!("idle {count}"));
    let status = world.status_when("all are in rings", |all| all.len() as u64 == 2 * count);
    for (_, record) in status {
        assert!(is_in_rings(&record) && record.out.ring_bytes > 200_000, "{record:?}");
    }
    let bytes = bytes_of_rings(clients.id());
    // Both rings, as far as they were used.
    assert!(bytes > count * 100_000 && bytes < count * 200_000, "{bytes} bytes of {count}");
    clients.ends();
}
