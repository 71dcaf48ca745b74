//! What calls say on connections with rings is what they say by TCP.

use crate::world::{World, has_python};

fn calls(world: &World) {
    let mut server = world.start(&["echo"]);
    let port = server.port();
    let mut client = world.start(&["calls", &port]);
    client.says("right");
    client.ends();
}

#[test]
fn calls_say_what_they_say_by_tcp() {
    if has_python() {
        calls(&World::without_agent());
        calls(&World::new());
    }
}

/// As libuv does; the next thing with its number is something else.
#[test]
fn a_descriptor_is_closed_by_the_number_of_the_call() {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&["echo"]);
    let mut client = world.start(&["by-number", &server.port(), "5"]);
    client.says("right 5 of 5");
    client.ends();
}

/// Past the library, or by a stream.
#[test]
fn a_number_that_is_given_out_anew_is_no_connection() {
    if !has_python() {
        return;
    }
    for how in ["internal", "freopen"] {
        let world = World::new();
        let mut server = world.start(&["echo"]);
        let mut client = world.start(&["past", &server.port(), how]);
        client.says("right");
        client.ends();
    }
}

/// That begin as those of the library do.
#[test]
fn a_program_gets_its_own_data_from_epoll() {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&["echo"]);
    let mut client = world.start(&["own-data", &server.port()]);
    client.says("right");
    client.ends();
}

#[test]
fn standard_output_is_written_past_the_rings() {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&["standard-output"]);
    let mut client = world.start(&["hear-print", &server.port()]);
    client.says("heard printed");
    client.ends();
    server.ends();
}
