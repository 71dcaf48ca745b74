//! The buffers of a program's call, as far as they are not used yet.

#![allow(unsafe_code, reason = "a program's buffers have no safe interface")]

use std::slice::{from_raw_parts, from_raw_parts_mut};

use libc::iovec;

/// Buffers of one system call.
const BUFFERS_MAX: usize = 16;

/// A program's buffers, used from their beginning.
#[derive(Debug)]
pub struct Buffers<'a> {
    all: &'a [iovec],
    /// Bytes of the first one that are used.
    skip: usize,
}

/// Some buffers for one system call.
#[derive(Debug)]
pub(crate) struct Part {
    buffers: [iovec; BUFFERS_MAX],
    count: usize,
}

impl<'a> Buffers<'a> {
    /// All of them.
    ///
    /// # Safety
    /// Each one can be written, or read where it is only sent from, until the value is dropped.
    pub unsafe fn new(all: &'a [iovec]) -> Self {
        let mut buffers = Buffers { all, skip: 0 };
        buffers.skip_empty();
        buffers
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether one system call takes all that are left.
    pub(crate) fn fits(&self) -> bool {
        self.all.len() <= BUFFERS_MAX
    }

    /// Bytes that are left.
    pub fn remaining(&self) -> usize {
        self.all.iter().map(|buffer| buffer.iov_len).fold(0, usize::saturating_add) - self.skip
    }

    /// The first ones that are left, as bytes to send.
    pub(crate) fn first(&self) -> &[u8] {
        match self.all.first() {
            // SAFETY: who made this answers for the buffer, and `skip` is less than its length.
            Some(first) => unsafe {
                from_raw_parts(
                    first.iov_base.cast::<u8>().add(self.skip),
                    first.iov_len - self.skip,
                )
            },
            None => &[],
        }
    }

    /// The first ones that are left, as room to receive into.
    pub(crate) fn first_mut(&mut self) -> &mut [u8] {
        match self.all.first() {
            // SAFETY: as in `first`; the program lets nobody else write there meanwhile.
            Some(first) => unsafe {
                from_raw_parts_mut(
                    first.iov_base.cast::<u8>().add(self.skip),
                    first.iov_len - self.skip,
                )
            },
            None => &mut [],
        }
    }

    /// So many bytes are used.
    pub(crate) fn advance(&mut self, mut bytes: usize) {
        while let Some(first) = self.all.first()
            && bytes > 0
        {
            let used = bytes.min(first.iov_len - self.skip);
            self.skip += used;
            bytes -= used;
            self.skip_empty();
        }
    }

    /// At most `limit` bytes of them, for a system call.
    pub(crate) fn some(&self, limit: usize) -> Part {
        let empty = iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut some = Part { buffers: [empty; BUFFERS_MAX], count: 0 };
        let (mut skip, mut left) = (self.skip, limit);
        for (to, from) in some.buffers.iter_mut().zip(self.all) {
            if left == 0 {
                break;
            }
            let length = (from.iov_len - skip).min(left);
            // SAFETY: `skip` is less than the buffer's length.
            to.iov_base = unsafe { from.iov_base.cast::<u8>().add(skip) }.cast();
            to.iov_len = length;
            (skip, left) = (0, left - length);
            some.count += 1;
        }
        some
    }

    /// A second look at the same bytes.
    pub(crate) fn again(&self) -> Buffers<'a> {
        Buffers { all: self.all, skip: self.skip }
    }

    fn skip_empty(&mut self) {
        while let Some(first) = self.all.first()
            && self.skip >= first.iov_len
        {
            self.all = &self.all[1..];
            self.skip = 0;
        }
    }
}

impl Part {
    pub(crate) fn as_slice(&self) -> &[iovec] {
        &self.buffers[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_from_their_beginning() {
        let mut bytes = [*b"0123", *b"4567", *b"89ab"];
        let vectors = bytes
            .each_mut()
            .map(|bytes| iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() });
        let empty = iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let all = [empty, vectors[0], empty, vectors[1], vectors[2], empty];
        // SAFETY: they live longer.
        let mut buffers = unsafe { Buffers::new(&all) };
        let mut seen = Vec::new();
        while !buffers.is_empty() {
            let length = buffers.first().len().min(3);
            seen.extend_from_slice(&buffers.first()[..length]);
            buffers.advance(length);
            assert_eq!(buffers.remaining(), 12 - seen.len());
        }
        assert_eq!(seen, b"0123456789ab");
        // SAFETY: they live longer.
        let mut buffers = unsafe { Buffers::new(&all) };
        buffers.advance(5);
        let some = buffers.some(6);
        let lengths: Vec<_> = some.as_slice().iter().map(|buffer| buffer.iov_len).collect();
        assert_eq!(lengths, [3, 3]);
        buffers.first_mut()[0] = b'!';
        assert_eq!(&bytes[1], b"4!67");
    }
}
