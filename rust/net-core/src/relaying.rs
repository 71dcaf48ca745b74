//! What a process does that is a relay ([`crate::relay`]), until the connection ends.
//!
//! Neither side is waited for while there is something to do for the other one. It changes nothing of what the connection's
//! processes share: whether it waits, and how long, is its own business.

use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::Ordering::SeqCst;

use libc::{POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDHUP, iovec, pollfd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, write};
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

use crate::conn::Step;
use crate::iov::Buffers;
use crate::slot::{self, Ref};
use crate::transport::Room;
use crate::{family, files, service, sys};

/// Bytes that are passed on at once.
const CHUNK: usize = 64 << 10;
/// How often it is looked whether the program has taken all.
const LOOKS_EVERY_NS: u64 = 20_000_000;

/// Relays, in this process. It says a byte to `begins` when it has let go of all else: who waits for that may need to know which
/// processes have its other connections.
pub(crate) fn serve(at: &Ref, fd: i32, far: &OwnedFd, begins: &OwnedFd) -> ! {
    begin(at, fd, far, begins);
    let _ = write(begins, &[1]);
    let _ = sys::close(begins.as_raw_fd());
    service::ensure();
    let way = || Way { bytes: vec![0; CHUNK], left: 0..0, end: None, is_told: false };
    let mut relay =
        Relay { at, fd, far, to_program: way(), to_peer: way(), program_is_gone: false };
    relay.run();
    sys::exit()
}

/// Gives back all that is the program's: its descriptors, its terminal, its signal handlers.
fn begin(at: &Ref, fd: i32, far: &OwnedFd, begins: &OwnedFd) {
    for other in (0..slot::limit()).filter(|&other| other != fd) {
        drop(slot::detach(other));
    }
    let mut keep: Vec<i32> = at.bells().iter().map(|bell| bell.as_raw_fd()).collect();
    keep.extend([fd, far.as_raw_fd(), begins.as_raw_fd(), family::descriptor()]);
    sys::close_all_but(&mut keep);
    // Nothing of ours takes the numbers that are input and output everywhere.
    for _ in 0..3 {
        match open("/dev/null", OFlags::RDWR, Mode::empty()) {
            Ok(nothing) if nothing.as_raw_fd() <= libc::STDERR_FILENO => {
                let _ = nothing.into_raw_fd();
            }
            _ => {}
        }
    }
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
    sys::begin_anew(c"afterbay-net");
}

struct Relay<'a> {
    at: &'a Ref,
    fd: i32,
    far: &'a OwnedFd,
    to_program: Way,
    to_peer: Way,
    /// It takes nothing more.
    program_is_gone: bool,
}

/// A direction.
struct Way {
    bytes: Vec<u8>,
    /// Those that are to be passed on.
    left: Range<usize>,
    end: Option<End>,
    /// Who reads has heard of the end.
    is_told: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Stream,
    /// Who sends was reset, or who reads was.
    Reset,
}

impl Way {
    /// The next bytes are to come.
    fn is_open(&self) -> bool {
        self.left.is_empty() && self.end.is_none()
    }

    /// All bytes have been passed on, and the end is so.
    fn ends(&self, end: End) -> bool {
        self.left.is_empty() && self.end == Some(end)
    }

    fn is_done(&self) -> bool {
        self.is_told || self.ends(End::Reset)
    }
}

