//! The side that reads a ring.

use core::sync::atomic::Ordering::{Acquire, Release};

use crate::doorbell;
use crate::error::{Result, RingError};
use crate::layout::{Capacity, Field, JOINED, NONE};
use crate::shared::{Bell, FenceSite, Shared, Word, get_at};

/// Reads a ring. One thread at a time.
#[derive(Debug)]
pub struct Consumer<S, B> {
    shared: S,
    own: B,
    writer: B,
    capacity: Capacity,
    /// What the producer published, as it was when it was last looked at: at most the capacity ahead of `tail`.
    head: u64,
    tail: u64,
    /// Of those before `tail`, bytes that came by TCP.
    resent: u64,
    /// The producer left, here.
    last: Option<u64>,
    ended: bool,
    attached: bool,
    stopped: bool,
    failed: Option<RingError>,
}

/// What the producer has said.
#[derive(Clone, Copy, PartialEq, Eq)]
struct News {
    capacity: Capacity,
    head: u64,
    last: Option<u64>,
    ended: bool,
}

impl<S: Shared, B: Bell> Consumer<S, B> {
    /// Of a ring that nobody read. `own` rings when there is something, `writer` is rung when there is room.
    pub fn new(shared: S, own: B, writer: B) -> Self {
        let capacity = shared.first_capacity();
        Consumer {
            shared,
            capacity,
            own,
            writer,
            head: 0,
            tail: 0,
            resent: 0,
            last: None,
            ended: false,
            attached: false,
            stopped: false,
            failed: None,
        }
    }

