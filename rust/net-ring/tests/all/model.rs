//! A ring is a queue of bytes with room for so many, and its bells say by level what there is.

use std::collections::VecDeque;

use afterbay_test_form::ring_cases;
use proptest::prelude::*;

use crate::Direction;

#[derive(Debug, Clone)]
enum Step {
    Write(usize),
    Stage(usize),
    Publish,
    Read(usize),
    Peek(usize, usize),
    Release(usize),
    SettleReader,
    SettleWriter,
    Grow,
    End,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = 0..12_usize;
    let step = prop_oneof![
        4 => bytes.clone().prop_map(Step::Write),
        2 => bytes.clone().prop_map(Step::Stage),
        1 => Just(Step::Publish),
        4 => bytes.clone().prop_map(Step::Read),
        1 => (bytes.clone(), bytes.clone()).prop_map(|(skip, length)| Step::Peek(skip, length)),
        1 => bytes.prop_map(Step::Release),
        2 => Just(Step::SettleReader),
        2 => Just(Step::SettleWriter),
        1 => Just(Step::Grow),
        1 => Just(Step::End),
    ];
    prop::collection::vec(step, 0..80)
}

/// Whether it has grown.
fn run(first: u64, capacity: u64, steps: Vec<Step>) -> bool {
    let direction = Direction::growing(first, capacity);
    let (mut producer, mut consumer) = (direction.producer(), direction.consumer());
    let mut room_at_most = usize::try_from(first).unwrap();
    let (first, capacity) = (room_at_most, usize::try_from(capacity).unwrap());
    let (mut sent, mut received) = (0, 0);
    let (mut staged, mut queue) = (VecDeque::new(), VecDeque::new());
    let mut next = 0_u8;
    let mut ended = false;
    for step in steps {
        match step {
            Step::Write(length) | Step::Stage(length) if ended && length < 99 => {}
            Step::Write(length) | Step::Stage(length) => {
                let bytes: Vec<u8> = (0..length).map(|i| next.wrapping_add(i as u8)).collect();
                let room = room_at_most - queue.len() - staged.len();
                let written = if matches!(step, Step::Write(_)) {
                    producer.write(&bytes).unwrap()
                } else {
                    producer.stage(&bytes).unwrap()
                };
                assert_eq!(written, length.min(room));
                staged.extend(&bytes[..written]);
                next = next.wrapping_add(written as u8);
                sent += written;
                if matches!(step, Step::Write(_)) {
                    queue.append(&mut staged);
                }
            }
            Step::Publish => {
                producer.publish();
                queue.append(&mut staged);
            }
            Step::Read(length) => {
                let mut out = vec![0; length];
                let read = consumer.read(&mut out).unwrap();
                assert_eq!(read, length.min(queue.len()));
                assert_eq!(out[..read], queue.drain(..read).collect::<Vec<_>>());
                received += read;
            }
            Step::Peek(skip, length) => {
                let mut out = vec![0; length];
                let read = consumer.peek(skip, &mut out).unwrap();
                let there: Vec<_> = queue.iter().copied().skip(skip).take(length).collect();
                assert_eq!(out[..read], there);
            }
            Step::Release(length) => {
                let there = consumer.available().unwrap();
                assert_eq!(there, queue.len());
                consumer.release(length).unwrap();
                queue.drain(..length.min(there));
                received += length.min(there);
            }
            Step::SettleReader => {
                let has_news = !queue.is_empty() || ended;
                assert_eq!(consumer.settle().unwrap(), has_news);
                assert_eq!(direction.reader.rings(), has_news);
            }
            Step::SettleWriter => {
                let has_room = queue.len() + staged.len() < room_at_most;
                assert_eq!(producer.settle().unwrap(), has_room);
                assert!(has_room || !direction.writer.rings());
            }
            Step::Grow => {
                // Of what is there, all lies in the first part of the larger ring.
                let lies = |at: usize| at % capacity < first;
                let fits =
                    sent == received || (lies(received) && received / first == (sent - 1) / first);
                let grows = room_at_most < capacity && fits;
                assert_eq!(producer.grow().unwrap(), grows);
                if grows {
                    room_at_most = capacity;
                    queue.append(&mut staged);
                }
            }
            Step::End => {
                producer.end();
                queue.append(&mut staged);
                ended = true;
            }
        }
        if !queue.is_empty() || ended {
            assert!(
                direction.reader.rings(),
                "there is something, and the reader's bell is silent"
            );
        }
        if queue.len() + staged.len() <= room_at_most / 2 && staged.is_empty() {
            assert!(direction.writer.rings(), "there is room, and the writer's bell is silent");
        }
        assert_eq!(consumer.is_ended().unwrap(), ended && queue.is_empty());
    }
    room_at_most > first
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ring_cases()))]

    #[test]
    fn a_ring_is_a_queue(capacity in 0..4_u32, more in 0..3_u32, steps in steps()) {
        run(1 << capacity, 1 << (capacity + more), steps);
    }
}

#[test]
fn a_ring_grows_where_nothing_has_to_be_moved() {
    let write_and_grow = |read| {
        let steps = vec![
            Step::Write(3),
            Step::Read(read),
            Step::Write(2),
            Step::Grow,
            Step::Write(6),
            Step::Read(99),
        ];
        run(4, 16, steps)
    };
    // Around the end of the small one, or empty.
    assert!(!write_and_grow(2));
    assert!(run(
        4,
        16,
        vec![Step::Write(3), Step::Read(1), Step::Grow, Step::Write(12), Step::Read(99)]
    ));
    assert!(run(
        4,
        16,
        vec![
            Step::Write(4),
            Step::Read(4),
            Step::Write(3),
            Step::Read(3),
            Step::Grow,
            Step::Write(15),
            Step::Read(99)
        ]
    ));
    // In the second round through the small one.
    assert!(!run(4, 16, vec![Step::Write(4), Step::Read(4), Step::Write(3), Step::Grow]));
}
