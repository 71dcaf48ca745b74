//! A stream keeps its bytes, each once and in order, however often it is asked to move, by whom, and when.

use std::collections::VecDeque;

use afterbay_net_ring::{Route, Source};
use afterbay_test_form::ring_cases;
use proptest::prelude::*;

use crate::{Direction, In, Out};

#[derive(Debug, Clone)]
enum Step {
    Send(usize),
    Receive(usize),
    Switch,
    WriterLeaves,
    ReaderLeaves,
    Settle,
    Grow,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (1..7_usize).prop_map(Step::Send),
        8 => (1..7_usize).prop_map(Step::Receive),
        2 => Just(Step::Switch),
        1 => Just(Step::WriterLeaves),
        1 => Just(Step::ReaderLeaves),
        2 => Just(Step::Settle),
        1 => Just(Step::Grow),
    ];
    prop::collection::vec(step, 0..60)
}

/// Both ends of a direction, and what TCP holds between them.
struct Stream<'d> {
    out: Out<'d>,
    input: In<'d>,
    tcp: VecDeque<u8>,
    sent: u8,
    received: u8,
}

impl Stream<'_> {
    /// As many bytes as go now. How many.
    fn send(&mut self, length: usize) -> usize {
        let bytes: Vec<u8> = (0..length).map(|i| self.sent.wrapping_add(i as u8)).collect();
        let sent = match self.out.route().unwrap() {
            Route::Ring => self.out.write(&bytes).unwrap(),
            Route::Backlog(rest) => {
                let mut back = vec![0; length];
                let length = self.out.backlog(&mut back);
                assert_eq!(length, rest.min(back.len()));
                self.tcp.extend(&back[..length]);
                self.out.sent(length);
                0
            }
            Route::Tcp => {
                self.tcp.extend(&bytes);
                self.out.sent(length);
                length
            }
        };
        self.sent = self.sent.wrapping_add(sent as u8);
        sent
    }

    /// As many bytes as there are now. How many.
    fn receive(&mut self, length: usize) -> usize {
        let mut bytes = vec![0; length];
        let received = match self.input.source().unwrap() {
            Source::Ring => self.input.read(&mut bytes).unwrap(),
            Source::Tcp { limit } => {
                let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
                let length = length.min(limit).min(self.tcp.len());
                for (byte, taken) in bytes.iter_mut().zip(self.tcp.drain(..length)) {
                    *byte = taken;
                }
                self.input.received(length);
                length
            }
        };
        for &byte in &bytes[..received] {
            assert_eq!(byte, self.received, "another byte than was sent");
            self.received = self.received.wrapping_add(1);
        }
        received
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Send(length) => drop(self.send(length)),
            Step::Receive(length) => drop(self.receive(length)),
            Step::Switch => drop(self.out.switch().unwrap()),
            Step::WriterLeaves => self.out.demote().unwrap(),
            Step::ReaderLeaves => drop(self.input.demote().unwrap()),
            Step::Grow => {
                self.out.grow().unwrap();
            }
            Step::Settle => {
                self.out.settle().unwrap();
                self.input.settle().unwrap();
            }
        }
    }
}

fn run(steps: &[Step]) -> bool {
    let direction = Direction::growing(4, 16);
    let (out, input) = direction.ends();
    let stream = Stream { out, input, tcp: VecDeque::new(), sent: 0, received: 0 };
    run_on(stream, &direction, steps)
}

/// The stream is there before its ring: until then, each end has one of its own, which nobody else knows of.
fn run_later(before: &[Step], between: &[Step], steps: &[Step]) -> bool {
    let (here, there) = (Direction::new(4), Direction::new(4));
    let direction = Direction::growing(4, 16);
    let (out, input) = (Out::new(here.producer()), In::unattached(there.consumer()));
    let mut stream = Stream { out, input, tcp: VecDeque::new(), sent: 0, received: 0 };
    before.iter().for_each(|step| stream.step(step));
    assert!(stream.input.may_move());
    assert!(stream.out.move_to(direction.producer()));
    between.iter().for_each(|step| stream.step(step));
    assert_eq!(stream.input.move_to(direction.consumer()), Ok(true));
    stream.input.attach();
    run_on(stream, &direction, steps)
}

