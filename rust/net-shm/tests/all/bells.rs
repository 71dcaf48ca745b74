//! Bells ring by level, and are eventfds.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use afterbay_net_ring::Bell;
use afterbay_net_shm::{EventBell, ShmError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

fn rings(bell: &EventBell) -> bool {
    let mut waited = [PollFd::new(bell, PollFlags::IN)];
    poll(&mut waited, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 1
}

#[test]
fn a_bell_rings_until_it_is_silenced() {
    let bell = EventBell::create(true).unwrap();
    let other = EventBell::open(bell.try_clone().unwrap().as_fd().try_clone_to_owned().unwrap());
    let other = other.unwrap();
    assert!(rings(&bell));
    bell.silence();
    assert!(!rings(&bell));
    bell.silence();
    other.ring();
    other.ring();
    assert!(rings(&bell) && rings(&other));
    bell.silence();
    assert!(!rings(&bell) && !rings(&other));
}

/// The flags of the file are the peer's as well.
#[test]
fn silencing_does_not_wait() {
    let bell = EventBell::create(false).unwrap();
    let flags = fcntl_getfl(&bell).unwrap();
    fcntl_setfl(&bell, flags - OFlags::NONBLOCK).unwrap();
    bell.silence();
    bell.ring();
    bell.silence();
    assert!(!rings(&bell));
}

#[test]
fn other_descriptors_are_no_bells() {
    let (reader, writer) = std::io::pipe().unwrap();
    let others: [OwnedFd; 3] =
        [reader.into(), writer.into(), File::open("/dev/null").unwrap().into()];
    for other in others {
        assert_eq!(EventBell::open(other).unwrap_err(), ShmError::NotEvent);
    }
}
