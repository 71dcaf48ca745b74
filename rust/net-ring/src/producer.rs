//! The side that writes into a ring.

use core::sync::atomic::Ordering::{Acquire, Release};

use crate::doorbell;
use crate::error::{Result, RingError};
use crate::layout::{Capacity, Field, NONE, TAKEN_BACK};
use crate::shared::{Bell, FenceSite, Shared, Word, get_at, put_at};

/// What came of an attempt to leave the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// Left: who reads takes what is there, and then TCP.
    Left,
    /// The consumer left first, at this position, or has not heard of the ring, which is the same at 0: what comes after it goes by
    /// TCP.
    StoppedAt(u64),
}

/// Writes into a ring. One thread at a time.
#[derive(Debug)]
pub struct Producer<S, B> {
    shared: S,
    own: B,
    reader: B,
    capacity: Capacity,
    /// Where the next byte goes.
    head: u64,
    /// What the consumer was told.
    published: u64,
    /// The consumer's cursor, as it was when it was last looked at: at most `published`.
    tail: u64,
    /// Where the consumer stopped.
    stopped: Option<u64>,
    left: bool,
    failed: Option<RingError>,
}

impl<S: Shared, B: Bell> Producer<S, B> {
    /// Of a ring that nobody wrote into. `own` rings when there is room again, `reader` is rung when there is something.
    pub fn new(shared: S, own: B, reader: B) -> Self {
        let capacity = shared.first_capacity();
        Producer {
            shared,
            capacity,
            own,
            reader,
            head: 0,
            published: 0,
            tail: 0,
            stopped: None,
            left: false,
            failed: None,
        }
    }

