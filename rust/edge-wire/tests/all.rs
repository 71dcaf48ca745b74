//! Frames, written and read, and what a receiver makes of them.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use afterbay_edge_wire::{
    CODEC_COLUMNS, CODEC_JSON, DecodeError, Frame, LINES_MAX, PAYLOAD_BYTES_MAX, Progress, Verdict,
};
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

/// A column of each kind, nulls, and watermarks between and behind rows.
fn column_frame() -> Frame<'static> {
    let lines = "[1,42.0,\"a\",null,1767225610000]\n[2,-0.0,\"b\",true,1767225610000]\n1767225611000\n\
                 [3,0.25,\"a\",null,1767225620000]\n[4,7.5,\"b\",null,1767225620000]\n1767225621000\n";
    Frame { payload: lines.as_bytes().into(), ..frame(3, 8) }
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
    // How zstd finds its bytes is its own: what is written need not be the vector, what is read has to be.
    let columns = column_frame();
    let hex: String =
        columns.encode_columns().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    let vector = vectors.get("columns").unwrap_or_else(|| panic!("columns {hex}"));
    assert_eq!(vector[5], CODEC_COLUMNS);
    assert_eq!(Frame::decode(vector).unwrap(), columns);
    assert_eq!(vectors.len(), 3);
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
        [(0, b'X', "no frame"), (4, 2, "version 2"), (5, 2, "codec 2 is not known")]
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

/// What a value of a row may look like, by the type of its column; and what only a stranger would write.
fn value() -> impl Strategy<Value = fn(u64) -> String> {
    prop::sample::select(vec![
        (|seed| (seed as i64).to_string()) as fn(u64) -> String,
        |seed| (1_767_225_600_000 + seed % 100 * 1000).to_string(),
        |seed| [i64::MIN, i64::MAX, 0, -1][seed as usize % 4].to_string(),
        |seed| format!("{:?}", f64::from_bits(seed)),
        |seed| format!("{:.2}", seed as f64 / 1e15),
        |seed| {
            ["-0.0", "0.0", "1e16", "5e-324", "\"NaN\"", "\"-Infinity\""][seed as usize % 6]
                .to_owned()
        },
        |seed| ["true", "false"][seed as usize % 2].to_owned(),
        |seed| {
            ["\"\"", "\"a,b\"", "\"\\\"],[\"", "\"é\\\\\"", "\"\\n\""][seed as usize % 5].to_owned()
        },
        |seed| {
            [
                "-0",
                "007",
                "+1",
                "1.",
                ".5",
                "",
                " ",
                "[1",
                "99999999999999999999",
                "0.0000000000000000001",
            ][seed as usize % 10]
                .to_owned()
        },
        |_| "null".to_owned(),
    ])
}

/// As bytes are, behind the head of a frame of columns.
fn hostile(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Frame { payload: payload.into(), ..frame(1, 1) }.encode().unwrap();
    bytes[5] = CODEC_COLUMNS;
    bytes[8..12].fill(0);
    let checksum = crc_fast::crc32_iscsi(&bytes).to_be_bytes();
    bytes[8..12].copy_from_slice(&checksum);
    bytes
}

#[test]
fn what_columns_declare_is_not_believed() {
    let body = |body: &[u8]| hostile(&zstd::bulk::compress(body, 1).unwrap());
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    for (body, what) in [
        (body(&vec![0; PAYLOAD_BYTES_MAX + 1]), "more than 16 MiB"),
        (body(&[&huge[..], &[0, 0, 0]].concat()), "more lines"),
        (body(&[&[9][..], &huge, &[0, 1]].concat()), "more lines"),
        (body(&[&[9, 0][..], &huge, &[0]].concat()), "more lines"),
        (body(&[&[9, 1, 0][..], &huge].concat()), "more lines"),
        (body(&[9, 1, 0, 1, 0xff, 0xff, 0xff, 0x7f]), "too early"),
        (body(&[9, 1, 0, 1, 2, 4, 0]), "kind"),
        (body(&[9, 1, 0, 1, 3, 3, 0, 7]), "not there"),
        (body(&[9, 1, 0, 1, 2, 0, 2]), "another length"),
        (body(&[3, 1, 0, 1, 2, 0, 2]), "more lines"),
        (body(&[4, 1, 0, 1, 3, 0, 2, 2]), "another length"),
        (body(&[2, 0, 1, 0, 1, 0]), "too many rows"),
        (body(&[4, 1, 0, 1, 2, 0, 2, 9]), "follow"),
        (hostile(b"no zstd"), "zstd"),
    ] {
        let error = Frame::decode(&body).unwrap_err().to_string();
        assert!(error.contains(what), "{what}: {error}");
    }
    assert_eq!(&*Frame::decode(&body(&[4, 1, 0, 1, 2, 0, 2])).unwrap().payload, b"[1]\n");
}

