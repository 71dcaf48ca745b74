//! The kernel's TCP, which each connection has.

use afterbay_net_ring::Source;
use rustix::io::Errno;

use super::{Room, Transport};
use crate::conn::{Conn, Input, Out, Step};
use crate::iov::Buffers;
use crate::sys::{self, Result};

/// The connection's own socket.
#[derive(Debug)]
pub(crate) struct Tcp;

impl Transport for Tcp {
    fn send(
        _conn: &Conn,
        out: &mut Out,
        fd: i32,
        from: &mut Buffers<'_>,
        flags: i32,
    ) -> Result<Option<Step>> {
        let some = from.some(usize::MAX);
        match sys::send(fd, some.as_slice(), flags | libc::MSG_DONTWAIT) {
            Ok(length) => {
                out.path.sent(length);
                from.advance(length);
                Ok(Some(Step::Moved(length)))
            }
            Err(Errno::AGAIN) => Ok(Some(Step::Nothing)),
            Err(error) => Err(error),
        }
    }

    fn receive(
        conn: &Conn,
        input: &mut Input,
        fd: i32,
        to: &mut Buffers<'_>,
        flags: i32,
        limit: Option<u64>,
    ) -> Result<Option<Step>> {
        if let Some(error) = input.error.take() {
            return Err(error);
        }
        let room = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let some = to.some(room);
        let flags = (flags | libc::MSG_DONTWAIT) & !libc::MSG_WAITALL;
        match sys::receive(fd, some.as_slice(), flags) {
            Ok(0) if limit.is_none() => {
                // The peer may have said that its last bytes are in the ring.
                let source = input.path.source().map_err(|_| conn.is_broken(fd))?;
                let is_end = matches!(source, Source::Tcp { limit: None });
                if is_end && conn.has_rest(input, fd)? {
                    return Ok(None);
                }
                Ok(is_end.then_some(Step::End))
            }
            Ok(0) => Ok(Some(Step::End)),
            Ok(length) => {
                if flags & libc::MSG_PEEK == 0 {
                    input.path.received(length);
                    to.advance(length);
                }
                Ok(Some(Step::Moved(length)))
            }
            Err(Errno::AGAIN) if input.path.settle().map_err(|_| conn.is_broken(fd))? => Ok(None),
            Err(Errno::AGAIN) => Ok(Some(Step::Nothing)),
            Err(error) => {
                let source = input.path.source().map_err(|_| conn.is_broken(fd))?;
                if source == Source::Ring || conn.has_rest(input, fd)? {
                    input.error = Some(error);
                    return Ok(None);
                }
                Err(error)
            }
        }
    }

    fn room(_conn: &Conn) -> Room {
        Room { events: libc::POLLOUT, bell: -1 }
    }
}
