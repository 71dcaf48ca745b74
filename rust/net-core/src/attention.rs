//! The service uses descriptors that the program may close at any time, and a number that is closed is soon another connection's, which
//! would get what is meant for this one. So who closes waits until the service uses it no more; and the service waits for nothing
//! meanwhile, so that this takes no longer than a few system calls.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;

use crate::slot::{self, Ref};
use crate::{process, sys};

/// The slot of which the service uses a descriptor, and one; 0 for none.
static ATTENDED: AtomicU32 = AtomicU32::new(0);
/// Looks of a close before it sleeps between them, so that the service runs beside a thread of a higher priority, too.
const LOOKS: u32 = 100;
const NAP_NS: u64 = 100_000;
/// How often a close has looked.
#[cfg(test)]
static LOOKED: AtomicU32 = AtomicU32::new(0);

/// The service uses a descriptor.
struct Attention;

impl Drop for Attention {
    fn drop(&mut self) {
        ATTENDED.store(0, SeqCst);
    }
}

/// What the service does with a descriptor of a connection. It stays this connection's until that is done, since who closes it waits
/// for that: else its number could be another one's by then, which would get what is meant for this one. So `f` must not wait, and take
/// no lock: who closes may be a signal's handler, which has interrupted the thread that has it. For the service's thread, which must
/// not close it meanwhile. Nothing if there is no descriptor.
pub(crate) fn attended<T>(at: &Ref, f: impl FnOnce(i32) -> T) -> Option<T> {
    ATTENDED.store(at.slot() + 1, SeqCst);
    // Who closes does it the other way round: takes the descriptor out of the table, and looks then.
    fence(SeqCst);
    let _attention = Attention;
    slot::descriptor(at.slot()).map(f)
}

/// Returns when the service uses no descriptor of a slot that is out of the table.
pub(crate) fn wait_until_unattended(slot: u32) {
    fence(SeqCst);
    let mut looks = 0;
    while ATTENDED.load(SeqCst) == slot + 1 {
        #[cfg(test)]
        LOOKED.fetch_add(1, SeqCst);
        looks += 1;
        if looks < LOOKS {
            std::thread::yield_now();
        } else if process::is_foreign() {
            // A child whose fork nobody told: no service writes its copy of the word.
            return;
        } else {
            sys::sleep(NAP_NS);
        }
    }
}

/// In a child, there is no service yet.
pub(crate) fn forget() {
    ATTENDED.store(0, SeqCst);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::lock::testing::Waited;
    use crate::service;
    use crate::slot::testing::Socket;

    /// Looks after which a close has slept for longer than any time that it could be meant to have.
    const MANY: u32 = 20 * LOOKS;

    /// Its number would be another connection's, which the service would send bytes to.
    #[test]
    fn a_descriptor_is_not_closed_while_the_service_uses_it() {
        // As the library does when it begins.
        process::note();
        let socket = Socket::new();
        let at = slot::open(socket.fd(), true, 32).unwrap();
        let (begun, is_closed) = (AtomicBool::new(false), AtomicBool::new(false));
        let used = std::thread::scope(|scope| {
            let service = scope.spawn(|| {
                attended(&at, |fd| {
                    LOOKED.store(0, SeqCst);
                    begun.store(true, SeqCst);
                    while LOOKED.load(SeqCst) < MANY && !is_closed.load(SeqCst) {
                        std::thread::yield_now();
                    }
                    (fd, is_closed.load(SeqCst))
                })
            });
            while !begun.load(SeqCst) {
                std::thread::yield_now();
            }
            drop(slot::detach(socket.fd()).unwrap());
            is_closed.store(true, SeqCst);
            service.join().unwrap()
        });
        assert_eq!(used, Some((socket.fd(), false)));
        assert_eq!(attended(&at, |fd| fd), None);
    }

    /// As a signal's handler does, which has interrupted the thread that has the connection's lock.
    #[test]
    fn who_has_a_lock_that_the_service_waits_for_can_close() {
        let socket = Socket::new();
        let at = slot::open(socket.fd(), true, 32).unwrap();
        for is_input in [true, false] {
            let (input, out) = if is_input {
                (at.conn().input().ok(), None)
            } else {
                (None, at.conn().out().ok())
            };
            std::thread::scope(|scope| {
                scope.spawn(|| service::attend(-1, at.slot(), true));
                let lock: &dyn Waited = if is_input { &at.conn().input } else { &at.conn().out };
                while !lock.is_waited_for() {
                    std::thread::yield_now();
                }
                // So that a close returns.
                let attended = ATTENDED.load(SeqCst);
                drop((input, out));
                assert_eq!(attended, 0);
            });
        }
        drop(slot::detach(socket.fd()).unwrap());
    }
}
