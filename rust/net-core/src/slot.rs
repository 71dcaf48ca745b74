//! Which descriptor is which connection.
//!
//! ```text
//!   DESCRIPTORS  descriptor -> slot, or one of the library's own
//!   SLOTS        what this process has of a connection: mapped rings, bells, how many descriptors, who uses it
//!   Conn         its state, in memory that children share (shared.rs)
//! ```
//!
//! A slot is never freed. Whoever uses it says so first ([`Ref`]); who is last after the last descriptor was closed empties it.

#![allow(unsafe_code, reason = "slots are filled and emptied beside those who look at them")]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64};

use afterbay_net_proto::Reason;
use afterbay_net_ring::Direction;
use afterbay_net_shm::{EventBell, MappedRing};

use crate::conn::Conn;
use crate::family::Number;
use crate::link::{BellLink, RingLink};
use crate::lock::{Guard, Lock};
use crate::memory::Account;
use crate::{attention, process, shared, sys};

/// Descriptors from here on are plain TCP.
const DESCRIPTORS_MAX: usize = 1 << 20;
/// Connections of a process.
const SLOTS_MAX: usize = 1 << 15;
/// The library's own descriptor: a program can not close it.
const OWN: u32 = u32::MAX;

static DESCRIPTORS: [AtomicU32; DESCRIPTORS_MAX] = [const { AtomicU32::new(0) }; DESCRIPTORS_MAX];
static REASONS: [AtomicU8; DESCRIPTORS_MAX] = [const { AtomicU8::new(0) }; DESCRIPTORS_MAX];
static SLOTS: [Slot; SLOTS_MAX] = [const { Slot::new() }; SLOTS_MAX];
/// Slots that were used, and are not. Before `epoll`'s lock, and that of `shared` (see `fork`).
static FREE: Lock<Vec<u32>> = Lock::new(Vec::new());
/// Slots from here on were never used.
static USED: AtomicU32 = AtomicU32::new(0);
/// Forks that were begun.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// What this process has of a connection's rings.
#[derive(Debug)]
pub(crate) struct Local {
    /// To the acceptor, to the connector.
    pub(crate) rings: [MappedRing; 2],
    /// Reader and writer of the ring to the acceptor, then of the other one.
    pub(crate) bells: [EventBell; 4],
    pub(crate) call: OwnedFd,
}

#[derive(Debug)]
struct Slot {
    /// References, and one as long as a descriptor is open.
    uses: AtomicU32,
    descriptors: AtomicU32,
    /// One of them, probably.
    hint: AtomicU32,
    is_filled: AtomicBool,
    /// Forks that were begun before it had this connection: each later one counts one more process that has it.
    born: AtomicU64,
    conn: AtomicPtr<Conn>,
    /// Memory of its rings.
    account: Account,
    /// This process's service hears of room in TCP.
    hears_of_room: AtomicBool,
    /// Threads of this process that wait for bytes of TCP only (`Conn::blind`).
    blind: AtomicU32,
    /// This process's epolls wait for room in the ring, and not for TCP's.
    waits_for_ring: AtomicBool,
    /// All descriptors of this program are closed; what is left has to be sent by the library's own.
    lingers: AtomicBool,
    /// Another file has come over a descriptor.
    is_replaced: AtomicBool,
    /// `local` is there.
    is_equipped: AtomicBool,
    local: UnsafeCell<MaybeUninit<Local>>,
}

// SAFETY: `local` is written before anything says that it is there, by one thread, and dropped after the last use.
unsafe impl Sync for Slot {}

impl Slot {
    const fn new() -> Self {
        Slot {
            uses: AtomicU32::new(0),
            descriptors: AtomicU32::new(0),
            hint: AtomicU32::new(0),
            is_filled: AtomicBool::new(false),
            born: AtomicU64::new(0),
            conn: AtomicPtr::new(null_mut()),
            account: Account::new(),
            hears_of_room: AtomicBool::new(false),
            blind: AtomicU32::new(0),
            waits_for_ring: AtomicBool::new(false),
            lingers: AtomicBool::new(false),
            is_replaced: AtomicBool::new(false),
            is_equipped: AtomicBool::new(false),
            local: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }
}

impl Local {
    pub(crate) fn ring(&self, direction: Direction) -> RingLink {
        RingLink::Mapped(match direction {
            Direction::ToAcceptor => &self.rings[0],
            Direction::ToConnector => &self.rings[1],
        })
    }

    pub(crate) fn bell_links(&self) -> [BellLink; 4] {
        self.bells.each_ref().map(|bell| BellLink(bell.as_fd().as_raw_fd()))
    }

