//! A peer that writes anything anywhere, between any two operations: each operation says what is wrong or does its work within
//! bounds, and what is wrong stays so.

use std::sync::atomic::Ordering::Relaxed;

use afterbay_net_ring::{Field, NONE, Result, RingError, Route, Shared, Source, TAKEN_BACK};
use proptest::prelude::*;

use crate::Direction;

const CAPACITY: u64 = 4;

/// What a peer might write into a word of which the true value is near `true_value`.
fn lies(true_value: u64) -> [u64; 12] {
    [
        0,
        1,
        true_value.wrapping_sub(1),
        true_value,
        true_value.wrapping_add(1),
        true_value.wrapping_add(CAPACITY),
        true_value.wrapping_add(CAPACITY + 1),
        true_value << 1,
        true_value << 1 | 1,
        1 << 63,
        NONE - 1,
        NONE,
    ]
}

/// What the two honest ends do, one operation after the other.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Send,
    Receive,
    SettleWriter,
    SettleReader,
    WriterLeaves,
    ReaderLeaves,
}

const OPERATIONS: [Operation; 6] = [
    Operation::Send,
    Operation::Receive,
    Operation::SettleWriter,
    Operation::SettleReader,
    Operation::WriterLeaves,
    Operation::ReaderLeaves,
];

/// How many operations failed.
fn run(operations: &[Operation], mut scribble: impl FnMut(usize, &Direction)) -> usize {
    let direction = Direction::new(CAPACITY);
    let (mut out, mut input) = direction.ends();
    let (mut out_failed, mut in_failed) = (false, false);
    let mut failures = 0;
    if out.switch().is_err() {
        return 1;
    }
    for (at, operation) in operations.iter().enumerate() {
        scribble(at, &direction);
        let mut buffer = [7; 3];
        let is_writer = matches!(
            operation,
            Operation::Send | Operation::SettleWriter | Operation::WriterLeaves
        );
        let result: Result<()> = match operation {
            Operation::Send => out.route().and_then(|route| {
                match route {
                    Route::Tcp => out.sent(3),
                    Route::Ring => assert!(out.write(&buffer)? <= 3),
                    Route::Backlog(rest) => {
                        assert!(rest <= CAPACITY as usize, "more than the ring holds");
                        let length = out.backlog(&mut buffer);
                        assert!(length > 0 && length <= rest);
                        out.sent(length);
                    }
                }
                Ok(())
            }),
            Operation::Receive => input.source().and_then(|source| {
                match source {
                    Source::Tcp { limit } => input.received(limit.unwrap_or(3).min(3) as usize),
                    Source::Ring => {
                        assert!(input.available()? <= CAPACITY as usize);
                        assert!(input.peek(usize::MAX, &mut buffer)? == 0);
                        assert!(input.read(&mut buffer)? <= 3);
                    }
                }
                Ok(())
            }),
            Operation::SettleWriter => out.settle().map(drop),
            Operation::SettleReader => input.settle().map(drop),
            Operation::WriterLeaves => out.demote().map(drop),
            Operation::ReaderLeaves => input.demote().map(drop),
        };
        let failed = if is_writer { &mut out_failed } else { &mut in_failed };
        failures += usize::from(result.is_err());
        *failed |= result.is_err();
    }
    // Of a ring that failed, nothing is read or written any more.
    if in_failed {
        assert!(
            input.read(&mut [0]).is_err()
                || input.source().is_ok_and(|source| source != Source::Ring)
        );
    }
    if out_failed {
        assert!(out.write(&[0]).is_err() || out.route().is_ok_and(|route| route != Route::Ring));
    }
    failures
}

