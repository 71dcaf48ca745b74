//! The library's own thread sleeps when there is nothing to do.

use std::fs;

use afterbay_test_form::Wait;

use crate::ends::Told;
use crate::memory::Memory;

const PYTHON: &str = "/usr/bin/python3";
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