    pub(crate) fn call_link(&self) -> BellLink {
        BellLink(self.call.as_raw_fd())
    }

    /// The bells and the call, to be passed on.
    pub(crate) fn borrow(&self) -> [BorrowedFd<'_>; 5] {
        let [a, b, c, d] = self.bells.each_ref().map(|bell| bell.as_fd());
        [a, b, c, d, self.call.as_fd()]
    }

    fn descriptors(&self) -> [i32; 5] {
        let [a, b, c, d] = self.bell_links().map(|bell| bell.0);
        [a, b, c, d, self.call.as_raw_fd()]
    }
}

/// A connection that is used.
#[derive(Debug)]
pub struct Ref {
    slot: u32,
}

impl Ref {
    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    pub(crate) fn conn(&self) -> &Conn {
        // SAFETY: filled as long as it is used; the memory is never unmapped.
        unsafe { &*SLOTS[self.slot as usize].conn.load(Acquire) }
    }

    /// Whether a descriptor is this connection still.
    pub(crate) fn is_at(&self, fd: i32) -> bool {
        slot_of(fd) == Some(self.slot)
    }

    /// The bells and the call; none without rings.
    pub(crate) fn bells(&self) -> Vec<BorrowedFd<'_>> {
        let this = &SLOTS[self.slot as usize];
        if !this.is_equipped.load(Acquire) {
            return Vec::new();
        }
        // SAFETY: it is there as long as the slot is used.
        unsafe { (*this.local.get()).assume_init_ref() }.borrow().to_vec()
    }

    /// Keeps the rings that the connection gets, once: who has both of its directions. Where they are as long as it is used; nothing
    /// if it has some.
    pub(crate) fn equip(&self, local: Local) -> Option<&Local> {
        let this = &SLOTS[self.slot as usize];
        if this.is_equipped.load(Acquire) {
            return None;
        }
        // SAFETY: nothing is there, nobody else writes it meanwhile, and it is looked at only from now on.
        let local = unsafe { &*(*this.local.get()).write(local) };
        local.descriptors().into_iter().for_each(set_own);
        this.is_equipped.store(true, Release);
        Some(local)
    }

    pub(crate) fn descriptors(&self) -> u32 {
        SLOTS[self.slot as usize].descriptors.load(Acquire)
    }

    /// What the service's epoll is to tell of TCP, of this process alone: each one has its own epoll.
    pub(crate) fn hears_of_room(&self) -> &AtomicBool {
        &SLOTS[self.slot as usize].hears_of_room
    }

    /// Whether another file has come over one of its descriptors.
    pub(crate) fn is_replaced(&self) -> &AtomicBool {
        &SLOTS[self.slot as usize].is_replaced
    }

    /// Whether the one descriptor of this process is the library's, and is to be closed when all is sent. Another process may have one
    /// of the program's.
    pub(crate) fn lingers(&self) -> &AtomicBool {
        &SLOTS[self.slot as usize].lingers
    }
}

impl Drop for Ref {
    fn drop(&mut self) {
        release(self.slot);
    }
}

fn entry(fd: i32) -> Option<&'static AtomicU32> {
    usize::try_from(fd).ok().and_then(|fd| DESCRIPTORS.get(fd))
}

fn slot_of(fd: i32) -> Option<u32> {
    let value = entry(fd)?.load(Acquire);
    let slot = (value != 0 && value != OWN).then(|| value - 1)?;
    (!process::is_foreign_after_vfork() || is_still(fd, slot)).then_some(slot)
}

/// Whether a descriptor is that of a slot's connection, in a process that may have closed it without a word of it.
#[cold]
fn is_still(fd: i32, slot: u32) -> bool {
    let conn = SLOTS[slot as usize].conn.load(Acquire);
    // SAFETY: as in `Ref::conn`; its parent waits meanwhile.
    let inode = unsafe { conn.as_ref() }.and_then(|conn| conn.inode);
    inode.is_some() && sys::inode(fd) == inode
}

/// Whether a descriptor is a connection: any of TCP, with rings or without. For others, this is all that the library does.
pub fn is_ours(fd: i32) -> bool {
    slot_of(fd).is_some()
}

/// Whether a descriptor is the library's own.
pub fn is_own(fd: i32) -> bool {
    entry(fd).is_some_and(|entry| entry.load(Acquire) == OWN)
}

