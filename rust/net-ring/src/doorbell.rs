//! Who has to be woken, and by whom.
//!
//! A side's bell is silent only while its word ([`Field::ReaderWaits`], [`Field::WriterWaits`]) is set, or while somebody
//! who took the word is about to ring. So it can be waited on by level: **what there is to read, or an end, makes the
//! reader's bell ring; room makes the writer's** (from half of the ring on, as TCP has it from a third on).
//!
//! ```text
//!   who waits:  silence the bell               who wakes:  change a cursor
//!               set the word                               fence
//!               fence                                      is the word set? take it, ring
//!               look: nothing? wait
//!                     something? take the word back, ring
//! ```
//!
//! Of the two fences one comes first, and the side that comes second sees what the other one wrote before its own: the
//! waker the word, or the waiter the cursor. Without one of them both may miss each other (`tests/loom`).
//!
//! A bell may ring without a reason: who is woken looks, and settles again.

use core::sync::atomic::Ordering::Relaxed;

use crate::layout::Field;
use crate::shared::{Bell, FenceSite, Shared, Word};

/// Rings if the owner of the bell waits. After a fence.
pub(crate) fn wake<S: Shared>(shared: &S, waits: Field, bell: &impl Bell) {
    if shared.word(waits).load(Relaxed) != 0 {
        take(shared, waits, bell);
    }
}

/// Rings if the owner of the bell has said that it waits.
pub(crate) fn take<S: Shared>(shared: &S, waits: Field, bell: &impl Bell) {
    if shared.word(waits).swap(0) != 0 {
        bell.ring();
    }
}

/// Makes the bell silent, unless `look` finds something: then it rings. Whether something was found.
///
/// `look` was asked before, and found nothing. The whole protocol also if the word is set already: a ring may have been on
/// its way then, and who waits by level would be woken for ever.
pub(crate) fn settle<S: Shared, E>(
    shared: &S,
    waits: Field,
    site: FenceSite,
    bell: &impl Bell,
    look: impl FnOnce() -> Result<bool, E>,
) -> Result<bool, E> {
    bell.silence();
    // Exchanged, not stored: all changes of the word are of one order, whoever makes them.
    shared.word(waits).swap(1);
    shared.fence(site);
    let found = look()?;
    if found {
        take(shared, waits, bell);
    }
    Ok(found)
}
