//! What arrives before the end, and how it ends: as by TCP.

use afterbay_test_form::{counted, net_kill_cycles};

use crate::world::{World, has_python, is_in_rings};

/// What a reader found, and how it ended.
fn got(line: &str) -> (u64, String) {
    let words: Vec<_> = line.split(' ').collect();
    let ["got", bytes, end] = words[..] else { panic!("{line:?}") };
    (bytes.parse().unwrap(), end.to_owned())
}

#[test]
fn what_was_written_before_death_arrives() {
    if !has_python() {
        return;
    }
    let world = World::new();
    for _ in 0..net_kill_cycles() {
        let mut sink = world.start(&["sink"]);
        let port = sink.port();
        let mut writer = world.start(&["pour", &port]);
        writer.says("begun");
        let status = world.status_when("it is in the ring", |all| {
            all.iter().any(|(pid, record)| *pid == writer.id() && record.out.ring_bytes > 0)
        });
        let (_, before) = *status.iter().find(|(pid, _)| *pid == writer.id()).unwrap();
        writer.kill();
        let (bytes, end) = got(&sink.line());
        assert!(bytes >= before.out.ring_bytes + before.out.tcp_bytes, "{bytes} of {before:?}");
        assert!(end == "END" || end == "ECONNRESET", "{end}");
        sink.ends();
    }
    counted(&format!("net-preload: {} kills of a writer in mid-stream", net_kill_cycles()));
}

#[test]
fn a_writer_finds_that_its_reader_is_dead() {
    if !has_python() {
        return;
    }
    let world = World::new();
    for _ in 0..net_kill_cycles() {
        let mut sink = world.start(&["sink"]);
        let port = sink.port();
        let mut writer = world.start(&["pour", &port]);
        writer.says("begun");
        sink.kill();
        let error = writer.line();
        assert!(error == "EPIPE" || error == "ECONNRESET", "{error:?}");
        writer.ends();
    }
    counted(&format!("net-preload: {} kills of a reader in mid-stream", net_kill_cycles()));
}

/// Nobody is left to say that it is over.
#[test]
fn a_connection_whose_ends_are_both_killed_is_gone() {
    if !has_python() {
        return;
    }
    let world = World::new();
    for _ in 0..net_kill_cycles() {
        let mut sink = world.start(&["sink"]);
        let port = sink.port();
        let mut writer = world.start(&["pour", &port]);
        writer.says("begun");
        world.status_when("it is in the ring", |all| {
            all.iter().any(|(pid, record)| *pid == writer.id() && record.out.ring_bytes > 0)
        });
        writer.kill();
        sink.kill();
        world.status_when("nothing is left of it", |all| all.is_empty());
    }
    counted(&format!("net-preload: {} kills of both ends in mid-stream", net_kill_cycles()));
}

/// The rest of a stream is read after its writer is gone.
#[test]
fn a_closed_connection_is_read_to_its_end() {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut source = world.start(&["source", "3000000"]);
    let port = source.port();
    let mut reader = world.start(&["drain", &port]);
    source.says("wrote 3000000");
    reader.says("got 3000000 END");
    reader.ends();
    source.ends();
}

fn after(how: &str, world: &World) -> String {
    let mut server = world.start(&["refuse-to-read", how]);
    let port = server.port();
    let mut client = world.start(&["ask-and-wait", &port]);
    server.says("answered");
    client.says("asked");
    server.go_on();
    server.says("closed");
    client.go_on();
    let said = client.line();
    client.ends();
    server.ends();
    said
}

#[test]
fn a_reset_is_one() {
    if !has_python() {
        return;
    }
    for how in ["reset", "close"] {
        let by_tcp = after(how, &World::without_agent());
        assert_eq!(by_tcp, "read ECONNRESET write EPIPE", "{how}");
        assert_eq!(after(how, &World::new()), by_tcp, "{how}");
    }
}

/// Killed with bytes that it has not read, as by TCP.
#[test]
fn death_with_unread_bytes_is_a_reset() {
    if !has_python() {
        return;
    }
    let said = |world: &World| {
        let mut server = world.start(&["refuse-to-read", "never"]);
        let port = server.port();
        let mut client = world.start(&["ask-and-wait", &port]);
        server.says("answered");
        client.says("asked");
        server.kill();
        client.go_on();
        let said = client.line();
        client.ends();
        said
    };
    let by_tcp = said(&World::without_agent());
    assert_eq!(by_tcp, "read ECONNRESET write EPIPE");
    assert_eq!(said(&World::new()), by_tcp);
}

#[test]
fn connections_outlive_the_agent() {
    if !has_python() {
        return;
    }
    let mut world = World::new();
    let mut server = world.start(&["echo"]);
    let port = server.port();
    let mut client = world.start(&["flow", "127.0.0.1", &port]);
    client.says("begun");
    let in_rings = "both ends are in rings";
    world.status_when(in_rings, |all| all.len() == 2 && all.iter().all(|(_, r)| is_in_rings(r)));
    world.stop_agent();
    client.go_on();
    client.says("same END");
    client.ends();
    // What is new is TCP.
    let mut second = world.start(&["stream", "127.0.0.1", &port, "1000000"]);
    second.says("begun");
    second.says("got 1000000 ALL");
    second.says("end 0");
    second.ends();
}