/// The connection of a descriptor, if it is one's.
pub fn get(fd: i32) -> Option<Ref> {
    loop {
        let slot = slot_of(fd)?;
        if let Some(found) = hold(slot)
            && found.is_at(fd)
        {
            return Some(found);
        }
    }
}

/// The connection of a slot, if it has a descriptor; and that.
pub(crate) fn of_slot(slot: u32) -> Option<(Ref, i32)> {
    let this = SLOTS.get(slot as usize)?;
    if !this.is_filled.load(Acquire) {
        return None;
    }
    let fd = descriptor(slot)?;
    let found = get(fd)?;
    (found.slot == slot).then_some((found, fd))
}

/// A descriptor of a slot's connection.
pub(crate) fn descriptor(slot: u32) -> Option<i32> {
    let hint = &SLOTS.get(slot as usize)?.hint;
    let is_there = |&fd: &i32| slot_of(fd) == Some(slot);
    let hinted = Some(hint.load(Relaxed) as i32).filter(is_there);
    let fd = hinted.or_else(|| (0..limit()).find(is_there))?;
    // The same one as long as it is there.
    hint.store(fd as u32, Relaxed);
    Some(fd)
}

/// A connection that somebody uses, or that has a descriptor.
pub(crate) fn at(slot: u32) -> Option<Ref> {
    hold(slot)
}

/// Uses a slot, unless its last use has ended: who ended it empties it.
fn hold(slot: u32) -> Option<Ref> {
    let uses = &SLOTS.get(slot as usize)?.uses;
    let more = |uses: u32| if uses == 0 { None } else { Some(uses + 1) };
    uses.fetch_update(AcqRel, Acquire, more).ok().map(|_| Ref { slot })
}

/// One descriptor of each connection.
pub(crate) fn all() -> Vec<(Ref, i32)> {
    let mut found: Vec<(Ref, i32)> = Vec::new();
    let mut is_found: Vec<bool> = Vec::new();
    for fd in 0..limit() {
        if let Some(at) = get(fd) {
            let slot = at.slot as usize;
            is_found.resize(is_found.len().max(slot + 1), false);
            if !std::mem::replace(&mut is_found[slot], true) {
                found.push((at, fd));
            }
        }
    }
    found
}

static HIGHEST: AtomicU32 = AtomicU32::new(0);

/// Above the highest descriptor that anything was noted of.
pub fn limit() -> i32 {
    HIGHEST.load(Acquire) as i32 + 1
}

fn set(fd: i32, value: u32) {
    if let Some(entry) = entry(fd) {
        HIGHEST.fetch_max(fd as u32, AcqRel);
        entry.store(value, Release);
    }
}

/// Notes that a descriptor is the library's own.
pub(crate) fn set_own(fd: i32) {
    set(fd, OWN);
}

/// It is no longer.
pub(crate) fn unset_own(fd: i32) {
    set(fd, 0);
}

/// Notes why a TCP connection's descriptor is not in the table.
pub(crate) fn note(fd: i32, reason: Reason) {
    if let Some(noted) = usize::try_from(fd).ok().and_then(|fd| REASONS.get(fd)) {
        HIGHEST.fetch_max(fd as u32, AcqRel);
        noted.store(reason.code() as u8, Relaxed);
    }
}

/// Why a TCP connection's descriptor is not in the table.
pub(crate) fn noted(fd: i32) -> Option<Reason> {
    let noted = usize::try_from(fd).ok().and_then(|fd| REASONS.get(fd))?.load(Relaxed);
    Reason::of(noted.into()).ok()
}

/// A descriptor is closed: nothing is known of it any more.
pub(crate) fn forget_note(fd: i32) {
    if let Some(noted) = usize::try_from(fd).ok().and_then(|fd| REASONS.get(fd))
        && noted.load(Relaxed) != 0
    {
        noted.store(0, Relaxed);
    }
}

/// How many threads of this process wait for bytes of TCP only.
pub(crate) fn blind(slot: u32) -> &'static AtomicU32 {
    &SLOTS[slot as usize].blind
}

/// Writes go into the ring, or by TCP. Whether this process's epolls have to wait for something else than before.
pub(crate) fn follows(slot: u32, is_ring: bool) -> bool {
    let waits_for_ring = &SLOTS[slot as usize].waits_for_ring;
    waits_for_ring.load(SeqCst) != is_ring && waits_for_ring.swap(is_ring, SeqCst) != is_ring
}

/// Whether this process's epolls have to wait for room in the ring.
pub(crate) fn waits_for_ring(slot: u32) -> bool {
    SLOTS[slot as usize].waits_for_ring.load(SeqCst)
}