    /// Copies as many bytes as there is room for, publishes them, and wakes the reader if it waits. How many.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.stage(bytes)?;
        self.publish();
        Ok(written)
    }

    /// Copies as many bytes as there is room for; the reader does not see them yet. How many.
    pub fn stage(&mut self, bytes: &[u8]) -> Result<usize> {
        self.check()?;
        if self.left || self.stopped.is_some() {
            return Ok(0);
        }
        if self.known_room() < bytes.len() {
            self.look()?;
        }
        let bytes = &bytes[..bytes.len().min(self.known_room())];
        put_at(&self.shared, self.capacity, self.head, bytes);
        self.head += bytes.len() as u64;
        Ok(bytes.len())
    }

    /// Shows the reader what was staged, and wakes it if it waits.
    pub fn publish(&mut self) {
        if self.failed.is_none() && self.published != self.head {
            self.published = self.head;
            self.shared.word(Field::Head).store(self.head, Release);
            self.wake_reader();
        }
    }

    /// Nothing comes after what was written. Only a shortcut: the end of the stream is what TCP says.
    pub fn end(&mut self) {
        self.publish();
        if self.failed.is_none() {
            self.shared.word(Field::Ended).store(1, Release);
            self.wake_reader();
        }
    }

    /// Bytes that there is room for, now.
    pub fn room(&mut self) -> Result<usize> {
        self.look()?;
        Ok(self.known_room())
    }

    /// Whether the ring can become larger, at some time.
    pub fn can_grow(&self) -> bool {
        self.capacity < self.shared.capacity() && !self.left && self.stopped.is_none()
    }

    /// Makes the ring as large as it may become, if it can now: all bytes that the reader has not consumed lie where they would lie in
    /// the larger ring. Nothing is moved. Whether it has grown.
    pub fn grow(&mut self) -> Result<bool> {
        self.look()?;
        let full = self.shared.capacity();
        // Those of one round through the small ring, the first of a round through the large one; or none.
        let is_first = |position: u64| full.index(position) < self.capacity.as_usize();
        let is_round =
            self.head - self.tail <= self.capacity.bytes() - self.capacity.index(self.tail) as u64;
        let fits = self.head == self.tail || (is_first(self.tail) && is_round);
        if !self.can_grow() || !fits {
            return Ok(false);
        }
        self.publish();
        // Before the first byte that lies elsewhere is published.
        self.shared.word(Field::Grown).store(1, Release);
        self.capacity = full;
        // There is room.
        doorbell::take(&self.shared, Field::WriterWaits, &self.own);
        Ok(true)
    }

    /// Makes the own bell silent until there is room in half of the ring, or the consumer leaves; not if there is some
    /// already. Whether there is.
    pub fn settle(&mut self) -> Result<bool> {
        if self.has_news()? {
            return Ok(true);
        }
        let (tail, published) = (self.tail, self.published);
        let mut now = (tail, None);
        let (waits, site) = (Field::WriterWaits, FenceSite::WriterWaits);
        let settled = doorbell::settle(&self.shared, waits, site, &self.own, || {
            now = look_at(&self.shared, tail, published)?;
            Ok(now != (tail, None))
        });
        let found = self.keep(settled)?;
        (self.tail, self.stopped) = now;
        Ok(found)
    }

    /// Whether there is room, or the consumer left.
    fn has_news(&mut self) -> Result<bool> {
        self.look()?;
        Ok(self.known_room() > 0 || self.stopped.is_some() || self.left)
    }

    /// Where the consumer stopped, if it went back to TCP: what is in the ring from there on has to go by TCP.
    pub fn stopped_at(&mut self) -> Result<Option<u64>> {
        self.check()?;
        // The cursor's cache line is the consumer's; this one is nobody's, nearly always.
        if self.stopped.is_none()
            && !self.left
            && self.shared.word(Field::Left).load(Acquire) != NONE
        {
            self.look()?;
        }
        Ok(self.stopped)
    }

    /// Leaves the ring: nothing is written into it any more.
    pub fn leave(&mut self) -> Result<Leaving> {
        self.publish();
        self.check()?;
        if self.left {
            return Ok(Leaving::Left);
        }
        if let Some(at) = self.stopped {
            return Ok(Leaving::StoppedAt(at));
        }
        // A consumer that has not joined would take what follows on TCP for what came before the ring. Nor has it read here.
        if self.shared.word(Field::Joined).compare_exchange(0, TAKEN_BACK).is_ok() {
            if self.tail > 0 {
                let (found, published) = (self.tail, self.published);
                return self.fail(RingError::Tail { found, seen: 0, published });
            }
            self.stopped = Some(0);
            return Ok(Leaving::StoppedAt(0));
        }
        match self.shared.word(Field::Left).compare_exchange(NONE, self.head << 1) {
            Ok(()) => {
                self.left = true;
                self.wake_reader();
                Ok(Leaving::Left)
            }
            Err(_) => {
                self.look()?;
                match self.stopped {
                    Some(at) => Ok(Leaving::StoppedAt(at)),
                    None => self.fail(RingError::Left { found: NONE }),
                }
            }
        }
    }

    /// Copies what was written from `position` on, after the consumer stopped there. How many bytes.
    pub fn copy_back(&self, position: u64, out: &mut [u8]) -> usize {
        let rest = self.head.saturating_sub(position);
        if rest > self.capacity.bytes() {
            return 0;
        }
        let length = out.len().min(rest as usize);
        get_at(&self.shared, self.capacity, position, &mut out[..length]);
        length
    }

    /// Tells the consumer that it finds in TCP's stream all that it left in the ring.
    pub fn returned(&mut self) {
        self.shared.word(Field::Returned).store(1, Release);
        self.reader.ring();
    }

    /// Whether the consumer stopped, as far as is known.
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Whether somebody will read the ring.
    pub(crate) fn is_attached(&self) -> bool {
        self.shared.word(Field::Attached).load(Acquire) != 0
    }

    /// Tells the consumer how many bytes of the stream came by TCP.
    pub(crate) fn switch_off(&mut self, sent: u64) {
        self.shared.word(Field::SwitchOff).store(sent, Release);
    }

    /// Bytes that were ever written.
    pub fn written(&self) -> u64 {
        self.head
    }

    /// This side's view of the ring.
    pub fn shared(&self) -> &S {
        &self.shared
    }

    /// What this side waits on.
    pub fn bell(&self) -> &B {
        &self.own
    }

    fn known_room(&self) -> usize {
        (self.capacity.bytes() - (self.head - self.tail)) as usize
    }

    fn wake_reader(&self) {
        self.shared.fence(FenceSite::Published);
        doorbell::wake(&self.shared, Field::ReaderWaits, &self.reader);
    }

    /// Looks at the consumer's cursor, and whether it left.
    fn look(&mut self) -> Result<()> {
        self.check()?;
        if self.stopped.is_some() {
            return Ok(());
        }
        let looked = if self.left {
            look_at_tail(&self.shared, self.tail, self.published).map(|tail| (tail, None))
        } else {
            look_at(&self.shared, self.tail, self.published)
        };
        (self.tail, self.stopped) = self.keep(looked)?;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }

    fn keep<T>(&mut self, result: Result<T>) -> Result<T> {
        self.failed = self.failed.or(result.as_ref().err().copied());
        result
    }

    fn fail<T>(&mut self, error: RingError) -> Result<T> {
        self.keep(Err(error))
    }
}

/// The consumer's cursor, and where it stopped.
fn look_at<S: Shared>(shared: &S, seen: u64, published: u64) -> Result<(u64, Option<u64>)> {
    let left = shared.word(Field::Left).load(Acquire);
    let tail = look_at_tail(shared, seen, published)?;
    if left == NONE {
        return Ok((tail, None));
    }
    let (at, by_consumer) = (left >> 1, left & 1 == 1);
    if !by_consumer || at != tail {
        return Err(RingError::Left { found: left });
    }
    Ok((tail, Some(at)))
}

fn look_at_tail<S: Shared>(shared: &S, seen: u64, published: u64) -> Result<u64> {
    let found = shared.word(Field::Tail).load(Acquire);
    if found < seen || found > published {
        return Err(RingError::Tail { found, seen, published });
    }
    Ok(found)
}
