//! Holds the code against `spec/net-ring.md`: what it does to a segment, step by step, is the golden vector, word for word, and
//! a reader that knows only the specification finds the stream in it. `AFTERBAY_VECTORS_WRITE=true` writes the vector anew, for
//! a new version of the layout.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

use afterbay_net_ring::{Capacity, Direction as Way, Field, Geometry, Shared};

use crate::Direction;

const CAPACITY: usize = 4096;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/net-ring.txt")
}

/// The segment, with this ring to the acceptor and an unused one back.
fn segment(direction: &Direction) -> Vec<u8> {
    let capacity = Capacity::new(CAPACITY as u64).unwrap();
    let geometry = Geometry::new(capacity, capacity).unwrap();
    let mut bytes = vec![0; geometry.segment_bytes()];
    bytes[..32].copy_from_slice(&geometry.encode());
    let used = Field::ALL.map(|field| direction.ring.word(field).load(Relaxed));
    for (way, words) in
        [(Way::ToAcceptor, used), (Way::ToConnector, Field::ALL.map(Field::initial))]
    {
        for (field, word) in Field::ALL.into_iter().zip(words) {
            let at = way.control_offset() + field.offset();
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
    }
    let data = geometry.data_offset(Way::ToAcceptor);
    bytes[data..data + CAPACITY].copy_from_slice(&direction.ring.data());
    bytes
}

/// The vector: a line for each step, then a line for each group of eight bytes that it changed.
fn written() -> String {
    let direction = Direction::new(CAPACITY as u64);
    let mut text = String::new();
    let mut before = vec![0; segment(&direction).len()];
    let mut step = |name: &str, direction: &Direction| {
        let now = segment(direction);
        writeln!(text, "{name}").unwrap();
        for (at, (old, new)) in before.chunks(8).zip(now.chunks(8)).enumerate() {
            if old != new {
                let hex: String = new.iter().map(|byte| format!("{byte:02x}")).collect();
                writeln!(text, "  {:04x} {hex}", at * 8).unwrap();
            }
        }
        before = now;
    };
    step("a new segment", &direction);
    let (mut out, mut input) = direction.ends();
    step("there is a reader", &direction);
    out.sent(5);
    out.switch().unwrap();
    step("the writer switches after 5 bytes of TCP", &direction);
    out.write(b"basin").unwrap();
    step("it writes 'basin', and the reader's bell rings", &direction);
    input.received(5);
    input.source().unwrap();
    step("the reader has the 5 bytes of TCP", &direction);
    input.read(&mut [0; 5]).unwrap();
    step("it reads 5 bytes", &direction);
    input.settle().unwrap();
    step("it finds nothing more, and waits", &direction);
    out.write(&[b'.'; CAPACITY - 7]).unwrap();
    input.read(&mut [0; CAPACITY - 7]).unwrap();
    // Only the cursors are of interest here.
    direction.ring.put(5, &[0; CAPACITY - 7]);
    step("4089 bytes later, which are zeroed here", &direction);
    out.write(b"around").unwrap();
    step("the writer writes 'around', around the end", &direction);
    out.demote().unwrap();
    step("it goes back to TCP", &direction);
    text
}

#[test]
fn the_vector_is_what_the_code_does() {
    let written = written();
    if std::env::var("AFTERBAY_VECTORS_WRITE").is_ok_and(|write| write == "true") {
        std::fs::write(path(), &written).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path()).unwrap(), written);
}

/// The words at each step that has been read so far.
fn read_until(last_step: &str) -> BTreeMap<usize, u64> {
    let text = std::fs::read_to_string(path()).unwrap();
    let mut words = BTreeMap::new();
    let mut is_last = false;
    for line in text.lines() {
        if let Some(word) = line.strip_prefix("  ") {
            let (at, hex) = word.split_once(' ').unwrap();
            let value = u64::from_str_radix(hex, 16).unwrap().swap_bytes();
            words.insert(usize::from_str_radix(at, 16).unwrap(), value);
        } else if is_last {
            return words;
        } else {
            is_last = line.starts_with(last_step);
        }
    }
    assert!(is_last, "no step '{last_step}'");
    words
}

#[test]
fn the_specification_finds_the_stream_in_it() {
    let new = read_until("a new segment");
    assert_eq!(new[&0].to_le_bytes(), *b"AFTNRING");
    assert_eq!((new[&8], new[&16], new[&24]), (1, 4096, 4096));
    for control in [0x400, 0x800] {
        assert_eq!(new[&(control + 0x100)], 1, "the reader waits");
        assert_eq!((new[&(control + 8)], new[&(control + 0x200)]), (u64::MAX, u64::MAX));
    }
    let written = read_until("it writes 'basin'");
    assert_eq!((written[&0x408], written[&0x400], written[&0x500]), (5, 5, 0));
    assert_eq!(written[&0x1000].to_le_bytes()[..5], *b"basin");
    assert_eq!(read_until("it finds nothing more")[&0x500], 1);
    let around = read_until("the writer writes 'around'");
    assert_eq!(around[&0x400], 4100);
    assert_eq!(around[&0x1ff8].to_le_bytes()[6..], *b"ar");
    assert_eq!(around[&0x1000].to_le_bytes()[..4], *b"ound");
    let back = read_until("it goes back to TCP");
    assert_eq!((back[&0x600], back[&0x490], back[&0x480]), (4100 << 1, 1, 4094));
}