/// Memory of a slot's rings, which is given back when nobody uses the slot.
pub(crate) fn account(slot: u32) -> &'static Account {
    &SLOTS[slot as usize].account
}

fn free() -> Option<Guard<'static, Vec<u32>>> {
    FREE.lock().ok()
}

/// Gives a descriptor a connection, which has no rings yet. Nothing if there was no room for it.
pub(crate) fn open(fd: i32, is_connector: bool, after: u32) -> Option<Ref> {
    entry(fd)?;
    let fresh = || {
        let next = |used: u32| ((used as usize) < SLOTS_MAX).then_some(used + 1);
        USED.fetch_update(AcqRel, Acquire, next).ok()
    };
    // A fork finds all of it, or nothing.
    let mut free = free()?;
    let slot = free.pop().or_else(fresh)?;
    let this = &SLOTS[slot as usize];
    let place = |place: *const Conn| Conn::new(slot, fd, is_connector, after, place);
    let Some(conn) = shared::place(place) else {
        free.push(slot);
        return None;
    };
    this.born.store(FORKS.load(Acquire), Release);
    this.conn.store(conn, Release);
    this.descriptors.store(1, Release);
    this.hint.store(fd as u32, Relaxed);
    this.hears_of_room.store(false, Relaxed);
    this.blind.store(0, Relaxed);
    this.lingers.store(false, Relaxed);
    this.is_replaced.store(false, Relaxed);
    this.waits_for_ring.store(false, Relaxed);
    this.is_filled.store(true, Release);
    // From here on it can be held.
    this.uses.store(1, Release);
    set(fd, slot + 1);
    drop(free);
    get(fd)
}

/// `to` is the same connection as `from`, or nothing if `from` is.
pub(crate) fn copy(from: i32, to: i32) {
    match slot_of(from) {
        Some(slot) => {
            SLOTS[slot as usize].descriptors.fetch_add(1, AcqRel);
            set(to, slot + 1);
        }
        None => {
            if let Some(reason) = noted(from) {
                note(to, reason);
            }
        }
    }
}

/// A descriptor is no connection any more, and is about to be closed. The connection, if this was its last one: its first use,
/// which ends when it is dropped.
pub(crate) fn detach(fd: i32) -> Option<Ref> {
    let slot = slot_of(fd)?;
    if entry(fd)?.swap(0, AcqRel) != slot + 1 {
        return None;
    }
    attention::wait_until_unattended(slot);
    let is_last = SLOTS[slot as usize].descriptors.fetch_sub(1, AcqRel) == 1;
    // Not made where it is not meant: its end is an end of use.
    is_last.then(|| Ref { slot })
}

fn release(slot: u32) {
    let this = &SLOTS[slot as usize];
    if this.uses.fetch_sub(1, AcqRel) != 1 {
        return;
    }
    // Not during a fork, whose child has what it finds here.
    let free = free();
    if !this.is_filled.swap(false, AcqRel) {
        return;
    }
    if this.is_equipped.swap(false, AcqRel) {
        // SAFETY: it is there, nobody uses it any more, and no descriptor leads to it.
        let local = unsafe { (*this.local.get()).assume_init_read() };
        local.descriptors().into_iter().for_each(unset_own);
        drop(local);
    }
    this.account.close();
    shared::leave(this.conn.swap(null_mut(), AcqRel));
    if let Some(mut free) = free {
        free.push(slot);
    }
}

/// Slots that have a connection now.
fn filled() -> impl Iterator<Item = (u32, &'static Slot)> {
    let slots = (0..).zip(SLOTS.iter().take(USED.load(Acquire) as usize));
    slots.filter(|(_, this)| this.is_filled.load(Acquire))
}

/// In the child of a fork, other threads are gone, and what they used is not used.
pub(crate) fn forget_threads() {
    for (_, this) in filled() {
        let is_open = this.descriptors.load(Acquire) > 0;
        this.uses.store(is_open.into(), Release);
        this.blind.store(0, Release);
    }
}

/// Before a fork, when no slot is emptied: its child will have all connections of this process. Which fork it is.
pub(crate) fn reserve() -> u64 {
    for (_, this) in filled() {
        // SAFETY: as in `Ref::conn`.
        if let Some(conn) = unsafe { this.conn.load(Acquire).as_ref() } {
            conn.owners.reserve();
        }
    }
    FORKS.fetch_add(1, AcqRel) + 1
}

/// There was no child of this fork, whatever others have begun since.
pub(crate) fn unreserve(fork: u64) {
    for (slot, this) in filled() {
        if let Some(at) = hold(slot)
            && this.born.load(Acquire) < fork
        {
            at.conn().owners.unreserve();
        }
    }
}

