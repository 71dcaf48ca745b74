//! The library's own thread sleeps when there is nothing to do, and wakes when there is.

use std::fs;

use afterbay_test_form::Wait;
use rustix::process::{Pid, Signal, kill_process};

use crate::ends::Told;
use crate::memory::{Memory, bytes_of};

const PYTHON: &str = "/usr/bin/python3";
/// A child, and the others of this kind.
const WITH_CHILD: &str = include_str!("relays.py");
/// One that has an end, and one that ends its stream and stays.
const SCRIPT: &str = r#"
import socket, sys
if len(sys.argv) == 1:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    end = listener.accept()[0]
else:
    end = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for _ in range(100):
    end.sendall(b".")
    end.recv(1)
print("exchanged", flush=True)
sys.stdin.readline()
end.shutdown(socket.SHUT_WR)
print("ended", flush=True)
sys.stdin.readline()
"#;
/// A thread that never sleeps is not found asleep so many times in a row.
const LOOKS: usize = 50;

/// `/proc` of the thread.
fn thread_of(process: u32) -> String {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let threads = tasks.map(|task| task.unwrap().path().to_str().unwrap().to_owned());
    let mut own = threads.filter(|task| {
        fs::read_to_string(format!("{task}/comm")).unwrap().trim() == "afterbay-net"
    });
    own.next().expect("a thread of the library")
}

/// What the kernel says of the thread in a line that begins so.
fn said(thread: &str, name: &str) -> String {
    let status = fs::read_to_string(format!("{thread}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap().trim().to_owned()
}

fn times_asleep(thread: &str) -> u64 {
    said(thread, "voluntary_ctxt_switches:").parse().unwrap()
}

/// TCP says of a stream's end that it is so whenever it is asked, and must not be asked again for that.
#[test]
fn an_end_that_has_come_wakes_it_once() {
    let memory = Memory::new();
    let python = |words: &[&str]| {
        let mut command = memory.program(PYTHON);
        command.args(["-c", SCRIPT]).args(words);
        Told::start(command)
    };
    let mut stays = python(&[]);
    let mut ends = python(&[&stays.hear()]);
    assert_eq!([stays.hear(), ends.hear()], ["exchanged"; 2]);
    memory.connection_of(stays.id());
    memory.demote(stays.id());
    let thread = thread_of(stays.id());
    let before = times_asleep(&thread);
    ends.tell("");
    assert_eq!(ends.hear(), "ended");
    Wait::block("it has looked at the end", || times_asleep(&thread) > before);
    Wait::block("it sleeps", || (0..LOOKS).all(|_| said(&thread, "State:").starts_with('S')));
}

/// Two processes have a connection whose bytes wait for room in TCP: the one that is left hears of it, whatever the other one did.
#[test]
fn each_process_hears_of_room_by_itself() {
    let memory = Memory::new();
    let python = |words: &[&str]| {
        let mut command = memory.program(PYTHON);
        command.args(["-c", WITH_CHILD]).args(words).env("SCRIPT", WITH_CHILD);
        Told::start(command)
    };
    let mut reads = python(&["reads", "late"]);
    let mut parent = python(&["writes_with_child", &reads.hear()]);
    let child: u32 = parent.hear().parse().unwrap();
    assert_eq!(reads.hear(), "has a part");
    let signal = |signal| {
        kill_process(Pid::from_raw(child.cast_signed()).unwrap(), signal).unwrap();
    };
    let (by_tcp, in_ring) = bytes_of(&memory.connection_of(parent.id()));
    assert!(in_ring > 0, "nothing in memory");
    memory.connection_of(child);
    signal(Signal::STOP);
    let demoting = memory.net(&["demote", "--timeout", "120", &reads.id().to_string()]).spawn();
    Wait::block("the parent has sent some by TCP", || {
        bytes_of(&memory.connection_of(parent.id())).0 > by_tcp
    });
    let parents = thread_of(parent.id());
    Wait::block("it sleeps", || (0..LOOKS).all(|_| said(&parents, "State:").starts_with('S')));
    let thread = thread_of(child);
    let before = times_asleep(&thread);
    signal(Signal::CONT);
    Wait::block("the child has looked", || times_asleep(&thread) > before);
    parent.kill();
    reads.tell("");
    let said = std::thread::spawn(move || (reads.hear(), reads));
    Wait::block("the reader has all", || said.is_finished());
    assert_eq!(said.join().unwrap().0, "True");
    let _ = demoting.unwrap().wait();
}