/// A frame of some kilobytes that would be gigabytes: whoever reads it has something for each line.
#[test]
fn there_are_only_so_many_lines() {
    let many = "[1]\n".repeat(LINES_MAX);
    let frame = Frame { payload: many.as_bytes().into(), ..frame(1, 1) };
    let columns = frame.encode_columns().unwrap();
    assert!(columns[5] == CODEC_COLUMNS && columns.len() < 4000, "{}", columns.len());
    assert_eq!(Frame::decode(&columns).unwrap(), frame);
    let more = Frame { payload: format!("{many}7\n").into_bytes().into(), ..frame.clone() };
    for written in [more.encode(), more.encode_columns()] {
        assert_eq!(written.unwrap_err().to_string(), "131073 lines: 131072 are allowed");
    }
    let mut bytes = frame.encode().unwrap();
    let at = bytes.len() - 3;
    bytes[at] = b'\n';
    bytes[8..12].fill(0);
    let checksum = crc_fast::crc32_iscsi(&bytes).to_be_bytes();
    bytes[8..12].copy_from_slice(&checksum);
    assert_eq!(Frame::decode(&bytes), Err(DecodeError::Lines(LINES_MAX + 1)));
    // Watermarks without rows between them: of several, the last one is enough.
    let number = |number: usize| [number | 0x80, (number >> 7) | 0x80, number >> 14];
    let line = "1767225610500\n";
    for marks in [1, 2, LINES_MAX] {
        let head = [line.len() * marks, 0, marks, 0].map(number).concat();
        let head: Vec<u8> = head.into_iter().map(|byte| byte as u8).collect();
        let body = [head, vec![0; 2 * marks]].concat();
        let bytes = hostile(&zstd::bulk::compress(&body, 1).unwrap());
        match Frame::decode(&bytes) {
            Ok(frame) => assert_eq!((marks, &*frame.payload), (1, line.as_bytes())),
            Err(error) => {
                assert!(marks > 1, "{error}");
                assert_eq!(error, DecodeError::Columns("more lines than are allowed"));
            }
        }
    }
    let lines = "1\n2\n".repeat(1000);
    let marks = Frame { payload: lines.as_bytes().into(), ..frame };
    assert_eq!(marks.encode_columns().unwrap()[5], CODEC_JSON);
}

#[test]
fn rows_of_a_window_are_a_quarter_at_most() {
    let row = |room: u64| format!("[{room},{}.5,{},1767225610000]\n", room * 37 % 101, room % 7);
    let lines: String = (0..200).map(row).collect();
    let frame = Frame { payload: lines.as_bytes().into(), ..frame(1, 1) };
    let (columns, plain) = (frame.encode_columns().unwrap(), frame.encode().unwrap());
    assert!(columns.len() * 4 < plain.len(), "{} of {}", columns.len(), plain.len());
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
    fn columns_are_the_same_lines(
        kinds in prop::collection::vec(value(), 1..6), watermark: i64,
        rows in prop::collection::vec((0_u8..5, any::<u64>(), any::<i64>()), 0..60),
    ) {
        let mut lines = String::new();
        for (step, seed, mark) in rows {
            if step == 0 {
                lines.push_str(&format!("{mark}\n"));
            } else {
                let values = kinds.iter().enumerate().map(|(index, kind)| {
                    let seed = seed.rotate_left(index as u32 * 13);
                    if step == 1 && seed % 2 == 0 { "null".to_owned() } else { kind(seed) }
                });
                lines.push_str(&format!("[{}]\n", values.collect::<Vec<_>>().join(",")));
            }
        }
        let frame = Frame { watermark, payload: lines.as_bytes().into(), ..frame(1, 1) };
        let (columns, plain) = (frame.encode_columns().unwrap(), frame.encode().unwrap());
        prop_assert!(columns.len() <= plain.len());
        let marks = lines.lines().filter(|line| !line.starts_with('[')).count();
        let is_odd = marks > lines.lines().count() - marks + 1;
        prop_assert!(lines.len() < 2000 || is_odd || columns[5] == CODEC_COLUMNS);
        prop_assert_eq!(Frame::decode(&columns).unwrap(), frame);
    }

    #[test]
    fn lines_of_any_kind_are_the_same(payload in "([\\[\\],\"\\\\0-9.n-]{0,6}\n){0,40}.{0,3}") {
        let frame = Frame { payload: payload.as_bytes().into(), ..frame(1, 1) };
        let columns = frame.encode_columns().unwrap();
        prop_assert!(columns[5] == CODEC_COLUMNS || columns[5] == CODEC_JSON);
        prop_assert_eq!(Frame::decode(&columns).unwrap(), frame);
    }

    #[test]
    fn changed_columns_are_no_panic(at: prop::sample::Index, byte: u8, body in prop::collection::vec(any::<u8>(), 0..60)) {
        let encoded = column_frame().encode_columns().unwrap();
        let mut columns = zstd::bulk::decompress(&encoded[48..], 1 << 16).unwrap();
        let at = at.index(columns.len());
        columns[at] = byte;
        for body in [&columns, &body] {
            if let Ok(read) = Frame::decode(&hostile(&zstd::bulk::compress(body, 1).unwrap())) {
                let again = read.encode_columns().unwrap();
                prop_assert_eq!(Frame::decode(&again).unwrap(), read);
            }
        }
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
