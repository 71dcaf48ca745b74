//! A stream that moves from TCP to the ring and back, while the other side does the same.

use afterbay_net_ring::{
    Bell, Consumer, Field, Incoming, Outgoing, Producer, Route, Shared, Source, Word,
};
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use crate::memory::{WatchedBell, WatchedRing, Weakened};
use crate::{WHOLE, check};

const PREEMPTIONS: usize = 2;

struct Connection {
    ring: WatchedRing,
    readers: WatchedBell,
    writers: WatchedBell,
    /// What TCP holds. It rings the reader's bell too: the reader waits on both.
    tcp: Mutex<VecDeque<u8>>,
}

impl Connection {
    fn send(&self, byte: u8) {
        self.tcp.lock().unwrap().push_back(byte);
        self.readers.ring();
    }

    /// At most so many.
    fn receive(&self, limit: u64) -> Vec<u8> {
        let mut tcp = self.tcp.lock().unwrap();
        let length = tcp.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        tcp.drain(..length).collect()
    }
}

type In<'c> = Incoming<&'c WatchedRing, &'c WatchedBell>;
type Out<'c> = Outgoing<&'c WatchedRing, &'c WatchedBell>;

/// Sends what is left behind in the ring, then the byte, wherever it goes.
fn send(out: &mut Out<'_>, connection: &Connection, byte: u8) {
    loop {
        match out.route().unwrap() {
            Route::Tcp => {
                connection.send(byte);
                return out.sent(1);
            }
            Route::Ring if out.write(&[byte]).unwrap() == 1 => return,
            Route::Ring => {
                if !out.settle().unwrap() {
                    connection.writers.wait();
                }
            }
            Route::Backlog(_) => flush(out, connection),
        }
    }
}

fn flush(out: &mut Out<'_>, connection: &Connection) {
    while let Route::Backlog(_) = out.route().unwrap() {
        let mut byte = [0];
        assert_eq!(out.backlog(&mut byte), 1);
        connection.send(byte[0]);
        out.sent(1);
    }
}

/// One byte by TCP, one by the ring, the way back if the writer wants it, and the rest by what is left. The reader stops after
/// so many bytes, if it does.
#[derive(Clone, Copy)]
pub(crate) struct Script {
    before: u8,
    in_ring: u8,
    after: u8,
    writer_leaves: bool,
    reader_leaves_at: Option<u8>,
    /// A mistake: the writer takes the reader's word before it is given.
    is_hasty: bool,
}

pub(crate) fn run(script: Script, weakened: Weakened) {
    check(PREEMPTIONS, move || {
        let connection = Arc::new(Connection {
            ring: WatchedRing::new(2, weakened),
            readers: WatchedBell::new(),
            writers: WatchedBell::new(),
            tcp: Mutex::new(VecDeque::new()),
        });
        let consumer = Consumer::new(&connection.ring, &connection.readers, &connection.writers);
        let mut input = Incoming::new(consumer);
        let writer = {
            let connection = connection.clone();
            thread::spawn(move || write(&connection, script))
        };
        read(&connection, &mut input, script);
        writer.join().unwrap();
        assert!(connection.tcp.lock().unwrap().is_empty(), "a byte came twice");
    });
}

fn write(connection: &Connection, script: Script) {
    let producer = Producer::new(&connection.ring, &connection.writers, &connection.readers);
    let mut out = Outgoing::new(producer);
    let mut next = 1..;
    for byte in next.by_ref().take(script.before.into()) {
        send(&mut out, connection, byte);
    }
    out.switch().unwrap();
    for byte in next.by_ref().take(script.in_ring.into()) {
        send(&mut out, connection, byte);
    }
    if script.is_hasty {
        connection.ring.word(Field::Joined).store(1, Ordering::Release);
    }
    if script.writer_leaves {
        out.demote().unwrap();
        flush(&mut out, connection);
    }
    for byte in next.take(script.after.into()) {
        send(&mut out, connection, byte);
    }
    // As the library does it that has a thread for this: whoever stops is answered.
    let reader_stays = script.reader_leaves_at.is_none();
    while !reader_stays && out.route().unwrap() == Route::Ring {
        connection.writers.silence();
        if out.route().unwrap() == Route::Ring {
            connection.writers.wait();
        }
    }
    flush(&mut out, connection);
}

fn read(connection: &Connection, input: &mut In<'_>, script: Script) {
    let all = script.before + script.in_ring + script.after;
    let mut next = 1;
    while next <= all {
        let has_stopped = script.reader_leaves_at.is_some_and(|at| next > at);
        if has_stopped {
            input.demote().unwrap();
        }
        let bytes = match input.source().unwrap() {
            Source::Tcp { limit } => {
                let bytes = connection.receive(limit.unwrap_or(u64::MAX));
                input.received(bytes.len());
                bytes
            }
            Source::Ring => {
                let mut out = [0; 2];
                let length = input.read(&mut out).unwrap();
                out[..length].to_vec()
            }
        };
        for &byte in &bytes {
            assert_eq!(byte, next, "another byte than was sent");
            next += 1;
        }
        if bytes.is_empty() && !input.settle().unwrap() && connection.tcp.lock().unwrap().is_empty()
        {
            connection.readers.wait();
        }
    }
    if script.reader_leaves_at.is_some() {
        input.demote().unwrap();
    }
}

const THERE: Script = Script {
    before: 1,
    in_ring: 1,
    after: 0,
    writer_leaves: false,
    reader_leaves_at: None,
    is_hasty: false,
};
pub(crate) const AND_BACK: Script = Script { after: 1, writer_leaves: true, ..THERE };
pub(crate) const HASTY: Script = Script { is_hasty: true, ..AND_BACK };
const READER_LEAVES: Script = Script { in_ring: 2, reader_leaves_at: Some(1), ..THERE };
pub(crate) const BOTH_LEAVE: Script =
    Script { in_ring: 1, after: 1, writer_leaves: true, reader_leaves_at: Some(1), ..THERE };

#[test]
fn a_stream_moves_to_the_ring() {
    run(THERE, WHOLE);
    run(Script { in_ring: 3, before: 0, ..THERE }, WHOLE);
}

#[test]
fn and_back_when_the_writer_wants_it() {
    run(AND_BACK, WHOLE);
    run(Script { in_ring: 0, ..AND_BACK }, WHOLE);
}

#[test]
fn and_back_when_the_reader_wants_it() {
    run(READER_LEAVES, WHOLE);
    run(Script { reader_leaves_at: Some(0), ..READER_LEAVES }, WHOLE);
    run(Script { reader_leaves_at: Some(2), ..READER_LEAVES }, WHOLE);
}

#[test]
fn and_back_when_both_want_it() {
    run(BOTH_LEAVE, WHOLE);
    run(Script { reader_leaves_at: Some(0), ..BOTH_LEAVE }, WHOLE);
}
