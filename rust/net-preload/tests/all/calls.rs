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
