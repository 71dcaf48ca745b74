//! A stream from one process to another, and one whose writer is killed.

use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use afterbay_net_ring::{Consumer, Direction, Field, Producer};
use afterbay_net_shm::{EventBell, MappedRing, Segment, passing};
use afterbay_test_form::{kill_cycles, ring_stream_bytes};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::geometry;

/// How many bytes this process writes, if it is the writer.
const WRITES: &str = "AFTERBAY_SHM_WRITES";

/// The byte at a position of the stream.
fn byte(position: u64) -> u8 {
    (position.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

fn wait(descriptors: &[&dyn AsFd]) {
    let mut waited: Vec<_> =
        descriptors.iter().map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)).collect();
    poll(&mut waited, None).unwrap();
}

/// The process that writes: its input is a socket, by which the segment and the bells come.
fn write(bytes: u64) {
    let socket = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let (length, descriptors) = passing::receive(&socket, &mut [0; 8]).unwrap();
    assert_eq!(length, 4);
    let [memory, reader, writer]: [OwnedFd; 3] = descriptors.try_into().unwrap();
    let ring = Segment::open(memory).unwrap().ring(Direction::ToAcceptor);
    let (reader, writer) = (EventBell::open(reader).unwrap(), EventBell::open(writer).unwrap());
    let own = writer.try_clone().unwrap();
    let mut producer = Producer::new(ring, writer, reader);
    let mut sent = 0;
    while sent < bytes {
        let length = (1 + u64::from(byte(sent)) * 97).min(bytes - sent);
        let chunk: Vec<u8> = (sent..sent + length).map(byte).collect();
        let mut rest = &chunk[..];
        while !rest.is_empty() {
            let written = producer.write(rest).unwrap();
            rest = &rest[written..];
            if written == 0 && !producer.settle().unwrap() {
                wait(&[&own]);
            }
        }
        sent += length;
    }
    producer.end();
}

/// What reads, in this process, from the one that writes.
struct Reader {
    writer: Child,
    socket: OwnedFd,
    bell: EventBell,
    ring: MappedRing,
    consumer: Consumer<MappedRing, EventBell>,
    received: u64,
}

impl Reader {
    fn start(test: &str, bytes: u64) -> Reader {
        let (family, flags) = (AddressFamily::UNIX, SocketFlags::CLOEXEC);
        let (socket, theirs) = socketpair(family, SocketType::SEQPACKET, flags, None).unwrap();
        let writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test])
            .env(WRITES, bytes.to_string())
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let segment = Segment::create(geometry(1 << 16, 4096)).unwrap();
        let (own, writers) = (EventBell::create(false).unwrap(), EventBell::create(true).unwrap());
        let descriptors = [segment.as_fd(), own.as_fd(), writers.as_fd()];
        passing::send(&socket, b"ring", &descriptors).unwrap();
        let ring = segment.ring(Direction::ToAcceptor);
        let bell = own.try_clone().unwrap();
        let consumer = Consumer::new(ring.clone(), own, writers);
        Reader { writer, socket, bell, ring, consumer, received: 0 }
    }

    /// Reads what there is. How many bytes.
    fn read(&mut self) -> usize {
        let mut buffer = [0; 5000];
        let length = self.consumer.read(&mut buffer).unwrap();
        for &found in &buffer[..length] {
            assert_eq!(found, byte(self.received), "at {}", self.received);
            self.received += 1;
        }
        length
    }

    /// Waits for bytes, or for the end of the other process.
    fn wait(&mut self) {
        if !self.consumer.settle().unwrap() {
            wait(&[&self.bell, &self.socket]);
        }
    }

    /// The other process is gone: its socket says so, as TCP would.
    fn is_alone(&self) -> bool {
        let mut waited = [PollFd::new(&self.socket, PollFlags::IN)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut waited, Some(&now)).unwrap() == 1
    }
}

#[test]
fn a_stream_arrives_whole() {
    if let Ok(bytes) = std::env::var(WRITES) {
        return write(bytes.parse().unwrap());
    }
    let bytes = ring_stream_bytes();
    let mut reader = Reader::start("processes::a_stream_arrives_whole", bytes);
    while !reader.consumer.is_ended().unwrap() {
        assert!(!reader.is_alone() || reader.ring.value(Field::Ended) != 0, "the writer failed");
        if reader.read() == 0 {
            reader.wait();
        }
    }
    assert_eq!(reader.received, bytes);
    assert!(reader.writer.wait().unwrap().success());
}

#[test]
fn what_was_written_before_a_kill_arrives() {
    if let Ok(bytes) = std::env::var(WRITES) {
        return write(bytes.parse().unwrap());
    }
    for kill in 0..kill_cycles() {
        let mut reader =
            Reader::start("processes::what_was_written_before_a_kill_arrives", u64::MAX);
        while reader.received < 1 + kill * 7919 {
            if reader.read() == 0 {
                reader.wait();
            }
        }
        reader.writer.kill().unwrap();
        while !reader.is_alone() {
            reader.wait();
            // The ring is full: the rest is read below.
            if reader.consumer.available().unwrap() > 0 {
                wait(&[&reader.socket]);
            }
        }
        while reader.read() > 0 {}
        assert_eq!(reader.received, reader.ring.value(Field::Head));
        assert!(!reader.writer.wait().unwrap().success());
    }
}
