//! Frames, written and read, and what a receiver makes of them.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use afterbay_edge_wire::{DecodeError, Frame, PAYLOAD_BYTES_MAX, Progress, Verdict};
use afterbay_test_form::edge_cases;
use proptest::prelude::*;

fn frame(epoch: u64, sequence: u64) -> Frame<'static> {
    Frame {
        site: "dev1".into(),
        stream: "jams".into(),
        epoch,
        sequence,
        watermark: 1_767_225_610_500,
        payload: b"[1,42.0]\n".as_slice().into(),
    }
}

/// `spec/vectors/edge-wire.txt`: name, bytes in hexadecimal.
#[test]
fn the_vectors_are_as_written() {
    let vectors: BTreeMap<&str, Vec<u8>> = include_str!("../../../spec/vectors/edge-wire.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let (name, hex) = line.split_once(' ').unwrap();
            let bytes =
                (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16));
            (name, bytes.collect::<Result<_, _>>().unwrap())
        })
        .collect();
    let rows = frame(3, 7);
    let watermark = Frame { watermark: i64::MAX, payload: [].as_slice().into(), ..frame(0, 0) };
    for (name, frame) in [("rows", rows), ("watermark", watermark)] {
        let hex: String =
            frame.encode().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(frame.encode().unwrap(), vectors[name], "{name} {hex}");
        assert_eq!(Frame::decode(&vectors[name]).unwrap(), frame, "{name}");
    }
    assert_eq!(vectors.len(), 2);
}

#[test]
fn each_changed_bit_is_found() {
    let bytes = frame(3, 7).encode().unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(Frame::decode(&changed).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        let error = Frame::decode(&bytes[..length]).unwrap_err();
        assert!(matches!(error, DecodeError::Short { .. }), "{length}: {error}");
    }
    let long = [&bytes[..], &[0]].concat();
    assert_eq!(Frame::decode(&long), Err(DecodeError::Long(1)));
}

#[test]
fn what_is_not_known_is_named() {
    let bytes = frame(3, 7).encode().unwrap();
    for (at, value, what) in
        [(0, b'X', "no frame"), (4, 2, "version 2"), (5, 1, "codec 1 is not known")]
    {
        let mut changed = bytes.clone();
        changed[at] = value;
        let error = Frame::decode(&changed).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    for name in ["", "a b", "é", &"x".repeat(64)] {
        let wrong = Frame { site: name.into(), ..frame(0, 0) };
        assert!(wrong.encode().unwrap_err().to_string().contains("is no name"));
    }
    let large = Frame { payload: vec![0; PAYLOAD_BYTES_MAX + 1].into(), ..frame(0, 0) };
    assert!(large.encode().is_err());
}

#[test]
fn numbers_decide() {
    for (progress, epoch, sequence, verdict) in [
        ((5, 3), 5, 3, Verdict::Take),
        ((5, 3), 5, 2, Verdict::Have),
        ((5, 3), 5, 4, Verdict::Gap { next: 3 }),
        ((5, 3), 6, 0, Verdict::Take),
        ((5, 3), 6, 1, Verdict::Gap { next: 0 }),
        ((5, 3), 4, 3, Verdict::Fenced { epoch: 5 }),
        ((5, u64::MAX), 5, u64::MAX, Verdict::Gap { next: u64::MAX }),
    ] {
        let before = Progress { epoch: progress.0, next: progress.1 };
        let mut after = before;
        assert_eq!(after.see(&frame(epoch, sequence)), verdict);
        let expected = Progress { epoch, next: sequence.wrapping_add(1) };
        assert_eq!(after, if verdict == Verdict::Take { expected } else { before });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    #[test]
    fn what_is_written_is_read(
        site in "[-_a-zA-Z0-9]{1,63}", stream in "[-_a-zA-Z0-9]{1,63}", epoch: u64, sequence: u64,
        watermark: i64, payload in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let frame = Frame { site: site.into(), stream: stream.into(), epoch, sequence, watermark, payload: payload.into() };
        let bytes = frame.encode().unwrap();
        prop_assert_eq!(Frame::decode(&bytes).unwrap(), frame);
    }

    #[test]
    fn no_bytes_are_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), keep in 0_usize..60) {
        let whole = frame(1, 1).encode().unwrap();
        let mixed = [&whole[..keep.min(whole.len())], &bytes[..]].concat();
        for bytes in [&bytes, &mixed] {
            if let Ok(frame) = Frame::decode(bytes) {
                prop_assert_eq!(&frame.encode().unwrap(), bytes);
            }
        }
    }

    /// A link that loses, doubles and turns round, a sender that goes back to what is not acknowledged, and starts anew.
    #[test]
    fn every_row_is_taken_once_and_in_order(steps in prop::collection::vec((0_u8..6, any::<prop::sample::Index>()), 0..200)) {
        let mut progress = Progress::default();
        let (mut epoch, mut sent) = (0, 0_u64);
        let mut on_the_way: Vec<Frame<'static>> = Vec::new();
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for (step, index) in steps {
            match step {
                0 | 1 => {
                    on_the_way.push(frame(epoch, sent));
                    sent += 1;
                }
                2 if sent > 0 => on_the_way.push(frame(epoch, index.index(usize::try_from(sent).unwrap()) as u64)),
                3 if !on_the_way.is_empty() => drop(on_the_way.remove(index.index(on_the_way.len()))),
                4 => (epoch, sent) = (epoch + 1, 0),
                _ if !on_the_way.is_empty() => {
                    let frame = on_the_way[index.index(on_the_way.len())].clone();
                    if progress.see(&frame) == Verdict::Take {
                        taken.push((frame.epoch, frame.sequence));
                    }
                }
                _ => {}
            }
        }
        for pair in taken.windows(2) {
            let ((before, last), (epoch, sequence)) = (pair[0], pair[1]);
            prop_assert!((epoch == before && sequence == last + 1) || (epoch > before && sequence == 0), "{:?}", pair);
        }
    }
}
