//! Two network namespaces, as two containers have them.

use std::process::Command;

use crate::world::{Program, World, has_python, is_in_rings, python};

/// Joins the namespace of the first program by a pair of interfaces, and waits there.
const SETUP: &str = r#"
set -e
ip link set lo up
ip link add here type veth peer name there
ip addr add 10.77.0.1/24 dev here
ip link set here up
unshare -n sleep infinity &
other=$!
while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
ip link set there netns $other
nsenter -t $other -n sh -c 'ip link set lo up; ip addr add 10.77.0.2/24 dev there; ip link set there up'
trap 'kill $other' EXIT
export LD_PRELOAD="$LIBRARY"
"$PYTHON" "$SCRIPT" echo 10.77.0.1 7000 &
echo=$!
trap 'kill $other $echo' EXIT
nsenter -t $other -n sh -c 'while ! "$PYTHON" "$SCRIPT" stream 10.77.0.1 7000 5000000 hold; do sleep 0.1; done'
"#;

/// Whether this machine lets us; where tests must not be left out, it has to.
fn has_namespaces() -> bool {
    let words = ["-Urnm", "ip", "link", "add", "here", "type", "veth", "peer", "name", "there"];
    let made = Command::new("unshare").args(words).output();
    let is_there = made.is_ok_and(|output| output.status.success());
    if !is_there {
        assert!(std::env::var_os("CI").is_none(), "no user namespaces here, or no ip command");
        eprintln!("not run: no user namespaces here, or no ip command");
    }
    is_there
}

#[test]
fn two_namespaces_share_memory() {
    if !has_python() || !has_namespaces() {
        return;
    }
    let world = World::new();
    let like = world.command("sh");
    let variable = |name: &str| {
        like.get_envs().find(|(key, _)| *key == name).and_then(|(_, value)| value).unwrap()
    };
    let mut command = Command::new("unshare");
    command.args(["-Urnm", "sh", "-c", SETUP]);
    command.env("LIBRARY", variable("LD_PRELOAD"));
    command.env("PYTHON", python().unwrap());
    command.env("SCRIPT", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/peer.py"));
    for name in ["AGENT", "GROUP", "RING", "AFTER", "PATIENCE"] {
        let name = format!("AFTERBAY_NET_{name}");
        command.env(&name, variable(&name));
    }
    let mut program = Program::start(command);
    program.says("port 7000");
    program.says("begun");
    program.says("got 5000000 ALL");
    let status = world.status_when("both ends have their connection", |all| all.len() == 2);
    for (_, record) in status {
        assert!(is_in_rings(&record), "{record:?}");
        assert!(record.out.ring_bytes > 4_900_000 && record.input.ring_bytes > 4_900_000);
        let names = [record.local.ip().to_string(), record.peer.ip().to_string()];
        assert!(names.contains(&"10.77.0.1".to_owned()) && names.contains(&"10.77.0.2".to_owned()));
    }
    program.go_on();
    program.says("end 0");
    program.ends();
}
