//! Sends what is committed, until the gateway has it.
//!
//! One thread connects and sends; for each connection another one takes what the gateway says.

use std::ops::Range;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use afterbay_edge_link::{LinkError, Message, Receiver, Sender, connect};
use afterbay_edge_wire::Frame;

use crate::error::{AgentError, Result};
use crate::options::Link;
use crate::status::LinkStatus;
use crate::store::{Store, Wake};

/// Between two attempts to connect, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(15));
/// How long the link is silent until the site says something.
const PING: Duration = Duration::from_secs(10);

/// Who sends, and what about.
#[derive(Debug, Clone)]
pub(crate) struct Sending {
    pub(crate) site: String,
    pub(crate) stream: String,
    pub(crate) columns: Vec<String>,
    pub(crate) link: Link,
    pub(crate) folder: std::path::PathBuf,
    pub(crate) accept_gap: Option<Range<u64>>,
}

impl Sending {
    /// Begins to send, until the store has to end.
    pub(crate) fn start(self, store: Arc<Store>) -> JoinHandle<()> {
        std::thread::spawn(move || {
            let mut backoff = BACKOFF.0;
            while !store.is_stopping() {
                let before = store.status().connections;
                match self.connection(&store) {
                    Ok(()) => {}
                    Err(Ended::For(error)) => {
                        store.link_is(LinkStatus::Down(error.to_string()));
                        store.stop(Some(error));
                    }
                    Err(Ended::Now(error)) => {
                        store.link_is(LinkStatus::Down(error.to_string()));
                    }
                }
                let was_up = store.status().connections > before;
                backoff = if was_up { BACKOFF.0 } else { backoff };
                store.pause(backoff);
                backoff = (2 * backoff).min(BACKOFF.1);
            }
        })
    }

    /// Connects, and sends until the connection ends.
    fn connection(&self, store: &Arc<Store>) -> std::result::Result<(), Ended> {
        let Link { address, name, tls, key, limits } = &self.link;
        let (sender, mut receiver) =
            connect(address, name.clone(), tls.clone(), &self.site, key, *limits)
                .map_err(|error| self.ended(error))?;
        let (epoch, told) = store.place();
        // Who has given the former gateway up says so with exactly these numbers: later, they mean nothing any more.
        let accepted = self.accept_gap.clone().filter(|gap| gap.start < told && gap.end == told);
        let open = Message::Open {
            stream: self.stream.clone(),
            epoch,
            acknowledged: accepted.as_ref().map_or(told, |gap| gap.start),
            columns: self.columns.clone(),
        };
        sender.send(&open).map_err(|error| self.ended(error))?;
        let (epoch, next) = loop {
            match receiver.receive().map_err(|error| self.ended(error))? {
                Message::Next { epoch: said, next, .. } => {
                    break (if epoch == 0 { said } else { epoch }, next);
                }
                Message::Pong => {}
                other => return Err(self.ended(refused(other))),
            }
        };
        // Before a frame has it: after a start, it is the same one.
        store.set_epoch(epoch).map_err(|error| self.ended(error.into()))?;
        let skipped = self.skipped(next, told, epoch, accepted).map_err(Ended::For)?;
        self.acknowledge(store, epoch, next).map_err(Ended::For)?;
        if let Some(lost) = &skipped {
            let rows = store.rows_before(lost.end).map_err(Ended::For)?;
            let stream = self.stream.clone();
            let skip = Message::Skip { stream, epoch, from: lost.start, to: lost.end, rows };
            sender.send(&skip).map_err(|error| self.ended(error))?;
        }
        let next = skipped.map_or(next, |lost| lost.end);
        store.link_is(LinkStatus::Up);
        let listener = self.listen(store.clone(), receiver, sender.clone(), epoch);
        let sent = self.send(store, &sender, epoch, next);
        sender.close();
        let heard = listener.join();
        match (sent, heard) {
            // What is wrong here stays so; that the link has ended comes of it.
            (Err(Ended::For(error)), _) => Err(Ended::For(error)),
            (_, Ok(Err(ended))) => Err(ended),
            (sent, _) => sent,
        }
    }

