//! How each direction of a connection moves from TCP to a ring, and back.
//!
//! ```text
//!                        switch()                    demote()
//!   Outgoing   Tcp ------------------> Ring ------------------------------> Tcp again
//!               |                       |   the consumer stopped
//!               |  demote()             +-----------------------> Backlog ---^   what it left behind, by TCP
//!               +---------------------------------------------------------> Tcp again, for good
//!
//!                switch_off bytes came                drained
//!   Incoming   Tcp ------------------> Ring ------------------------------> Tcp again
//!               |                       |   demote()           end_of_tcp()
//!               +-----------------------+-------------> Stopped ----------> Rest
//! ```
//!
//! The stream is TCP's bytes up to `switch_off`, then the ring's, then TCP's again. Who reads counts: it takes exactly
//! `switch_off` bytes from TCP before the first one of the ring. No byte of ours says so in the stream.
//!
//! The way back is the mirror image. The producer says where the ring's bytes end and goes on with TCP; the consumer takes
//! what is in the ring first. Or the consumer says where it stops, since it will not be there any more; the producer then
//! sends by TCP what is behind that place. If both want it at once, one of them is first, by compare and exchange.
//!
//! A consumer that has not heard of the switch reads TCP without a limit, and would take bytes from behind those of the ring for
//! bytes from before. So whoever is first decides, by compare and exchange: the consumer joins, or a producer that wants back
//! takes all of its bytes with it, as if the consumer had stopped before the first one.
//!
//! A producer that is gone sends nothing again. When TCP ends, what the consumer left in the ring and did not get by TCP is
//! there still, and is read there ([`Incoming::end_of_tcp`]).

use crate::consumer::Consumer;
use crate::error::{Result, RingError};
use crate::layout::NONE;
use crate::producer::{Leaving, Producer};
use crate::shared::{Bell, Shared};

/// Where the next bytes of a direction go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// By TCP; who sends says how many ([`Outgoing::sent`]).
    Tcp,
    /// Into the ring.
    Ring,
    /// By TCP, but first these many of [`Outgoing::backlog`].
    Backlog(usize),
}

/// The writing end of a direction.
#[derive(Debug)]
pub struct Outgoing<S, B> {
    ring: Producer<S, B>,
    via: Via,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Tcp { sent: u64 },
    Ring,
    Backlog { from: u64 },
    TcpAgain,
}

impl<S: Shared, B: Bell> Outgoing<S, B> {
    /// On TCP, with a ring that it may switch to.
    pub fn new(ring: Producer<S, B>) -> Self {
        Outgoing { ring, via: Via::Tcp { sent: 0 } }
    }

    /// Where the next bytes go.
    pub fn route(&mut self) -> Result<Route> {
        self.look()?;
        Ok(match self.via {
            Via::Tcp { .. } | Via::TcpAgain => Route::Tcp,
            Via::Ring => Route::Ring,
            Via::Backlog { from } => Route::Backlog((self.ring.written() - from) as usize),
        })
    }

    /// TCP took so many bytes, of the backlog if there is one.
    pub fn sent(&mut self, bytes: usize) {
        match &mut self.via {
            Via::Tcp { sent } => *sent += bytes as u64,
            Via::Backlog { from } => {
                *from = self.ring.written().min(*from + bytes as u64);
                self.end_backlog();
            }
            Via::Ring | Via::TcpAgain => {}
        }
    }

    /// From now on, bytes go into the ring. Whether they do: not as long as there is no [`Incoming`] at the other end, and not
    /// if this direction went back to TCP before.
    pub fn switch(&mut self) -> Result<bool> {
        self.look()?;
        if let Via::Tcp { sent } = self.via
            && self.ring.is_attached()
        {
            self.ring.switch_off(sent);
            self.via = Via::Ring;
        }
        Ok(self.via == Via::Ring)
    }

    /// Writes into the ring, as many bytes as there is room for. 0 if there is none, or if the route is another one. If the
    /// consumer stops meanwhile, it rings, and these bytes are part of the backlog.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.look()?;
        if self.via != Via::Ring {
            return Ok(0);
        }
        self.ring.write(bytes)
    }

    /// Makes the ring larger, if it is the route and can grow now. Whether it has grown.
    pub fn grow(&mut self) -> Result<bool> {
        self.look()?;
        Ok(self.via == Via::Ring && self.ring.grow()?)
    }

    /// Makes the bell silent until this direction can go on; not if it can already, or is on TCP. Whether it can.
    pub fn settle(&mut self) -> Result<bool> {
        self.look()?;
        Ok(self.via != Via::Ring || self.ring.settle()?)
    }

    /// Copies the first bytes that have to go by TCP. How many.
    pub fn backlog(&self, out: &mut [u8]) -> usize {
        match self.via {
            Via::Backlog { from } => self.ring.copy_back(from, out),
            _ => 0,
        }
    }

    /// Goes back to TCP, for good: at once, or once the backlog is sent.
    pub fn demote(&mut self) -> Result<()> {
        self.look()?;
        match self.via {
            Via::Tcp { .. } => {
                self.via = Via::TcpAgain;
                self.ring.returned();
            }
            Via::Ring => match self.ring.leave()? {
                Leaving::Left => self.via = Via::TcpAgain,
                Leaving::StoppedAt(at) => self.take_back(at),
            },
            Via::Backlog { .. } | Via::TcpAgain => {}
        }
        Ok(())
    }

    /// Nothing comes after what was written: a shortcut for the reader of a ring. TCP has to say it too.
    pub fn end(&mut self) {
        if self.via == Via::Ring {
            self.ring.end();
        }
    }

    /// The ring.
    pub fn ring(&self) -> &Producer<S, B> {
        &self.ring
    }

    /// Whether the consumer stopped.
    fn look(&mut self) -> Result<()> {
        if matches!(self.via, Via::Tcp { .. } | Via::Ring)
            && let Some(at) = self.ring.stopped_at()?
        {
            self.take_back(at);
        }
        Ok(())
    }

    fn take_back(&mut self, from: u64) {
        self.via = Via::Backlog { from };
        self.end_backlog();
    }

    fn end_backlog(&mut self) {
        if self.via == (Via::Backlog { from: self.ring.written() }) {
            self.via = Via::TcpAgain;
            self.ring.returned();
        }
    }
}

