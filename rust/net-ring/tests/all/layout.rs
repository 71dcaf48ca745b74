//! The geometry of a segment, and what is refused.

use afterbay_net_ring::{
    CONTROL_BYTES, Capacity, Direction, Field, Geometry, LayoutError, SEGMENT_HEAD_BYTES,
};
use proptest::prelude::*;

fn geometry(to_acceptor: u64, to_connector: u64) -> Geometry {
    Geometry::new(Capacity::new(to_acceptor).unwrap(), Capacity::new(to_connector).unwrap())
        .unwrap()
}

#[test]
fn what_is_written_is_read() {
    let written = geometry(1 << 16, 1 << 13);
    assert_eq!(Geometry::parse(&written.encode()), Ok(written));
    assert_eq!(written.data_offset(Direction::ToAcceptor), 4096);
    assert_eq!(written.data_offset(Direction::ToConnector), 4096 + (1 << 16));
    assert_eq!(written.segment_bytes(), 4096 + (1 << 16) + (1 << 13));
}

#[test]
fn nothing_overlaps() {
    let directions = [Direction::ToAcceptor, Direction::ToConnector];
    let mut words: Vec<usize> = directions
        .iter()
        .flat_map(|direction| Field::ALL.map(|field| direction.control_offset() + field.offset()))
        .collect();
    words.sort_unstable();
    assert!(words.windows(2).all(|pair| pair[0] + 8 <= pair[1]));
    assert!(words.iter().all(|offset| offset % 8 == 0 && offset + 8 <= SEGMENT_HEAD_BYTES));
    assert!(Field::ALL.iter().all(|field| field.offset() + 8 <= CONTROL_BYTES));
    // What one side writes again and again shares no line, nor a pair of them, with what the other side writes.
    let lines = [Field::Head, Field::Tail, Field::ReaderWaits, Field::WriterWaits, Field::Left];
    for pair in lines.windows(2) {
        assert!(pair[0].offset() / 128 < pair[1].offset() / 128);
    }
}

#[test]
fn wrong_geometries_are_refused() {
    let good = geometry(4096, 4096).encode();
    let with = |at: usize, byte: u8| {
        let mut bytes = good;
        bytes[at] = byte;
        Geometry::parse(&bytes)
    };
    assert_eq!(with(0, b'B'), Err(LayoutError::Magic));
    assert_eq!(with(8, 2), Err(LayoutError::Version { found: 2 }));
    assert_eq!(with(12, 1), Err(LayoutError::Reserved));
    assert_eq!(with(16, 1), Err(LayoutError::Capacity { found: 4097 }));
    assert_eq!(with(17, 8), Err(LayoutError::Capacity { found: 2048 }));
    assert_eq!(with(31, 1), Err(LayoutError::Capacity { found: 1 << 56 | 4096 }));
    assert_eq!(Capacity::new(0), Err(LayoutError::Capacity { found: 0 }));
    assert_eq!(Capacity::new(1 << 31), Err(LayoutError::Capacity { found: 1 << 31 }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    #[test]
    fn any_bytes_are_refused_or_written_alike(mut bytes: [u8; 32], good_until in 0..33_usize) {
        bytes[..good_until].copy_from_slice(&geometry(4096, 8192).encode()[..good_until]);
        if let Ok(parsed) = Geometry::parse(&bytes) {
            prop_assert_eq!(parsed.encode(), bytes);
        }
    }
}
