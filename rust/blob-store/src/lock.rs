//! Locks of files and directories, which a process keeps until it ends.

use std::io;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How long somebody may still have what nobody uses any more.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// Locks what is open, for as long as it is. An error of the kind [`io::ErrorKind::WouldBlock`], after two seconds, if it is
/// locked already, by this process included.
///
/// A lock is one of an open file, not of a process. A process that starts another one gives it copies of all files until the
/// other program begins, so that a lock may outlive who had it by as long as that takes.
pub fn lock(file: impl AsFd) -> io::Result<()> {
    let began = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if began.elapsed() < PATIENCE => thread::sleep(PAUSE),
            done => return Ok(done?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn who_goes_soon_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::open(folder.path()).unwrap();
        let (first, second) = (open(), open());
        lock(&first).unwrap();
        assert_eq!(lock(&second).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        // As a child has it that another thread has begun.
        let copy = first.try_clone().unwrap();
        drop(first);
        let goes = thread::spawn(move || {
            thread::sleep(10 * PAUSE);
            drop(copy);
        });
        lock(&second).unwrap();
        goes.join().unwrap();
    }
}
