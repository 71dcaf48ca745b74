//! Holds the code against `spec/net-protocol.md`: messages are the golden vectors, byte for byte, and any bytes are refused or
//! written alike. `AFTERBAY_VECTORS_WRITE=true` writes the vectors anew, for a new version.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::fmt::Write;
use std::path::PathBuf;

use afterbay_net_proto::{
    DecodeError, Flow, MESSAGE_BYTES_MAX, Message, Reason, Record, Transport,
};
use proptest::prelude::*;

fn messages() -> Vec<(&'static str, Message)> {
    let reference = 0x0102_0304_0506_0708;
    let refused = |reason| Message::Refused { reference, reason };
    let record = Record {
        connection: 0x1112_1314_1516_1718,
        descriptor: 7,
        local: "127.0.0.1:6379".parse().unwrap(),
        peer: "[2001:db8::1]:40000".parse().unwrap(),
        out: Flow { transport: Transport::Ring, tcp_bytes: 1, ring_bytes: 2 },
        input: Flow { transport: Transport::Tcp, tcp_bytes: 3, ring_bytes: 4 },
        waits: 5,
        reason: Some(Reason::Unused),
    };
    vec![
        ("hello", Message::Hello { group: "shop.blue_1-a".parse().unwrap() }),
        ("offer", Message::Offer { reference }),
        ("withdraw", Message::Withdraw { reference }),
        ("claim", Message::Claim { reference }),
        ("welcome", Message::Welcome),
        ("offered", Message::Offered { reference }),
        ("claimed", Message::Claimed { reference }),
        ("paired", Message::Paired { reference }),
        ("refused-no-offer", refused(Reason::NoOffer)),
        ("refused-not-tcp", refused(Reason::NotTcp)),
        ("refused-not-bound", refused(Reason::NotBound)),
        ("refused-ambiguous", refused(Reason::Ambiguous)),
        ("refused-duplicate-address", refused(Reason::DuplicateAddress)),
        ("refused-too-many", refused(Reason::TooMany)),
        ("serve", Message::Serve),
        ("record", Message::Record { reference, record }),
        ("reported", Message::Reported { reference }),
        ("status", Message::Status { reference }),
        ("demote", Message::Demote { connection: reference, pid: 42 }),
        ("report", Message::Report { reference }),
        ("go-back", Message::GoBack { connection: reference }),
        ("asked", Message::Asked { reference, programs: 3 }),
        (
            "listed",
            Message::Listed { reference, pid: 42, record: Record { reason: None, ..record } },
        ),
        ("done", Message::Done { reference, pid: 42 }),
        ("told", Message::Told { connection: reference, programs: 1 }),
    ]
}

#[test]
fn messages_are_the_vectors() {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/net-protocol.hex");
    let mut text = String::new();
    for (name, message) in messages() {
        let hex: String = message.encode().iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "{name} {} {hex}", message.descriptors()).unwrap();
    }
    if std::env::var("AFTERBAY_VECTORS_WRITE").is_ok_and(|write| write == "true") {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn what_is_written_is_read() {
    for (name, message) in messages() {
        let bytes = message.encode();
        assert!(bytes.len() <= MESSAGE_BYTES_MAX, "{name}");
        assert_eq!(Message::decode(&bytes, message.descriptors()).as_ref(), Ok(&message));
        let found = message.descriptors() + 1;
        let error = DecodeError::Descriptors { found, needed: found - 1 };
        assert_eq!(Message::decode(&bytes, found), Err(error), "{name}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let good = Message::Claim { reference: 7 }.encode();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        Message::decode(&bytes, 1)
    };
    assert_eq!(with(0, b'B'), Err(DecodeError::Magic));
    assert_eq!(with(4, 2), Err(DecodeError::Version { found: 2 }));
    assert_eq!(with(6, 10), Err(DecodeError::Kind { found: 10 }));
    assert_eq!(Message::decode(&good[..15], 1), Err(DecodeError::Length { found: 15, needed: 16 }));
    let longer = [&good[..], b"!"].concat();
    assert_eq!(Message::decode(&longer, 1), Err(DecodeError::Length { found: 17, needed: 16 }));
    let refused = Message::Refused { reference: 7, reason: Reason::NoOffer }.encode();
    let unknown = [&refused[..16], &[99, 0]].concat();
    assert_eq!(Message::decode(&unknown, 0), Err(DecodeError::Reason { found: 99 }));
    let (_, record) = messages().into_iter().find(|(name, _)| *name == "record").unwrap();
    let record = record.encode();
    // A transport, the two bytes behind a port, and a connection that is none.
    for (at, bytes) in [(20, &[2][..]), (42, &[1]), (104, &[0; 8])] {
        let mut wrong = record.clone();
        wrong[at..at + bytes.len()].copy_from_slice(bytes);
        assert_eq!(Message::decode(&wrong, 0), Err(DecodeError::Record), "at {at}");
    }
    for group in ["", "Shop", "a/b", "a b", "é", &"a".repeat(65)] {
        let hello = [&Message::Welcome.encode()[..6], &[1, 0], &[0; 8], group.as_bytes()].concat();
        assert_eq!(Message::decode(&hello, 0), Err(DecodeError::Group), "{group}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn any_bytes_are_refused_or_written_alike(
        bytes in prop::collection::vec(any::<u8>(), 0..130),
        message in 0..25_usize,
        good_until in 0..130_usize,
        descriptors in 0..8_usize,
    ) {
        let good = messages()[message].1.encode();
        let good_until = good_until.min(good.len()).min(bytes.len());
        let bytes = [&good[..good_until], &bytes[good_until..]].concat();
        if let Ok(message) = Message::decode(&bytes, descriptors) {
            prop_assert_eq!(message.encode(), bytes);
            prop_assert_eq!(message.descriptors(), descriptors);
        }
    }
}