impl Relay<'_> {
    fn run(&mut self) {
        loop {
            // Both of them, each time.
            if self.serve_program() | self.serve_peer() {
                continue;
            }
            // What it has sent before has been passed on, as far as there is room.
            if self.program_is_gone {
                return reset(self.fd);
            }
            if self.to_program.ends(End::Reset) {
                self.wait_until_taken();
                return reset(self.far.as_raw_fd());
            }
            if self.to_program.is_done() && self.to_peer.is_done() {
                self.wait_until_taken();
                return self.wait_until_sent();
            }
            self.wait();
        }
    }

    /// Whether it was of use.
    fn serve_program(&mut self) -> bool {
        let way = &mut self.to_program;
        if way.is_open() {
            match receive(self.at, self.fd, &mut way.bytes) {
                Ok(Step::Moved(length)) => way.left = 0..length,
                Ok(Step::End) => way.end = Some(End::Stream),
                Ok(Step::Nothing) | Err(Errno::AGAIN | Errno::INTR) => return false,
                Err(_) => way.end = Some(End::Reset),
            }
        } else if !way.left.is_empty() {
            match send(self.far, &way.bytes[way.left.clone()], DONT_WAIT) {
                Ok(length) => way.left.start += length,
                Err(Errno::AGAIN | Errno::INTR) => return false,
                Err(_) => {
                    (way.left, way.end) = (0..0, Some(End::Reset));
                    self.program_is_gone = true;
                }
            }
        } else if way.end == Some(End::Stream) && !way.is_told {
            let _ = shutdown(self.far, Shutdown::Write);
            way.is_told = true;
        } else {
            return false;
        }
        true
    }

    /// Whether it was of use. If the other end takes nothing more, what it has sent is still on its way to the program, and its end
    /// says so.
    fn serve_peer(&mut self) -> bool {
        let way = &mut self.to_peer;
        if way.is_open() {
            match recv(self.far.as_fd(), &mut way.bytes[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => way.end = Some(End::Stream),
                Ok((length, _)) => way.left = 0..length,
                Err(Errno::AGAIN | Errno::INTR) => return false,
                Err(_) => {
                    way.end = Some(End::Reset);
                    self.program_is_gone = true;
                }
            }
        } else if !way.left.is_empty() {
            match send_to_peer(self.at, self.fd, &mut way.bytes[way.left.clone()]) {
                Ok(Step::Moved(length)) => way.left.start += length,
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => return false,
                Err(_) => (way.left, way.end) = (0..0, Some(End::Reset)),
            }
        } else if way.end == Some(End::Stream) && !way.is_told {
            let _ = files::shutdown(self.at, self.fd, libc::SHUT_WR);
            way.is_told = true;
        } else {
            return false;
        }
        true
    }

    /// Until there may be something to do.
    fn wait(&mut self) {
        let conn = self.at.conn();
        let wants_bytes = self.to_program.is_open();
        let wants_room = !self.to_peer.left.is_empty();
        let room = wants_room.then(|| conn.room());
        let events = if wants_bytes { POLLIN } else { 0 } | room.map_or(0, |room| room.events);
        let or_none = |fd: i32, is_wanted: bool| if is_wanted { fd } else { -1 };
        let mut far = if self.to_peer.is_open() { POLLIN } else { 0 };
        if !self.to_program.left.is_empty() {
            far |= POLLOUT;
        }
        // Its death is told in any case.
        let watches = far != 0 || !self.to_program.is_told;
        let waits = |fd: i32, events: i16| pollfd { fd, events, revents: 0 };
        let mut fds = [
            waits(or_none(self.fd, events != 0), events),
            waits(or_none(conn.read_bell.fd(), wants_bytes), POLLIN),
            waits(room.map_or(-1, |room| room.bell), POLLIN),
            waits(or_none(self.far.as_raw_fd(), watches), far),
        ];
        if sys::poll(&mut fds, None, None).is_err() {
            return;
        }
        let ends = POLLHUP | POLLERR;
        if room.is_some_and(Room::is_by_bell) && fds[0].revents & (ends | POLLRDHUP) != 0 {
            conn.hung_up.store(true, SeqCst);
        }
        // Nobody asks for its bytes, nor for room: it is told here only.
        if far == 0 && fds[3].revents & ends != 0 {
            self.program_is_gone = true;
        }
    }

    /// A reset, and a process that ends with bytes that it has not read, take with them what is on its way to the program. As long
    /// as the program has its end.
    fn wait_until_taken(&self) {
        let far = self.far.as_raw_fd();
        let is_taken = || {
            sys::ioctl_number(far, libc::TIOCOUTQ).is_ok_and(|left| left == 0)
                || sys::is_closed(far)
        };
        while !is_taken() {
            sys::sleep(LOOKS_EVERY_NS);
        }
    }

    /// What goes back to TCP, as long as the other end is there.
    fn wait_until_sent(&self) {
        let conn = self.at.conn();
        let is_left = || {
            conn.out().is_ok_and(|mut out| {
                let is_left = conn.attend_out(&mut out, self.fd);
                conn.track(&mut out);
                is_left
            })
        };
        while is_left() && !sys::is_closed(self.fd) {
            sys::sleep(LOOKS_EVERY_NS);
        }
    }
}

const DONT_WAIT: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

#[allow(unsafe_code, reason = "buffers of a call")]
fn receive(at: &Ref, fd: i32, bytes: &mut [u8]) -> sys::Result<Step> {
    let buffer = [iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }];
    // SAFETY: the bytes are this function's until it returns.
    at.conn().try_receive(fd, &mut unsafe { Buffers::new(&buffer) }, 0)
}

#[allow(unsafe_code, reason = "buffers of a call")]
fn send_to_peer(at: &Ref, fd: i32, bytes: &mut [u8]) -> sys::Result<Step> {
    let buffer = [iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }];
    // SAFETY: the bytes are this function's until it returns.
    at.conn().try_send(fd, &mut unsafe { Buffers::new(&buffer) }, libc::MSG_NOSIGNAL)
}

/// Makes the end of this process a reset of a connection.
fn reset(fd: i32) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let _ = sys::set_option(fd, libc::SOL_SOCKET, libc::SO_LINGER, linger);
}
