//! The way of a connection back to TCP, and its end.

use std::sync::atomic::Ordering::SeqCst;

use afterbay_net_proto::Reason;
use afterbay_net_ring::Route;
use rustix::io::Errno;

use crate::conn::{Conn, Input, Out, is_dead};
use crate::sys::{self, Result};

/// Bytes that are sent back by TCP at once.
const BACKLOG_CHUNK: usize = 16 << 10;

impl Conn {
    /// If it is to go back, or the other end sends nothing more, the next bytes go by TCP: which knows whether anybody is there.
    pub(crate) fn keep_back(&self, out: &mut Out, fd: i32) -> Result<()> {
        let has_hung_up = self.hung_up.load(SeqCst);
        if !has_hung_up && !self.wants_tcp.load(SeqCst) {
            return Ok(());
        }
        if has_hung_up {
            self.note(Reason::Closing);
        }
        let was_ring = out.is_ring();
        out.path.demote().map_err(|_| self.is_broken(fd))?;
        if was_ring {
            self.ring_call();
            // Who waits for room waits for TCP's from now on.
            self.write_bell.ring();
        }
        Ok(())
    }

    /// Sends by TCP what the consumer left in the ring. Whether all is sent.
    pub(crate) fn send_backlog(&self, out: &mut Out, fd: i32) -> Result<bool> {
        let mut bytes = [0; BACKLOG_CHUNK];
        loop {
            let length = out.path.backlog(&mut bytes);
            if length == 0 {
                if out.is_shut {
                    sys::shutdown(fd, libc::SHUT_WR)?;
                }
                return Ok(true);
            }
            let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
            match sys::send_bytes(fd, &bytes[..length], flags) {
                Ok(length) => out.path.sent(length),
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// `shutdown`, which comes after what was written.
    pub(crate) fn shut(&self, fd: i32, how: i32) -> Result<usize> {
        if how != libc::SHUT_WR {
            self.reads_no_more.store(true, SeqCst);
        }
        if how == libc::SHUT_RD {
            return sys::shutdown(fd, how);
        }
        let mut out = self.out()?;
        out.path.end();
        out.is_shut = true;
        let has_backlog = matches!(out.path.route(), Ok(Route::Backlog(_))) && !is_dead(fd);
        if has_backlog && !self.send_backlog(&mut out, fd)? {
            // The rest, and the end, are the service's.
            crate::service::nudge();
            return if how == libc::SHUT_RDWR { sys::shutdown(fd, libc::SHUT_RD) } else { Ok(0) };
        }
        sys::shutdown(fd, how)
    }

    /// Goes back to TCP. Whether all that was written is sent; what comes is TCP's, but for what the other end left in the ring.
    pub(crate) fn go_back(&self, fd: i32, reason: Reason) -> Result<bool> {
        self.note(reason);
        self.wants_tcp.store(true, SeqCst);
        self.input()?.path.demote().map_err(|_| self.is_broken(fd))?;
        let is_sent = self.out_goes_back(fd, reason)?;
        self.ring_call();
        Ok(is_sent)
    }

    /// Only what is written goes back to TCP: before urgent data, and `sendfile`.
    pub(crate) fn out_goes_back(&self, fd: i32, reason: Reason) -> Result<bool> {
        self.note(reason);
        self.wants_tcp.store(true, SeqCst);
        let mut out = self.out()?;
        self.keep_back(&mut out, fd)?;
        let is_sent = match out.path.route() {
            Ok(Route::Backlog(_)) if !is_dead(fd) => self.send_backlog(&mut out, fd)?,
            _ => true,
        };
        self.track(&mut out);
        Ok(is_sent)
    }

    /// What a look finds that nobody of the program has to ask for, where bytes come in. It takes no lock.
    pub(crate) fn attend_input(&self, input: &mut Input, fd: i32) {
        if input.path.source().is_err() {
            self.is_broken(fd);
        }
    }

    /// And where they go out, before [`Conn::track`]. It takes no lock. Whether bytes wait for TCP to take them.
    pub(crate) fn attend_out(&self, out: &mut Out, fd: i32) -> bool {
        let mut waits_for_tcp = false;
        let _ = self.keep_back(out, fd);
        if let Ok(Route::Backlog(_)) = out.path.route() {
            self.note(Reason::Peer);
            // TCP's error is the program's, and whoever sends gets it.
            waits_for_tcp = !is_dead(fd) && self.send_backlog(out, fd) == Ok(false);
        }
        if out.is_stopped() {
            self.note(Reason::Peer);
        }
        waits_for_tcp
    }
}