    /// What the gateway has lost, if somebody has accepted that.
    fn skipped(
        &self,
        next: u64,
        told: u64,
        epoch: u64,
        accepted: Option<Range<u64>>,
    ) -> Result<Option<Range<u64>>> {
        match accepted {
            _ if next >= told => Ok(None),
            Some(gap) if gap.start <= next => Ok(Some(next..gap.end)),
            _ => {
                let address = self.link.address.clone();
                Err(AgentError::Forgotten { address, epoch, gateway: next, told })
            }
        }
    }

    /// Takes what the gateway says, on a thread of its own.
    fn listen(
        &self,
        store: Arc<Store>,
        mut receiver: Receiver,
        sender: Sender,
        epoch: u64,
    ) -> JoinHandle<std::result::Result<(), Ended>> {
        let sending = self.clone();
        std::thread::spawn(move || {
            let ended = loop {
                match receiver.receive() {
                    Ok(Message::Next { next, .. }) => {
                        if let Err(error) = sending.acknowledge(&store, epoch, next) {
                            break Ended::For(error);
                        }
                    }
                    Ok(Message::Pong) => {}
                    Ok(other) => break sending.ended(refused(other)),
                    Err(error) => break sending.ended(error),
                }
            };
            sender.close();
            Err(ended)
        })
    }

    fn acknowledge(&self, store: &Store, epoch: u64, next: u64) -> Result<()> {
        if store.acknowledge(next)? {
            return Ok(());
        }
        let here = store.state().position;
        Err(AgentError::Behind { folder: self.folder.clone(), epoch, gateway: next, here })
    }

    fn send(
        &self,
        store: &Store,
        sender: &Sender,
        epoch: u64,
        next: u64,
    ) -> std::result::Result<(), Ended> {
        let mut cursor = store.cursor(next);
        let columns = sender.takes_columns();
        loop {
            match store.wait_for(&mut cursor, PING) {
                Wake::Stop => return Ok(()),
                Wake::Idle => {
                    sender.send(&Message::Ping).map_err(|error| self.ended(error))?;
                    continue;
                }
                Wake::Frames => {}
            }
            let (gap, frame) = store.read(&mut cursor).map_err(Ended::For)?;
            if let Some(gap) = gap {
                let (stream, from, to, rows) = (self.stream.clone(), gap.from, gap.to, gap.rows);
                let skip = Message::Skip { stream, epoch, from, to, rows };
                sender.send(&skip).map_err(|error| self.ended(error))?;
            }
            if let Some(frame) = frame {
                let frame = if columns { as_columns(frame) } else { frame };
                sender.send(&Message::Frame(frame)).map_err(|error| self.ended(error))?;
            }
        }
    }

    fn ended(&self, reason: LinkError) -> Ended {
        match reason {
            LinkError::Refused { refusal, .. } if refusal.is_final() => {
                Ended::For(AgentError::Gateway { address: self.link.address.clone(), reason })
            }
            reason => Ended::Now(reason),
        }
    }
}

/// Why a connection ended.
#[derive(Debug)]
enum Ended {
    /// Another one may be better.
    Now(LinkError),
    /// No other one will be.
    For(AgentError),
}

/// A frame of the outbox for a gateway that knows columns. One that is damaged is the gateway's to refuse.
fn as_columns(frame: Vec<u8>) -> Vec<u8> {
    let columns = Frame::decode(&frame).ok().and_then(|frame| frame.encode_columns().ok());
    columns.unwrap_or(frame)
}

fn refused(message: Message) -> LinkError {
    match message {
        Message::Refused { refusal, text } => LinkError::Refused { refusal, text },
        _ => LinkError::Protocol("the gateway says what only a site may say".to_owned()),
    }
}