/// Where the next bytes of a direction come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// TCP. Without a limit, the peer may say at any time that there is one: who waits, waits for TCP and for the bell. With
    /// one, and also after the way back, it is enough to wait for TCP.
    Tcp {
        /// At most so many bytes; who receives says how many came ([`Incoming::received`]).
        limit: Option<u64>,
    },
    /// The ring.
    Ring,
}

/// The reading end of a direction.
#[derive(Debug)]
pub struct Incoming<S, B> {
    ring: Consumer<S, B>,
    via: Taking,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taking {
    Tcp {
        taken: u64,
    },
    /// So many bytes come by TCP before those of the ring.
    LastOfTcp {
        left: u64,
    },
    Ring,
    TcpAgain,
    /// This side stopped, and so many bytes came by TCP since: first those that come before the ring's, as many as it says here or
    /// the producer says, then the ring's again.
    Stopped {
        taken: u64,
        before: Option<u64>,
    },
    /// TCP has ended without all of the ring's bytes.
    Rest,
}

impl<S: Shared, B: Bell> Incoming<S, B> {
    /// On TCP, with a ring that the peer may switch to from now on.
    pub fn new(ring: Consumer<S, B>) -> Self {
        let mut incoming = Incoming::unattached(ring);
        incoming.attach();
        incoming
    }

    /// On TCP, with a ring that the peer may switch to when this end has attached.
    pub fn unattached(ring: Consumer<S, B>) -> Self {
        Incoming { ring, via: Taking::Tcp { taken: 0 } }
    }

    /// Tells the peer, once or more often, that somebody will read the ring.
    pub fn attach(&mut self) {
        self.ring.attach();
    }

    /// Where the next bytes come from.
    pub fn source(&mut self) -> Result<Source> {
        self.look()?;
        Ok(match self.via {
            Taking::Tcp { .. } | Taking::TcpAgain | Taking::Stopped { .. } => {
                Source::Tcp { limit: None }
            }
            Taking::LastOfTcp { left } => Source::Tcp { limit: Some(left) },
            Taking::Ring | Taking::Rest => Source::Ring,
        })
    }

    /// So many bytes came by TCP.
    pub fn received(&mut self, bytes: usize) {
        match &mut self.via {
            Taking::Tcp { taken } | Taking::Stopped { taken, .. } => *taken += bytes as u64,
            Taking::LastOfTcp { left } => {
                *left = left.saturating_sub(bytes as u64);
                self.begin_ring();
            }
            Taking::Ring | Taking::TcpAgain | Taking::Rest => {}
        }
    }

    /// Reads from the ring. 0 if there is nothing now, or if the source is another one.
    pub fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        match self.source()? {
            Source::Ring => self.ring.read(out),
            Source::Tcp { .. } => Ok(0),
        }
    }

    /// Copies bytes of the ring behind the first `skip` ones, which stay there. How many.
    pub fn peek(&mut self, skip: usize, out: &mut [u8]) -> Result<usize> {
        match self.source()? {
            Source::Ring => self.ring.peek(skip, out),
            Source::Tcp { .. } => Ok(0),
        }
    }

    /// Bytes that the ring has, now, if it is the source.
    pub fn available(&mut self) -> Result<usize> {
        match self.source()? {
            Source::Ring => self.ring.available(),
            Source::Tcp { .. } => Ok(0),
        }
    }

    /// Bytes that the ring has for this side, now, beside `on_tcp` ones that have come there and wait to be received.
    pub fn unread(&mut self, on_tcp: usize) -> Result<usize> {
        match (self.source()?, self.via) {
            (_, Taking::Stopped { taken, .. }) => {
                let Some(before) = self.before() else { return Ok(0) };
                let resent = (taken + on_tcp as u64).saturating_sub(before);
                Ok(self.ring.due()?.saturating_sub(resent) as usize)
            }
            (Source::Tcp { limit: None }, _) => Ok(0),
            _ => self.ring.available(),
        }
    }

