//! Two threads, and more bytes than the ring ever holds.

use std::thread;

use afterbay_test_form::ring_stream_bytes;

use crate::Direction;

/// The byte at a position of the stream.
fn byte(position: u64) -> u8 {
    (position.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

#[test]
fn a_long_stream_arrives_whole() {
    let bytes = if cfg!(miri) { 2000 } else { ring_stream_bytes() };
    let direction = Direction::new(if cfg!(miri) { 64 } else { 4096 });
    let direction = &direction;
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut producer = direction.producer();
            let mut sent = 0;
            while sent < bytes {
                let length = (1 + u64::from(byte(sent)) * 23).min(bytes - sent);
                let chunk: Vec<u8> = (sent..sent + length).map(byte).collect();
                let mut rest = &chunk[..];
                while !rest.is_empty() {
                    let written = producer.write(rest).unwrap();
                    rest = &rest[written..];
                    if written == 0 && !producer.settle().unwrap() {
                        direction.writer.wait();
                    }
                }
                sent += length;
            }
            producer.end();
        });
        let mut consumer = direction.consumer();
        let mut received = 0;
        let mut buffer = [0; 3000];
        while !consumer.is_ended().unwrap() {
            let length = consumer.read(&mut buffer).unwrap();
            for &found in &buffer[..length] {
                assert_eq!(found, byte(received), "at {received}");
                received += 1;
            }
            if length == 0 && !consumer.settle().unwrap() {
                direction.reader.wait();
            }
        }
        assert_eq!(received, bytes);
    });
}