/// In the child: it has the connections too.
pub(crate) fn enter(number: Number) {
    for (slot, this) in filled() {
        // SAFETY: as in `Ref::conn`; there is no other thread.
        let Some(conn) = (unsafe { this.conn.load(Acquire).as_ref() }) else { continue };
        conn.owners.enter(number);
        conn.owners.unreserve();
        if this.descriptors.load(Acquire) == 0 {
            // A thread of the parent's was about to empty it.
            this.uses.store(1, Release);
            drop(Ref { slot });
        }
    }
}

/// The connection of a slot, during a fork: no slot is emptied.
pub(crate) fn conn_during_fork(slot: u32) -> Option<&'static Conn> {
    let this = SLOTS.get(slot as usize)?;
    // SAFETY: as in `Ref::conn`; it is used until the fork is over.
    unsafe { this.conn.load(Acquire).as_ref() }.filter(|_| this.is_filled.load(Acquire))
}

/// During a fork, nobody changes it.
pub(crate) fn lock_for_fork() {
    FREE.hold(|_| {});
}

/// And after it, in the child of a thread.
pub(crate) fn unlock_after_fork(parents_thread: Option<u64>) {
    FREE.let_go(parents_thread);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(crate) mod testing {
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use crate::{config, family};

    /// A descriptor that may be a connection's. One test at a time has any.
    pub(crate) struct Socket {
        pub(crate) socket: TcpListener,
        _alone: MutexGuard<'static, ()>,
    }

    impl Socket {
        pub(crate) fn new() -> Self {
            static ALONE: Mutex<()> = Mutex::new(());
            let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            family::testing::begin();
            let agent = |name: &str| (name == config::AGENT).then(|| "/nowhere".to_owned());
            crate::CONFIG.get_or_init(|| config::Config::of(agent).unwrap().unwrap());
            Socket { socket: TcpListener::bind("127.0.0.1:0").unwrap(), _alone: alone }
        }

        pub(crate) fn fd(&self) -> i32 {
            self.socket.as_raw_fd()
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::net::TcpListener;

    use super::testing::Socket;
    use super::*;
    use crate::{config, memory};

    /// As when another thread closes it while its rings are offered, or made larger.
    #[test]
    fn memory_is_given_back_after_the_last_use() {
        let socket = Socket::new();
        let at = open(socket.fd(), true, 32).unwrap();
        let account = account(at.slot());
        assert!(account.take(1000));
        drop(detach(socket.fd()).unwrap());
        assert!(account.take(3000));
        account.give_back(2000);
        assert_eq!(memory::used(), 2000);
        drop(at);
        assert_eq!(memory::used(), 0);
        assert!(!account.take(config::DEFAULT_MEMORY + 1));
        assert_eq!(memory::used(), 0);
    }

    /// A signal handler has interrupted the wait, and forked: here is the child.
    #[test]
    fn a_wait_of_the_parent_is_not_the_childs_to_end() {
        let socket = Socket::new();
        let at = open(socket.fd(), true, 32).unwrap();
        assert_eq!(at.conn().begin_wait(), None);
        blind(at.slot()).store(0, SeqCst);
        at.conn().end_blind(0);
        assert_eq!(at.conn().blind.load(SeqCst), 1);
        drop(detach(socket.fd()).unwrap());
    }

    /// Of two threads that fork at once.
    #[test]
    fn a_fork_that_fails_beside_another_one_leaves_nothing() {
        let socket = Socket::new();
        let at = open(socket.fd(), true, 32).unwrap();
        let fails = reserve();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let later = open(other.as_raw_fd(), true, 32).unwrap();
        let succeeds = reserve();
        unreserve(fails);
        assert!(!at.conn().is_only() && !later.conn().is_only(), "the other one's child has them");
        // Which says that it has them, and goes.
        [&at, &later].iter().for_each(|at| at.conn().owners.unreserve());
        assert!(at.conn().is_only() && later.conn().is_only());
        // None of them was there when it began.
        let fresh = TcpListener::bind("127.0.0.1:0").unwrap();
        let fresh = (open(fresh.as_raw_fd(), true, 32).unwrap(), fresh);
        fresh.0.conn().owners.reserve();
        unreserve(succeeds);
        assert!(!fresh.0.conn().is_only());
        for fd in [&socket.socket, &other, &fresh.1].map(AsRawFd::as_raw_fd) {
            drop(detach(fd).unwrap());
        }
    }
}
