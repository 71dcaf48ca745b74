//! `select` and `pselect`, as `poll`.

use std::ffi::c_int;

use afterbay_net_core::slot::is_ours;
use afterbay_net_core::{Errno, poll, sys};
use libc::{
    POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, POLLRDBAND, POLLRDNORM, POLLWRBAND,
    POLLWRNORM, c_short, fd_set, pollfd, sigset_t, timespec, timeval,
};

use crate::poll::nanoseconds;
use crate::real::{guard, number, real};

/// What the kernel's `select` takes for readable, writable and exceptional.
const READABLE: c_short = POLLRDNORM | POLLRDBAND | POLLIN | POLLHUP | POLLERR;
const WRITABLE: c_short = POLLWRBAND | POLLWRNORM | POLLOUT | POLLERR;
const EXCEPTIONAL: c_short = POLLPRI;

/// The three sets of a call, as arrays of words: they may be longer than `fd_set` says.
struct Sets {
    sets: [*mut u64; 3],
    count: c_int,
}

impl Sets {
    fn has(&self, set: usize, fd: c_int) -> bool {
        let words = self.sets[set];
        // SAFETY: a program's set has a bit for each descriptor below the count.
        !words.is_null() && unsafe { *words.add(fd as usize / 64) } >> (fd as usize % 64) & 1 == 1
    }

    fn put(&self, set: usize, fd: c_int, is_in: bool) {
        let words = self.sets[set];
        if words.is_null() {
            return;
        }
        let bit = 1 << (fd as usize % 64);
        // SAFETY: as in `has`.
        unsafe {
            let word = words.add(fd as usize / 64);
            *word = if is_in { *word | bit } else { *word & !bit };
        }
    }

    fn wanted(&self) -> Vec<pollfd> {
        let events = [POLLIN, POLLOUT, POLLPRI];
        let of = |fd| {
            let events = (0..3).filter(|&set| self.has(set, fd)).map(|set| events[set]);
            pollfd { fd, events: events.fold(0, |all, event| all | event), revents: 0 }
        };
        (0..self.count).map(of).filter(|fd| fd.events != 0).collect()
    }

    fn concerns(&self) -> bool {
        (0..self.count).any(|fd| is_ours(fd) && (0..3).any(|set| self.has(set, fd)))
    }

    fn wait(&self, timeout: Option<u64>, mask: Option<&sigset_t>) -> Result<usize, Errno> {
        let mut fds = self.wanted();
        poll::poll(&mut fds, timeout, mask)?;
        if fds.iter().any(|fd| fd.revents & POLLNVAL != 0) {
            return Err(Errno::BADF);
        }
        let mut count = 0;
        for fd in fds {
            for (set, events) in [READABLE, WRITABLE, EXCEPTIONAL].into_iter().enumerate() {
                let is_in = self.has(set, fd.fd) && fd.revents & events != 0;
                self.put(set, fd.fd, is_in);
                count += usize::from(is_in);
            }
        }
        Ok(count)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    let sets = Sets { sets: [read.cast(), write.cast(), except.cast()], count };
    if sets.concerns() {
        // SAFETY: as the program calls it.
        let given = unsafe { timeout.as_mut() };
        let until = given.as_ref().map(|time| {
            (time.tv_sec as u64).saturating_mul(1_000_000_000) + time.tv_usec as u64 * 1000
        });
        let began = sys::now();
        let result = number(guard(|| sets.wait(until, None)));
        // Linux says what is left.
        if let (Some(given), Some(until)) = (given, until) {
            let left = until.saturating_sub(sys::now() - began) / 1000;
            given.tv_sec = (left / 1_000_000) as libc::time_t;
            given.tv_usec = (left % 1_000_000) as libc::suseconds_t;
        }
        return result;
    }
    type Real =
        unsafe extern "C" fn(c_int, *mut fd_set, *mut fd_set, *mut fd_set, *mut timeval) -> c_int;
    let real = real!(c"select" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(count, read, write, except, timeout) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    let sets = Sets { sets: [read.cast(), write.cast(), except.cast()], count };
    if sets.concerns() {
        // SAFETY: as the program calls it.
        let (timeout, mask) = unsafe { (timeout.as_ref().map(nanoseconds), mask.as_ref()) };
        return number(guard(|| sets.wait(timeout, mask)));
    }
    type Real = unsafe extern "C" fn(
        c_int,
        *mut fd_set,
        *mut fd_set,
        *mut fd_set,
        *const timespec,
        *const sigset_t,
    ) -> c_int;
    let real = real!(c"pselect" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(count, read, write, except, timeout, mask) }
}
