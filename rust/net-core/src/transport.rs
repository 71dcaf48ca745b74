//! What carries the bytes of a connection, one direction at a time: [`Tcp`], which is always there, or [`Shm`], memory that both ends
//! have.
//!
//! ```text
//!   calls of the program      send, receive, poll, epoll: know neither
//!   where bytes go now        Route and Source (net-ring), which say when a direction moves and after how many bytes
//!   who carries them          this module: one file for each
//!   which there may be        the agent's answer (`agent`, `open`): rings, or TCP and a reason
//! ```
//!
//! # What holds for each of them
//! - TCP's connection stays beneath, and says when a stream has ended, who is alive, and what the addresses are.
//! - No transport adds a byte to a stream, and none waits: who calls does, by the socket and by a bell together.
//! - A direction begins on TCP, moves to another transport at a byte that both ends count, and can come back at any time.
//!
//! Another one, as through a router to a host that RDMA reaches, is one more file here and one more answer of the agent. If what the
//! library shares with the router is a ring, it is not even that ([ADR 0092](../../../docs/adr/0092-what-carries-a-connection-is-chosen-in-one-place.md)).

mod shm;
mod tcp;

use std::sync::atomic::Ordering::SeqCst;

use libc::c_short;

use crate::conn::{Conn, Input, Out, Step};
use crate::iov::Buffers;
use crate::sys::Result;

pub(crate) use shm::Shm;
pub(crate) use tcp::Tcp;

/// What a transport does for a connection whose next bytes it carries. By who has the lock of the direction.
pub(crate) trait Transport {
    /// Sends what there is room for. Nothing: it has to be looked once more where bytes go.
    fn send(
        conn: &Conn,
        out: &mut Out,
        fd: i32,
        from: &mut Buffers<'_>,
        flags: i32,
    ) -> Result<Option<Step>>;

    /// Receives what there is, but at most `limit` bytes where another transport goes on behind them. Nothing: it has to be looked
    /// once more where bytes come from.
    fn receive(
        conn: &Conn,
        input: &mut Input,
        fd: i32,
        to: &mut Buffers<'_>,
        flags: i32,
        limit: Option<u64>,
    ) -> Result<Option<Step>>;

    /// What a thread waits on for room.
    fn room(conn: &Conn) -> Room;
}

/// What a thread waits on for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Of the socket, as for `poll`.
    pub(crate) events: c_short,
    /// The descriptor of a bell, beside it: then the socket says only that nobody is there any more. Negative if there is none.
    pub(crate) bell: i32,
}

impl Room {
    /// Whether the socket does not say that there is room, but that there will be none.
    pub(crate) fn is_by_bell(self) -> bool {
        self.bell >= 0
    }
}

impl Conn {
    /// What a thread waits on for room, where writes go now.
    pub(crate) fn room(&self) -> Room {
        if self.writes_to_ring.load(SeqCst) { Shm::room(self) } else { Tcp::room(self) }
    }
}
