//! What the rings of this process may take. A ring is counted as large as it is, whether its bytes were ever used or not.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use crate::conn::Conn;
use crate::sys;

/// Bytes of rings that this process has offered, and of those that it has made larger.
static USED: AtomicU64 = AtomicU64::new(0);

/// Takes so many bytes. Whether there are as many.
pub(crate) fn take(bytes: u64) -> bool {
    let most = crate::config().map_or(0, |config| config.memory);
    let more = |used: u64| used.checked_add(bytes).filter(|&used| used <= most);
    USED.fetch_update(SeqCst, SeqCst, more).is_ok()
}

/// They are free again.
pub(crate) fn give_back(bytes: u64) {
    let _ = USED.fetch_update(SeqCst, SeqCst, |used| Some(used.saturating_sub(bytes)));
}

/// Bytes of a connection that is offered: of two rings that have not grown.
pub(crate) fn of_offer() -> u64 {
    crate::config().map_or(0, |config| 2 * config.ring.first().bytes())
}

/// This process has a connection no longer.
pub(crate) fn give_back_of(conn: &Conn) {
    if conn.is_connector {
        give_back(of_offer());
    }
    if let Ok(mut out) = conn.out()
        && let Some((_, bytes)) = out.grown_by.take_if(|(process, _)| *process == sys::process_id())
    {
        give_back(bytes);
    }
}