/// All programs of four operations, each lie in each word before each of them.
#[test]
fn each_lie_at_each_place_of_each_interleaving() {
    let length = 4;
    let (mut runs, mut failed) = (0_u64, 0_u64);
    for number in 0..OPERATIONS.len().pow(length) {
        let operations: Vec<_> = (0..length)
            .map(|at| OPERATIONS[number / OPERATIONS.len().pow(at) % OPERATIONS.len()])
            .collect();
        for place in 0..length as usize {
            for field in Field::ALL {
                for lie in 0..lies(0).len() {
                    let failures = run(&operations, |at, direction| {
                        if at == place {
                            let word = direction.ring.word(field);
                            word.store(lies(word.load(Relaxed))[lie], Relaxed);
                        }
                    });
                    runs += 1;
                    failed += u64::from(failures > 0);
                }
            }
        }
    }
    assert_eq!(runs, 6_u64.pow(4) * 4 * 11 * 12);
    assert!(failed > runs / 20, "nearly no lie was found out: {failed} of {runs}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(afterbay_test_form::ring_cases()))]

    /// Random bytes over the whole ring, again and again.
    #[test]
    fn random_bytes_everywhere(
        operations in prop::collection::vec(prop::sample::select(OPERATIONS.to_vec()), 1..30),
        noise in prop::collection::vec(prop::option::of((prop::array::uniform11(any::<u64>()), 0..64_u32)), 30),
    ) {
        run(&operations, |at, direction| {
            if let Some((words, shift)) = noise[at] {
                for (field, value) in Field::ALL.into_iter().zip(words) {
                    direction.ring.word(field).store(value >> shift, Relaxed);
                }
                direction.ring.put(0, &words[0].to_le_bytes()[..4]);
            }
        });
    }
}

/// A ring of 4 bytes of which 3 are written and 1 is read, with these words.
fn with(words: &[(Field, u64)]) -> (Result<usize>, Result<usize>) {
    let direction = Direction::new(CAPACITY);
    let (mut producer, mut consumer) = (direction.producer(), direction.consumer());
    producer.write(b"abc").unwrap();
    consumer.read(&mut [0; 1]).unwrap();
    assert_eq!((producer.room(), consumer.available()), (Ok(2), Ok(2)));
    for &(field, value) in words {
        direction.ring.word(field).store(value, Relaxed);
    }
    let found = (producer.room(), consumer.available());
    // The truth comes too late.
    for (field, value) in [(Field::Head, 3), (Field::Tail, 1), (Field::Left, NONE)] {
        direction.ring.word(field).store(value, Relaxed);
    }
    assert!(found.0.is_ok() || producer.room() == found.0);
    assert!(found.1.is_ok() || consumer.available() == found.1);
    found
}

fn writer_refuses(words: &[(Field, u64)], error: RingError) {
    assert_eq!(with(words).0, Err(error), "{words:?}");
}

fn reader_refuses(words: &[(Field, u64)], error: RingError) {
    assert_eq!(with(words).1, Err(error), "{words:?}");
}

#[test]
fn what_is_wrong_is_said() {
    let tail = |found| RingError::Tail { found, seen: 1, published: 3 };
    writer_refuses(&[(Field::Tail, 0)], tail(0));
    writer_refuses(&[(Field::Tail, 4)], tail(4));
    writer_refuses(&[(Field::Tail, NONE)], tail(NONE));
    let head = |found| RingError::Head { found, seen: 3, consumed: 1 };
    reader_refuses(&[(Field::Head, 2)], head(2));
    reader_refuses(&[(Field::Head, 0)], head(0));
    reader_refuses(&[(Field::Head, 6)], head(6));
    reader_refuses(&[(Field::Head, NONE)], head(NONE));
    let left = |found| RingError::Left { found };
    // Not the cursor; not the one who can have written it.
    for found in [0, 2 << 1 | 1, NONE - 1, 3 << 1] {
        writer_refuses(&[(Field::Left, found)], left(found));
    }
    for found in [2 << 1, 4 << 1, NONE - 1, 1 << 1 | 1] {
        reader_refuses(&[(Field::Left, found)], left(found));
    }
    // As far as it goes.
    assert_eq!(with(&[(Field::Tail, 3)]), (Ok(4), Ok(2)));
    assert_eq!(with(&[(Field::Head, 5)]), (Ok(2), Ok(4)));
}

#[test]
fn a_switch_that_cannot_be_is_refused() {
    let source = |taken: usize, words: &[(Field, u64)]| {
        let direction = Direction::new(CAPACITY);
        let (_, mut input) = direction.ends();
        input.received(taken);
        for &(field, value) in words {
            direction.ring.word(field).store(value, Relaxed);
        }
        input.source()
    };
    let refused = |found| Err(RingError::SwitchOff { found, taken: 5 });
    assert_eq!(source(5, &[(Field::SwitchOff, 4)]), refused(4));
    assert_eq!(source(5, &[(Field::SwitchOff, 4), (Field::Head, 1)]), refused(4));
    // Bytes, an end or the way back, and no switch.
    for (field, value) in [(Field::Head, 1), (Field::Ended, 1), (Field::Left, 0)] {
        assert_eq!(source(5, &[(field, value)]), refused(NONE));
    }
    assert_eq!(source(5, &[(Field::SwitchOff, 7)]), Ok(Source::Tcp { limit: Some(2) }));
    // Taken back before this side looked: it has read what follows on TCP, and goes on there.
    assert_eq!(
        source(5, &[(Field::SwitchOff, 4), (Field::Joined, TAKEN_BACK)]),
        Ok(Source::Tcp { limit: None })
    );
}

#[test]
fn nobody_is_believed_twice_about_where_it_left() {
    let direction = Direction::new(CAPACITY);
    let (mut producer, mut consumer) = (direction.producer(), direction.consumer());
    producer.write(b"abc").unwrap();
    direction.ring.word(Field::Left).store(3 << 1, Relaxed);
    assert_eq!(consumer.available(), Ok(3));
    direction.ring.word(Field::Head).store(4, Relaxed);
    direction.ring.word(Field::Left).store(4 << 1, Relaxed);
    assert_eq!(consumer.available(), Err(RingError::Left { found: 4 << 1 }));
}
