//! Segments, and what is none.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use afterbay_net_ring::{Direction, Field, LayoutError, Shared};
use afterbay_net_shm::{Segment, ShmError};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::{Errno, pwrite};

use crate::geometry;

fn memory(bytes: &[u8], length: u64, seals: SealFlags) -> OwnedFd {
    let file = memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap();
    pwrite(&file, bytes, 0).unwrap();
    ftruncate(&file, length).unwrap();
    fcntl_add_seals(&file, seals).unwrap();
    file
}

fn refusal(file: impl Into<OwnedFd>) -> ShmError {
    Segment::open(file.into()).unwrap_err()
}

#[test]
fn both_sides_see_the_same_rings() {
    let ours = Segment::create(geometry(1 << 16, 4096)).unwrap();
    let theirs = Segment::open(ours.as_fd().try_clone_to_owned().unwrap()).unwrap();
    assert_eq!(theirs.geometry(), ours.geometry());
    for direction in [Direction::ToAcceptor, Direction::ToConnector] {
        for field in Field::ALL {
            assert_eq!(theirs.ring(direction).value(field), field.initial());
        }
        let last = ours.geometry().capacity(direction).as_usize() - 1;
        ours.ring(direction).put(last, b"!");
        let mut byte = [0];
        theirs.ring(direction).get(last, &mut byte);
        assert_eq!(&byte, b"!");
    }
    assert_eq!(ours.ring(Direction::ToAcceptor).value(Field::Head), 0);
}

/// A view keeps the memory, also after its segment is gone.
#[test]
fn a_view_outlives_its_segment() {
    let ring = Segment::create(geometry(4096, 4096)).unwrap().ring(Direction::ToConnector);
    ring.put(0, b"basin");
    let mut out = [0; 5];
    ring.get(0, &mut out);
    assert_eq!(&out, b"basin");
}

#[test]
fn a_segment_can_not_be_cut_off() {
    let segment = Segment::create(geometry(4096, 4096)).unwrap();
    assert_eq!(ftruncate(&segment, 4096), Err(Errno::PERM));
    assert_eq!(ftruncate(&segment, 1 << 20), Err(Errno::PERM));
    assert_eq!(fcntl_add_seals(&segment, SealFlags::WRITE), Err(Errno::PERM));
}

#[test]
fn other_descriptors_are_no_segments() {
    let (reader, _writer) = std::io::pipe().unwrap();
    assert_eq!(refusal(reader), ShmError::NotMemory);
    let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    assert_eq!(refusal(socket), ShmError::NotMemory);
    assert_eq!(refusal(File::open("/dev/zero").unwrap()), ShmError::NotMemory);
    assert_eq!(refusal(File::open("/proc/self/exe").unwrap()), ShmError::NotMemory);
}

#[test]
fn wrong_memory_is_refused() {
    let good = geometry(4096, 4096);
    let (head, length) = (good.encode(), good.segment_bytes() as u64);
    let all = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    assert!(Segment::open(memory(&head, length, all)).is_ok());
    for missing in [SealFlags::SHRINK, SealFlags::GROW, SealFlags::SEAL] {
        let found = all - missing;
        let error = ShmError::Seals { found: found.bits(), needed: all.bits() };
        assert_eq!(refusal(memory(&head, length, found)), error);
    }
    for found in [length - 1, length + 1, length / 2, 1 << 40] {
        let error = ShmError::Length { found, needed: length };
        assert_eq!(refusal(memory(&head, found, all)), error);
    }
    assert_eq!(refusal(memory(&[], 8, all)), ShmError::Layout(LayoutError::Magic));
    assert_eq!(refusal(memory(&[], length, all)), ShmError::Layout(LayoutError::Magic));
    // One that cannot be written.
    let error = refusal(memory(&head, length, all | SealFlags::WRITE));
    assert!(matches!(error, ShmError::System { what: "map shared memory", .. }), "{error}");
}