    /// TCP brings nothing more: it says so, or its error. Whether bytes are left in the ring, which come before that: then the
    /// source is the ring once more.
    pub fn end_of_tcp(&mut self) -> Result<bool> {
        if let Taking::Stopped { taken, .. } = self.via {
            // If TCP has lost bytes from before the ring, those of the ring do not follow.
            let resent = self.before().and_then(|before| taken.checked_sub(before));
            let has_rest = match resent {
                Some(resent) => self.ring.take_up(resent)?,
                None => false,
            };
            self.via = if has_rest { Taking::Rest } else { Taking::TcpAgain };
        }
        Ok(self.via == Taking::Rest && self.ring.available()? > 0)
    }

    /// Whether nothing of the ring is to come any more, after this side stopped: the producer has sent all of it by TCP, or the caller
    /// knows that it is gone, and `on_tcp` bytes have come there that wait to be received. Then this side counts no longer what comes by
    /// TCP, which somebody else may receive from now on.
    pub fn end_ring(&mut self, on_tcp: usize, is_gone: bool) -> Result<bool> {
        let is_stopped = matches!(self.via, Taking::Stopped { .. });
        // Who did not attach has no bytes there, and will have none.
        let is_last = is_gone || self.ring.is_returned() || !self.ring.is_attached();
        if is_stopped && is_last && self.unread(on_tcp)? == 0 {
            self.via = Taking::TcpAgain;
        }
        Ok(matches!(self.via, Taking::TcpAgain))
    }

    /// Whether bytes of the ring may come by TCP, as long as the producer is there.
    pub fn waits_for_producer(&self) -> bool {
        matches!(self.via, Taking::Stopped { .. })
    }

    /// Since this side stopped, bytes that come by TCP before those of the ring; nothing if none was written there.
    fn before(&self) -> Option<u64> {
        match self.via {
            Taking::Stopped { before, .. } => before.or_else(|| self.ring.switch_off()),
            _ => None,
        }
    }

    /// Whether the peer said that nothing comes any more, and all is read. Only a shortcut: the end of the stream is what TCP
    /// says.
    pub fn is_ended(&mut self) -> Result<bool> {
        Ok(self.source()? == Source::Ring && self.ring.is_ended()?)
    }

    /// Makes the bell silent until the source changes or the ring has something; not if that is so already. Whether it is:
    /// then [`Incoming::source`] says what there is.
    pub fn settle(&mut self) -> Result<bool> {
        match self.source()? {
            Source::Ring => self.ring.settle(),
            Source::Tcp { .. } if matches!(self.via, Taking::Tcp { .. }) => self.ring.settle(),
            Source::Tcp { .. } => {
                self.ring.hush();
                Ok(false)
            }
        }
    }

    /// Takes no byte out of the ring any more, so that all that comes, comes by TCP: what is in the ring, the peer sends again.
    /// If the peer went back to TCP first, what it left in the ring has to be read there, and then it is so. Whether it is.
    pub fn demote(&mut self) -> Result<bool> {
        self.look()?;
        let stopped = match self.via {
            Taking::Tcp { taken } => Taking::Stopped { taken, before: None },
            Taking::LastOfTcp { left } => Taking::Stopped { taken: 0, before: Some(left) },
            Taking::Ring => Taking::Stopped { taken: 0, before: Some(0) },
            Taking::TcpAgain | Taking::Stopped { .. } | Taking::Rest => return Ok(true),
        };
        let has_left = self.ring.leave()?;
        if has_left {
            self.via = stopped;
        }
        Ok(has_left)
    }

    /// The ring.
    pub fn ring(&self) -> &Consumer<S, B> {
        &self.ring
    }

    fn look(&mut self) -> Result<()> {
        if let Taking::Tcp { taken } = self.via {
            match self.ring.switch_off() {
                Some(bytes) => self.switch(bytes, taken)?,
                // The number is written before anything in the ring, and has to be there if anything is.
                None if self.ring.has_news()? => {
                    self.switch(self.ring.switch_off().unwrap_or(NONE), taken)?
                }
                None => {}
            }
        }
        if self.via == Taking::Ring && self.ring.is_drained()? {
            self.via = Taking::TcpAgain;
        }
        Ok(())
    }

    /// The peer says that it left TCP after `bytes`; `taken` came that way.
    fn switch(&mut self, bytes: u64, taken: u64) -> Result<()> {
        if bytes == NONE {
            return self.ring.fail(RingError::SwitchOff { found: bytes, taken });
        }
        if !self.ring.join() {
            self.via = Taking::Stopped { taken, before: Some(bytes) };
            return Ok(());
        }
        let Some(left) = bytes.checked_sub(taken) else {
            return self.ring.fail(RingError::SwitchOff { found: bytes, taken });
        };
        self.via = Taking::LastOfTcp { left };
        self.begin_ring();
        Ok(())
    }

    fn begin_ring(&mut self) {
        if self.via == (Taking::LastOfTcp { left: 0 }) {
            self.via = Taking::Ring;
            // It may have been made silent while the ring did not count.
            self.ring.call();
        }
    }
}
