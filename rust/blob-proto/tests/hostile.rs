//! Parsers meet bytes that nobody sent: they answer, and do not panic.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use afterbay_blob_proto::{
    DataHead, FRAME_HEADER_BYTES, Frame, FrameHeader, FrameReader, Hello, Kind, Listing, Response,
    encode_frame, parse_keys, parse_request,
};
use bytes::Bytes;
use proptest::prelude::*;

fn frame(kind: Kind, head: &[u8], body_bytes: u32) -> Frame {
    let sent = encode_frame(kind, 1, head, body_bytes);
    let header = FrameHeader::parse(sent[..FRAME_HEADER_BYTES].try_into().unwrap()).unwrap();
    header.with_head(Bytes::copy_from_slice(head)).unwrap()
}

proptest! {
    #[test]
    fn any_head_of_any_kind(
        kind in 0..Kind::ALL.len(),
        head in proptest::collection::vec(any::<u8>(), 0..300),
        body_bytes in 0..200_000u32,
    ) {
        let frame = frame(Kind::ALL[kind], &head, body_bytes);
        let _ = parse_request(&frame);
        let _ = Response::parse(&frame);
        let _ = Hello::parse(&frame);
        if let Ok(data) = DataHead::parse(&frame) {
            prop_assert!(data.content.start <= data.content.end && data.content.end <= body_bytes);
        }
        let _ = Listing::parse(&Bytes::from(head.clone()));
        let _ = parse_keys(&Bytes::from(head));
    }

    #[test]
    fn any_bytes_on_a_connection(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..2000),
        begins_well: bool,
    ) {
        if begins_well && bytes.len() > 4 {
            bytes[..3].copy_from_slice(b"AB\x01");
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut reader = FrameReader::new(&bytes[..]);
            while let Ok(Some(frame)) = reader.frame().await {
                if reader.skip(frame.header.body_bytes.into()).await.is_err() {
                    break;
                }
            }
        });
    }
}
