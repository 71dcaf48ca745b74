//! The library's own thread sleeps when there is nothing to do, and wakes when there is.

use std::fs;

use afterbay_test_form::Wait;
use rustix::process::{Pid, Signal, kill_process};

use crate::ends::Told;
use crate::memory::{Memory, bytes_of};

const PYTHON: &str = "/usr/bin/python3";
/// A reader that is late, and its writers.
const LATE: &str = include_str!("relays.py");
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
/// A thread that looks each millisecond soon has slept more often, and one that never waits hardly ever does.
const TIMES_ASLEEP_MIN: u32 = 20;
/// A thread that never sleeps is not found asleep so many times in a row.
pub(crate) const LOOKS: usize = 50;

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
pub(crate) fn said(thread: &str, name: &str) -> String {
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

/// A reader that takes nothing more, and a writer whose bytes wait in memory for room in TCP: the reader has gone back.
struct Waits {
    memory: Memory,
    reads: Told,
    writes: Told,
    /// What the writer has said first.
    said: String,
}

impl Waits {
    /// With what is to be done before the reader goes back.
    fn new(how: &str, before: impl FnOnce(&Memory, &str)) -> Waits {
        let memory = Memory::new();
        let python = |words: &[&str]| {
            let mut command = memory.program(PYTHON);
            command.args(["-c", LATE]).args(words).env("SCRIPT", LATE);
            Told::start(command)
        };
        let mut reads = python(&["reads", "late"]);
        let mut writes = python(&[how, &reads.hear()]);
        let said = writes.hear();
        assert_eq!(reads.hear(), "has a part");
        let (by_tcp, in_ring) = bytes_of(&memory.connection_of(writes.id()));
        assert!(in_ring > 0, "nothing in memory");
        before(&memory, &said);
        memory.begin_to_demote(reads.id());
        // Its thread says so, and has sent what there was room for.
        Wait::block("the writer has sent some by TCP", || {
            bytes_of(&memory.connection_of(writes.id())).0 > by_tcp
        });
        Waits { memory, reads, writes, said }
    }

    /// It has all in the end.
    fn read(mut self) -> Told {
        self.reads.tell("");
        let (said, reads) = self.reads.says();
        assert_eq!(said, "True");
        reads
    }
}

/// A child that is stopped while its parent does what there is to do. The child's number, and what else it has said.
fn behind(how: &str) -> (Waits, String) {
    let numbers = |said: &str| {
        let (child, rest) = said.split_once(' ').unwrap_or((said, ""));
        (child.parse::<u32>().unwrap(), rest.to_owned())
    };
    let signal = |child: u32, signal| {
        kill_process(Pid::from_raw(child.cast_signed()).unwrap(), signal).unwrap();
    };
    let waits = Waits::new(how, |memory, said_first| {
        let (child, _) = numbers(said_first);
        // It has a thread, which does nothing meanwhile.
        memory.connection_of(child);
        signal(child, Signal::STOP);
        let process = format!("/proc/{child}");
        Wait::block("the child is stopped", || said(&process, "State:").starts_with('T'));
    });
    let (child, rest) = numbers(&waits.said);
    let thread = thread_of(child);
    let before = times_asleep(&thread);
    signal(child, Signal::CONT);
    Wait::block("the child has looked", || times_asleep(&thread) > before);
    waits.memory.connection_of(child);
    (waits, rest)
}

/// Two processes have the connection: the one that is left hears of room, whatever the other one did.
#[test]
fn each_process_hears_of_room_by_itself() {
    let (mut waits, _) = behind("writes_with_child");
    waits.writes.kill();
    drop(waits.read());
}

/// A child that waits by epoll.
fn is_told_of_room(how: &str) {
    let (waits, more) = behind(how);
    let Waits { memory: _memory, mut reads, writes, .. } = waits;
    reads.tell("");
    let (said, mut reads) = reads.says();
    assert_eq!(said, "True");
    reads.tell(&more);
    // It stays: an end would be told in any case.
    let (said, _reads) = reads.says();
    assert_eq!(said, r"b'\x00'");
    assert_eq!(writes.says().0, "told");
}

/// The other one has found that writes go by TCP again; what this one's epoll waits for is its own business.
#[test]
fn the_epoll_of_each_process_waits_where_writes_go() {
    is_told_of_room("waits_by_epoll");
}

/// This one has found neither that they go into the ring nor that they go back.
#[test]
fn an_epoll_waits_where_the_writes_of_another_process_go() {
    is_told_of_room("waits_by_later_epoll");
}

/// A process whose parent has closed the connection has it still.
#[test]
fn what_one_process_closes_is_not_closed_by_the_thread_of_another_one() {
    let Waits { memory, mut reads, mut writes, said: child } =
        Waits::new("leaves_to_child", |_, _| {});
    let child: u32 = child.parse().unwrap();
    writes.tell("");
    assert_eq!(writes.hear(), "closed");
    reads.tell("");
    let (said, mut reads) = reads.says();
    assert_eq!(said, "True");
    let thread = thread_of(child);
    let before = times_asleep(&thread);
    memory.begin_to_demote(child);
    Wait::block("the child has looked", || times_asleep(&thread) > before);
    writes.tell("");
    reads.tell("1");
    assert_eq!(reads.says().0, "b'!'");
}

/// Its own thread waits for room by another descriptor then.
#[test]
fn a_descriptor_that_is_closed_leaves_the_wait_for_room_to_others() {
    let mut waits = Waits::new("writes_with_copy", |_, _| {});
    waits.writes.tell("");
    assert_eq!(waits.writes.hear(), "closed");
    drop(waits.read());
}

/// Its own thread takes any that is left, and the kernel's epoll may know of another one.
#[test]
fn the_wait_for_room_is_by_any_descriptor() {
    drop(Waits::new("writes_with_lower_copy", |_, _| {}).read());
}

/// A call that waits for the way back to TCP, with a bell that rings since writes do not go into the ring any more.
#[test]
fn a_call_that_waits_for_the_way_back_sleeps() {
    let mut waits = Waits::new("sends_a_file", |_, _| {});
    waits.writes.tell("");
    let (slept, _writes) = waits.writes.says();
    assert!(slept.parse::<u32>().unwrap() > TIMES_ASLEEP_MIN, "slept {slept} times");
}
