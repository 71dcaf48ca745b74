//! Connections that several processes have, or another program gets.

use crate::world::{World, has_python};

fn stream_to(server: &str) {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&[server]);
    let port = server.port();
    for _ in 0..3 {
        let mut client = world.start(&["stream", "127.0.0.1", &port, "3000000"]);
        client.says("begun");
        client.says("got 3000000 ALL");
        client.says("end 0");
        client.ends();
    }
}

fn stream_once_to(server: &str) {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&[server]);
    let port = server.port();
    let mut client = world.start(&["stream", "127.0.0.1", &port, "3000000"]);
    client.says("begun");
    client.says("got 3000000 ALL");
    client.says("end 0");
    client.ends();
    server.ends();
}

#[test]
fn a_process_for_each_connection() {
    stream_to("echo-fork");
}

#[test]
fn processes_that_wait_together() {
    stream_to("echo-prefork");
}

#[test]
fn parent_and_child_in_turns() {
    stream_once_to("echo-shared");
}

#[test]
fn another_program() {
    stream_once_to("echo-exec");
}

#[test]
fn another_process() {
    stream_once_to("echo-passed");
}
