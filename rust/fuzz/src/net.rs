//! What a peer says of shared-memory sockets: messages to the agent, and anything in the shared memory, at any time.

use std::sync::atomic::Ordering::Relaxed;

use afterbay_net_proto::{Message, Reason};
use afterbay_net_ring::testing::{HeapRing, ThreadBell};
use afterbay_net_ring::{
    Bell, Capacity, Consumer, Field, GEOMETRY_BYTES, Geometry, Incoming, LayoutError, Outgoing,
    Producer, Result, RingError, Route, Shared, Source,
};

use crate::outcome;

/// The number of descriptors, then the message.
pub(crate) fn message_seeds() -> Vec<Vec<u8>> {
    let reference = 7;
    let hello = "shop".parse().map(|group| Message::Hello { group });
    let refused = Message::Refused { reference, reason: Reason::Ambiguous };
    let others = [Message::Offer { reference }, Message::Paired { reference }, refused];
    let with_count = |message: Message| {
        let descriptors = u8::try_from(message.descriptors()).unwrap_or(u8::MAX);
        [&[descriptors][..], &message.encode()].concat()
    };
    hello.into_iter().chain(others).map(with_count).collect()
}

pub(crate) fn message(bytes: &[u8]) -> String {
    let Some((&descriptors, bytes)) = bytes.split_first() else { return "empty".to_owned() };
    let decoded = Message::decode(bytes, descriptors.into());
    if let Ok(message) = &decoded {
        assert_eq!(message.encode(), bytes);
        assert_eq!(message.descriptors(), usize::from(descriptors));
    }
    outcome(decoded)
}

pub(crate) fn geometry_seeds() -> Vec<Vec<u8>> {
    let of = |a, b| Geometry::new(Capacity::new(a)?, Capacity::new(b)?);
    let all: [std::result::Result<Geometry, LayoutError>; 2] =
        [of(4096, 8192), of(1 << 30, 1 << 30)];
    all.into_iter().flatten().map(|geometry| geometry.encode().to_vec()).collect()
}

pub(crate) fn geometry(bytes: &[u8]) -> String {
    let Some(bytes) = bytes.first_chunk::<GEOMETRY_BYTES>() else { return "short".to_owned() };
    let parsed = Geometry::parse(bytes);
    if let Ok(geometry) = &parsed {
        assert_eq!(geometry.encode(), *bytes);
    }
    outcome(parsed)
}

const CAPACITY: u64 = 8;
/// Kinds of a step of a script.
const STEPS: u8 = 9;

/// Scripts: a step each byte, with the number of bytes, or a word and what is written there, behind it.
pub(crate) fn ring_seeds() -> Vec<Vec<u8>> {
    let honest = vec![0, 3, 6, 0, 5, 1, 3, 1, 4, 3, 0, 8, 2, 1, 7, 4, 1, 2, 0, 1, 1, 1];
    let stops = vec![6, 0, 6, 5, 0, 4, 0, 4, 1, 4];
    // Word 0 is the writer's cursor, word 4 the reader's.
    let moves_back = vec![6, 0, 4, 8, 0, 255, 1, 4];
    let moves_on = vec![6, 0, 4, 8, 0, 20, 1, 4, 0, 4];
    let mut writes_a_word = vec![6, 0, 4, 7, 4];
    writes_a_word.extend_from_slice(&u64::MAX.to_le_bytes());
    writes_a_word.extend_from_slice(&[0, 4]);
    vec![honest, stops, moves_back, moves_on, writes_a_word]
}

/// A direction whose two ends are honest, over a ring in which somebody else writes as well.
pub(crate) fn ring(bytes: &[u8]) -> String {
    let Ok(capacity) = Capacity::new(CAPACITY) else { return "no ring".to_owned() };
    let ring = HeapRing::new(capacity);
    let (reader, writer) = (ThreadBell::default(), ThreadBell::default());
    writer.ring();
    let mut out = Outgoing::new(Producer::new(&ring, &writer, &reader));
    let mut input = Incoming::new(Consumer::new(&ring, &reader, &writer));
    let mut script = bytes.iter().copied();
    let mut first_error: Option<RingError> = None;
    while let Some(step) = script.next() {
        let done = match step % STEPS {
            0 => send(&mut out, script.next().unwrap_or(1).into()),
            1 => receive(&mut input, script.next().unwrap_or(1).into()),
            2 => out.settle().map(drop),
            3 => input.settle().map(drop),
            4 => out.demote().map(drop),
            5 => input.demote().map(drop),
            6 => out.switch().map(drop),
            7 => {
                let field = script.next();
                let value =
                    script.by_ref().take(8).fold(0, |value, byte| value << 8 | u64::from(byte));
                scribble(&ring, field, |_| value);
                Ok(())
            }
            _ => {
                let field = script.next();
                let by = i64::from(script.next().unwrap_or(1) as i8);
                scribble(&ring, field, |value| value.wrapping_add_signed(by));
                Ok(())
            }
        };
        first_error = first_error.or(done.err());
    }
    first_error.map_or_else(|| "ok".to_owned(), |error| error.to_string())
}

fn scribble(ring: &HeapRing, field: Option<u8>, change: impl FnOnce(u64) -> u64) {
    let field = Field::ALL[usize::from(field.unwrap_or(0)) % Field::ALL.len()];
    let word = ring.word(field);
    word.store(change(word.load(Relaxed)), Relaxed);
}

fn send<S: Shared, B: Bell>(out: &mut Outgoing<S, B>, length: usize) -> Result<()> {
    let mut bytes = vec![7; length];
    match out.route()? {
        Route::Tcp => out.sent(length),
        Route::Ring => assert!(out.write(&bytes)? <= length.min(CAPACITY as usize)),
        Route::Backlog(rest) => {
            assert!(rest > 0 && rest <= CAPACITY as usize);
            let back = out.backlog(&mut bytes);
            assert_eq!(back, rest.min(length));
            out.sent(back);
        }
    }
    Ok(())
}

fn receive<S: Shared, B: Bell>(input: &mut Incoming<S, B>, length: usize) -> Result<()> {
    let mut bytes = vec![0; length];
    match input.source()? {
        Source::Tcp { limit } => {
            let limit = limit.map_or(length, |limit| usize::try_from(limit).unwrap_or(length));
            input.received(length.min(limit));
        }
        Source::Ring => {
            let available = input.available()?;
            assert!(available <= CAPACITY as usize);
            assert!(input.peek(1, &mut bytes)? <= available.saturating_sub(1));
            assert_eq!(input.read(&mut bytes)?, available.min(length));
        }
    }
    Ok(())
}