fn run_on(mut stream: Stream<'_>, direction: &Direction, steps: &[Step]) -> bool {
    for step in steps {
        stream.step(step);
        if stream.input.available().unwrap() > 0 {
            assert!(
                direction.reader.rings(),
                "there is something, and the reader's bell is silent"
            );
        }
    }
    // Whatever happened, the rest arrives, and both get back to TCP.
    stream.out.demote().unwrap();
    while stream.sent != stream.received || stream.out.route().unwrap() != Route::Tcp {
        let moved = stream.send(0) + stream.receive(3);
        let backlog = matches!(stream.out.route().unwrap(), Route::Backlog(_));
        if backlog {
            let mut byte = [0];
            stream.out.backlog(&mut byte);
            stream.tcp.push_back(byte[0]);
            stream.out.sent(1);
        }
        assert!(moved > 0 || backlog, "bytes are lost");
    }
    assert!(stream.tcp.is_empty(), "bytes came twice");
    stream.out.ring().written() > 0
}

/// The writer dies: it sends nothing again, and TCP brings what it has, and ends.
fn run_to_death(steps: &[Step]) -> bool {
    let direction = Direction::growing(4, 16);
    let (out, input) = direction.ends();
    let mut stream = Stream { out, input, tcp: VecDeque::new(), sent: 0, received: 0 };
    steps.iter().for_each(|step| stream.step(step));
    while stream.receive(3) > 0 {}
    assert!(stream.tcp.is_empty());
    let unread = stream.sent.wrapping_sub(stream.received);
    assert_eq!(stream.input.unread(0), Ok(unread.into()));
    assert_eq!(stream.input.end_of_tcp(), Ok(unread > 0));
    while stream.receive(3) > 0 {}
    assert_eq!((stream.sent, stream.input.unread(0)), (stream.received, Ok(0)));
    assert_eq!(stream.input.end_of_tcp(), Ok(false));
    unread > 0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * ring_cases()))]

    #[test]
    fn no_byte_is_lost_by_death(steps in steps()) {
        run_to_death(&steps);
    }

    #[test]
    fn no_byte_is_lost_when_the_ring_comes_later(before in steps(), between in steps(), steps in steps()) {
        run_later(&before, &between, &steps);
    }

    #[test]
    fn no_byte_is_lost_or_doubled(steps in steps()) {
        run(&steps);
    }
}

/// A program without the library never reads what is in a ring.
#[test]
fn nobody_switches_to_a_ring_that_nobody_reads() {
    let direction = Direction::new(4);
    let mut out = Out::new(direction.producer());
    assert!(!out.switch().unwrap());
    assert_eq!((out.route(), out.write(b"a")), (Ok(Route::Tcp), Ok(0)));
    let _input = In::new(direction.consumer());
    assert!(out.switch().unwrap());
    assert_eq!((out.route(), out.write(b"a")), (Ok(Route::Ring), Ok(1)));
}

#[test]
fn what_a_dead_writer_did_not_send_again_is_in_the_ring() {
    let some = [Step::Send(3), Step::Switch, Step::Send(3), Step::Receive(4), Step::Receive(1)];
    let with = |rest: &[Step]| run_to_death(&[&some[..], rest].concat());
    assert!(!with(&[]));
    assert!(with(&[Step::ReaderLeaves]));
    // A part of it, and all of it.
    assert!(with(&[Step::ReaderLeaves, Step::Send(1)]));
    assert!(!with(&[Step::ReaderLeaves, Step::Send(1), Step::Send(1), Step::Send(1)]));
    // The reader has not heard of the ring, and the writer takes all back.
    assert!(run_to_death(&[Step::Switch, Step::Send(3), Step::WriterLeaves]));
}

#[test]
fn a_ring_that_comes_later_is_used() {
    let some = [Step::Send(5), Step::Receive(2)];
    let rest = [Step::Receive(2), Step::Switch, Step::Send(3), Step::Receive(4)];
    assert!(run_later(&some, &[Step::Send(1)], &rest));
    // Not after either end went back.
    assert!(!run_later(&[Step::Send(5), Step::WriterLeaves], &[], &rest));
    assert!(!run_later(&[Step::Send(5), Step::ReaderLeaves], &[], &rest));
}

#[test]
fn a_stream_that_switched_is_in_the_ring() {
    assert!(run(&[
        Step::Send(3),
        Step::Switch,
        Step::Send(3),
        Step::Receive(2),
        Step::ReaderLeaves
    ]));
    assert!(!run(&[Step::Send(3), Step::ReaderLeaves, Step::Switch, Step::Send(3)]));
}