    /// Takes bytes out of the ring, as many as there are and `out` has room for. How many; 0 if there is nothing now.
    pub fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let length = self.peek(0, out)?;
        self.release(length)?;
        Ok(length)
    }

    /// Copies bytes behind the first `skip` ones, which stay in the ring. How many.
    pub fn peek(&mut self, skip: usize, out: &mut [u8]) -> Result<usize> {
        self.check()?;
        if self.known() < skip.saturating_add(out.len()) {
            self.look()?;
        }
        let length = out.len().min(self.known().saturating_sub(skip));
        if length == 0 {
            return Ok(0);
        }
        get_at(&self.shared, self.capacity, self.tail + skip as u64, &mut out[..length]);
        Ok(length)
    }

    /// Gives the first `length` bytes back to the writer, at most those that are known to be there, and wakes it if it waits
    /// for them.
    pub fn release(&mut self, length: usize) -> Result<()> {
        self.check()?;
        let length = length.min(self.known());
        self.tail += length as u64;
        if length > 0 && !self.stopped {
            self.shared.word(Field::Tail).store(self.tail, Release);
            self.shared.fence(FenceSite::Freed);
            if self.known() <= self.capacity.as_usize() / 2 {
                doorbell::wake(&self.shared, Field::WriterWaits, &self.writer);
            }
        }
        Ok(())
    }

    /// Bytes that are there, now.
    pub fn available(&mut self) -> Result<usize> {
        self.look()?;
        Ok(self.known())
    }

    /// Whether the producer said that nothing comes any more, and all is read. Only a shortcut: the end of the stream is what
    /// TCP says.
    pub fn is_ended(&mut self) -> Result<bool> {
        self.look()?;
        Ok(self.ended && self.known() == 0)
    }

    /// Whether the producer left, and all is read that it left behind.
    pub fn is_drained(&mut self) -> Result<bool> {
        self.look()?;
        Ok(self.last == Some(self.tail))
    }

    /// Makes the own bell silent until there is something to read, or an end; not if there is already. Whether there is.
    pub fn settle(&mut self) -> Result<bool> {
        if self.has_news()? {
            return Ok(true);
        }
        let before = self.news();
        let mut now = before;
        let (waits, site) = (Field::ReaderWaits, FenceSite::ReaderWaits);
        let settled = doorbell::settle(&self.shared, waits, site, &self.own, || {
            now = look_at(&self.shared, before, self.tail)?;
            // That it has grown is nothing to read.
            Ok((now.head, now.last, now.ended) != (before.head, before.last, before.ended))
        });
        let found = self.keep(settled)?;
        self.set(now);
        Ok(found)
    }

    /// Makes the own bell silent, whatever the ring says: while what comes next, comes by TCP.
    pub(crate) fn hush(&self) {
        self.own.silence();
    }

    /// Makes the own bell ring: the ring is what counts again.
    pub(crate) fn call(&self) {
        self.own.ring();
    }

    /// Wakes the writer even if there is little room: before waiting for more bytes than half of the ring (`SO_RCVLOWAT`).
    pub fn hurry(&mut self) {
        self.shared.fence(FenceSite::Freed);
        doorbell::wake(&self.shared, Field::WriterWaits, &self.writer);
    }

    /// Stops reading: what is in the ring, and what follows, is to come by TCP. False if the producer left first: then what it
    /// left behind is read, and TCP after it.
    pub fn leave(&mut self) -> Result<bool> {
        self.check()?;
        if !self.stopped {
            let word = self.shared.word(Field::Left);
            if word.compare_exchange(NONE, self.tail << 1 | 1).is_err() {
                self.look()?;
                return match self.last {
                    Some(_) => Ok(false),
                    None => self.keep(Err(RingError::Left { found: NONE })),
                };
            }
            self.stopped = true;
            self.head = self.tail;
            self.writer.ring();
        }
        Ok(true)
    }

    /// Whether the producer has sent by TCP what was left in the ring.
    pub fn is_returned(&self) -> bool {
        self.shared.word(Field::Returned).load(Acquire) != 0
    }

    /// The producer's number of bytes that came by TCP before it began with the ring.
    pub(crate) fn switch_off(&self) -> Option<u64> {
        Some(self.shared.word(Field::SwitchOff).load(Acquire)).filter(|&bytes| bytes != NONE)
    }

    /// Tells the producer that somebody will read the ring.
    pub(crate) fn attach(&mut self) {
        self.attached = true;
        self.shared.word(Field::Attached).store(1, Release);
    }

    /// Whether the producer was told so.
    pub fn is_attached(&self) -> bool {
        self.attached
    }

    /// Tells the producer that no byte is taken from TCP past its number. Whether it has not taken back by then all that it wrote:
    /// then this side stops.
    pub(crate) fn join(&mut self) -> bool {
        let is_joined = self.shared.word(Field::Joined).compare_exchange(0, JOINED).is_ok();
        if !is_joined {
            self.stopped = true;
            self.head = self.tail;
        }
        is_joined
    }

    /// After this side stopped: bytes that the producer has to send by TCP, or has sent.
    pub(crate) fn due(&mut self) -> Result<u64> {
        self.check()?;
        let found = self.shared.word(Field::Head).load(Acquire);
        self.capacity = capacity_of(&self.shared, self.capacity);
        let due = found.checked_sub(self.tail);
        match due.filter(|&due| due <= self.capacity.bytes()) {
            Some(due) => Ok(due),
            None => self.keep(Err(RingError::Head { found, seen: self.head, consumed: self.tail })),
        }
    }

    /// After this side stopped, and TCP ended: reads on behind those bytes that came by TCP. Whether there are any.
    pub(crate) fn take_up(&mut self, resent: u64) -> Result<bool> {
        let due = self.due()?;
        let Some(rest) = due.checked_sub(resent).filter(|&rest| rest > 0) else { return Ok(false) };
        self.tail += resent;
        self.resent += resent;
        self.head = self.tail + rest;
        Ok(true)
    }

    /// Bytes that were ever taken out.
    pub fn consumed(&self) -> u64 {
        self.tail - self.resent
    }

    /// This side's view of the ring.
    pub fn shared(&self) -> &S {
        &self.shared
    }

    /// What this side waits on.
    pub fn bell(&self) -> &B {
        &self.own
    }

    fn known(&self) -> usize {
        (self.head - self.tail) as usize
    }

    /// Whether there are bytes, an end, or the way back to TCP.
    pub(crate) fn has_news(&mut self) -> Result<bool> {
        self.look()?;
        Ok(self.known() > 0 || self.ended || self.last.is_some() || self.stopped)
    }

    fn news(&self) -> News {
        News { capacity: self.capacity, head: self.head, last: self.last, ended: self.ended }
    }

    fn set(&mut self, news: News) {
        (self.head, self.last, self.ended) = (news.head, news.last, news.ended);
        self.capacity = news.capacity;
    }

    fn look(&mut self) -> Result<()> {
        self.check()?;
        if !self.stopped {
            let looked = look_at(&self.shared, self.news(), self.tail);
            let now = self.keep(looked)?;
            self.set(now);
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }

    /// From now on, this is what comes of everything.
    pub(crate) fn fail<T>(&mut self, error: RingError) -> Result<T> {
        self.keep(Err(error))
    }

    fn keep<T>(&mut self, result: Result<T>) -> Result<T> {
        self.failed = self.failed.or(result.as_ref().err().copied());
        result
    }
}

/// What the producer says now. What it said once stays: the end, and where it left.
fn look_at<S: Shared>(shared: &S, before: News, tail: u64) -> Result<News> {
    // These two are written after the cursor, and read before it: then the cursor is the last one.
    let left = shared.word(Field::Left).load(Acquire);
    let ended = before.ended || shared.word(Field::Ended).load(Acquire) != 0;
    let found = shared.word(Field::Head).load(Acquire);
    // It grows before the first byte of a larger one is published.
    let capacity = capacity_of(shared, before.capacity);
    let ahead = found.checked_sub(tail).is_some_and(|ahead| ahead <= capacity.bytes());
    if found < before.head || !ahead {
        return Err(RingError::Head { found, seen: before.head, consumed: tail });
    }
    let last = (left != NONE).then_some(left >> 1);
    let is_possible = last.is_none_or(|at| left & 1 == 0 && at == found);
    if !is_possible || (before.last.is_some() && before.last != last) {
        return Err(RingError::Left { found: left });
    }
    Ok(News { capacity, head: found, last, ended })
}

/// How large the ring is now.
fn capacity_of<S: Shared>(shared: &S, before: Capacity) -> Capacity {
    let full = shared.capacity();
    let has_grown = before < full && shared.word(Field::Grown).load(Acquire) != 0;
    if has_grown { full } else { before }
}
