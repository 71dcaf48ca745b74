//! System calls on what a program hands over, past the functions that programs call: those lead here.

#![allow(unsafe_code, reason = "a program's pointers have no safe interface")]

use std::mem::{MaybeUninit, size_of};
use std::ptr::{null, null_mut};
use std::sync::atomic::AtomicU64;

use libc::{c_int, c_long, c_void, iovec, msghdr, pollfd, sigset_t, timespec};
use rustix::io::Errno;

/// The result of a call of a program: what it returns, or `errno`.
pub type Result<T> = std::result::Result<T, Errno>;

fn result(value: c_long) -> Result<usize> {
    if value >= 0 { Ok(value as usize) } else { Err(last_error()) }
}

/// What the C library says of the call before, which failed.
pub fn last_error() -> Errno {
    match errno() {
        number @ 1..4096 => Errno::from_raw_os_error(number),
        _ => Errno::IO,
    }
}

/// What is in `errno` now, to be put back.
pub fn errno() -> i32 {
    // SAFETY: it is this thread's, always.
    unsafe { *libc::__errno_location() }
}

/// Puts back what was in `errno`.
pub fn set_errno(number: i32) {
    // SAFETY: it is this thread's, always.
    unsafe { *libc::__errno_location() = number }
}

/// What the program will find in `errno`.
pub fn set_last_error(errno: Errno) {
    set_errno(errno.raw_os_error());
}

/// Makes a system call with arguments that the kernel checks, or that the caller answers for.
macro_rules! call {
    ($number:expr $(, $argument:expr)*) => {
        // SAFETY: as said at each use.
        result(unsafe { libc::syscall($number $(, $argument)*) })
    };
}

pub(crate) fn thread_id() -> u32 {
    call!(libc::SYS_gettid).map_or(0, |id| id as u32)
}

pub(crate) fn process_id() -> u32 {
    call!(libc::SYS_getpid).map_or(0, |id| id as u32)
}

pub(crate) fn is_thread(id: u32) -> bool {
    call!(libc::SYS_tkill, id, 0) != Err(Errno::SRCH)
}

/// Whether this process may use `io_uring`: asks for a ring without entries, which no kernel makes.
pub(crate) fn has_io_uring() -> bool {
    let made = call!(libc::SYS_io_uring_setup, 0, null::<c_void>());
    !matches!(made, Err(Errno::NOSYS | Errno::PERM))
}

fn locked(byte: u64, length: u64) -> libc::flock {
    // SAFETY: zero is such a structure.
    let mut lock: libc::flock = unsafe { MaybeUninit::zeroed().assume_init() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    (lock.l_start, lock.l_len) = (byte as libc::off_t, length as libc::off_t);
    lock
}

/// This process has a lock on a byte of a file until it ends, or closes any descriptor of the file.
pub(crate) fn lock_byte(fd: i32, byte: u64) -> Result<usize> {
    let lock = locked(byte, 1);
    call!(libc::SYS_fcntl, fd, libc::F_SETLK, &raw const lock)
}

/// Whether another process has a lock on any of these bytes.
pub(crate) fn is_locked(fd: i32, from: u64, length: u64) -> Result<bool> {
    let mut lock = locked(from, length);
    call!(libc::SYS_fcntl, fd, libc::F_GETLK, &raw mut lock)?;
    Ok(lock.l_type != libc::F_UNLCK as libc::c_short)
}

/// The half of a word that the kernel compares.
fn low(word: &AtomicU64) -> *mut u32 {
    let halves = word.as_ptr().cast::<u32>();
    // It is the second one on some machines.
    halves.wrapping_add(usize::from(cfg!(target_endian = "big")))
}

/// Waits while the low half of the word is so. Whether it waited in vain.
pub(crate) fn futex_wait(word: &AtomicU64, expected: u32, timeout_ms: u32) -> bool {
    let timeout = to_timespec(u64::from(timeout_ms) * 1_000_000);
    // The word and the time live until the call returns.
    let waited = call!(libc::SYS_futex, low(word), libc::FUTEX_WAIT, expected, &raw const timeout);
    waited == Err(Errno::TIMEDOUT)
}

pub(crate) fn futex_wake(word: &AtomicU64) {
    let _ = call!(libc::SYS_futex, low(word), libc::FUTEX_WAKE, 1);
}

/// Nanoseconds as the kernel wants them.
pub fn to_timespec(nanoseconds: u64) -> timespec {
    timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as c_long,
    }
}

/// Nanoseconds of a clock that only goes forward.
pub fn now() -> u64 {
    let mut time = MaybeUninit::<timespec>::zeroed();
    // SAFETY: the kernel writes the time to it; zero is a time too.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sends from these buffers. The caller answers for them.
pub(crate) fn send(fd: i32, buffers: &[iovec], flags: c_int) -> Result<usize> {
    let message = message(buffers);
    call!(libc::SYS_sendmsg, fd, &raw const message, flags)
}

/// Receives into these buffers. The caller answers for them.
pub(crate) fn receive(fd: i32, buffers: &[iovec], flags: c_int) -> Result<usize> {
    let mut message = message(buffers);
    call!(libc::SYS_recvmsg, fd, &raw mut message, flags)
}

/// Receives as a program's message says.
///
/// # Safety
/// The message's parts can be written until this returns.
pub(crate) unsafe fn receive_message(fd: i32, message: &mut msghdr, flags: c_int) -> Result<usize> {
    call!(libc::SYS_recvmsg, fd, &raw mut *message, flags)
}

fn message(buffers: &[iovec]) -> msghdr {
    // SAFETY: zero is a message header without anything.
    let mut message: msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = buffers.as_ptr().cast_mut();
    message.msg_iovlen = buffers.len() as _;
    message
}

/// Sends bytes.
pub(crate) fn send_bytes(fd: i32, bytes: &[u8], flags: c_int) -> Result<usize> {
    call!(libc::SYS_sendto, fd, bytes.as_ptr(), bytes.len(), flags, null::<c_void>(), 0)
}

/// Whether there is a byte on TCP: 1, or its end: 0, or nothing yet: `EAGAIN`, or an error, which is taken.
pub(crate) fn peek(fd: i32) -> Result<usize> {
    let mut byte = [0_u8; 1];
    let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
    call!(
        libc::SYS_recvfrom,
        fd,
        byte.as_mut_ptr(),
        1,
        flags,
        null_mut::<c_void>(),
        null::<c_void>()
    )
}

/// `poll` until then: nanoseconds, or for ever.
pub fn poll(fds: &mut [pollfd], timeout: Option<u64>, mask: Option<&sigset_t>) -> Result<usize> {
    let time = timeout.map(to_timespec);
    let time = time.as_ref().map_or(null(), |time| &raw const *time);
    let mask = mask.map_or(null(), |mask| &raw const *mask);
    // The kernel's set of signals has 8 bytes.
    call!(libc::SYS_ppoll, fds.as_mut_ptr(), fds.len(), time, mask, 8)
}

pub(crate) fn epoll_control(
    epoll: i32,
    operation: c_int,
    fd: i32,
    events: u32,
    data: u64,
) -> Result<usize> {
    let event = libc::epoll_event { events, u64: data };
    call!(libc::SYS_epoll_ctl, epoll, operation, fd, &raw const event)
}

/// `epoll_pwait` until then: milliseconds, or for ever if negative.
pub(crate) fn epoll_wait(
    epoll: i32,
    events: &mut [libc::epoll_event],
    timeout_ms: c_int,
    mask: Option<&sigset_t>,
) -> Result<usize> {
    let mask = mask.map_or(null(), |mask| &raw const *mask);
    call!(libc::SYS_epoll_pwait, epoll, events.as_mut_ptr(), events.len(), timeout_ms, mask, 8)
}

/// Writes eight bytes to an eventfd.
pub(crate) fn ring(fd: i32) {
    let one = 1_u64;
    let _ = call!(libc::SYS_write, fd, &raw const one, 8);
}

/// Reads an eventfd, without waiting whatever its flags are.
pub(crate) fn silence(fd: i32) {
    let mut count = 0_u64;
    let buffer = iovec { iov_base: (&raw mut count).cast(), iov_len: 8 };
    let nowhere: c_long = -1;
    let _ = call!(libc::SYS_preadv2, fd, &raw const buffer, 1, nowhere, nowhere, libc::RWF_NOWAIT);
}

pub(crate) fn close(fd: i32) -> Result<usize> {
    call!(libc::SYS_close, fd)
}

/// `to` becomes `fd`.
pub(crate) fn duplicate_over(fd: i32, to: i32, closes_on_exec: bool) -> Result<usize> {
    let flags = if closes_on_exec { libc::O_CLOEXEC } else { 0 };
    call!(libc::SYS_dup3, fd, to, flags)
}

/// Closes all descriptors but these.
pub(crate) fn close_all_but(keep: &mut [i32]) {
    keep.sort_unstable();
    let mut from = 0;
    for end in keep.iter().copied().chain([i32::MAX]) {
        if from < end && call!(libc::SYS_close_range, from, end - 1, 0).is_err() {
            let last = crate::slot::limit().max(1 << 16);
            for fd in from..end.min(last) {
                let _ = close(fd);
            }
        }
        from = end.saturating_add(1);
    }
}

/// A child: 0 in it, its number in this process. As the program's own forks.
pub(crate) fn fork() -> Option<i32> {
    // SAFETY: who calls this does in the child what a child may.
    let child = unsafe { libc::fork() };
    (child >= 0).then_some(child)
}

/// Until a child has ended. The program may have been told of it first.
pub(crate) fn wait_for(child: i32) {
    // SAFETY: nothing is written but the number.
    while unsafe { libc::waitpid(child, null_mut(), libc::__WALL) } < 0 && errno() == libc::EINTR {}
}

/// Ends this process at once.
pub(crate) fn exit() -> ! {
    // SAFETY: it runs nothing of the program's.
    unsafe { libc::_exit(0) }
}

/// In a child that is no longer the program: its signals do what they do by default, and it has a name of its own.
pub(crate) fn begin_anew(name: &std::ffi::CStr) {
    for signal in 1..=64 {
        // SAFETY: no handler runs code.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: as above; and the name ends with zero.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
    }
    restore_signals(0);
}

pub(crate) fn fcntl(fd: i32, command: c_int, argument: usize) -> Result<usize> {
    call!(libc::SYS_fcntl, fd, command, argument)
}

pub(crate) fn shutdown(fd: i32, how: c_int) -> Result<usize> {
    call!(libc::SYS_shutdown, fd, how)
}

/// What the kernel names the file of a descriptor.
pub(crate) fn inode(fd: i32) -> Option<u64> {
    let mut stat = MaybeUninit::<libc::stat>::zeroed();
    let asked = call!(libc::SYS_fstat, fd, stat.as_mut_ptr());
    // SAFETY: zero is such a structure, and the kernel has written to it.
    asked.is_ok().then(|| unsafe { stat.assume_init() }.st_ino)
}

/// An option of a socket that is plain bytes.
pub(crate) fn option<T: Copy>(fd: i32, level: c_int, name: c_int) -> Option<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as libc::socklen_t;
    let got = call!(libc::SYS_getsockopt, fd, level, name, value.as_mut_ptr(), &raw mut length);
    // SAFETY: all options that are asked for are numbers, for which zero is a value.
    (got.is_ok()).then(|| unsafe { value.assume_init() })
}

pub(crate) fn set_option<T: Copy>(fd: i32, level: c_int, name: c_int, value: T) -> Result<usize> {
    call!(libc::SYS_setsockopt, fd, level, name, &raw const value, size_of::<T>())
}

/// Whether the kernel says when bytes came, beside them.
pub(crate) fn tells_times(fd: i32) -> bool {
    let is_set = |&name: &c_int| option::<c_int>(fd, libc::SOL_SOCKET, name).unwrap_or(0) != 0;
    TIMES.iter().any(is_set)
}

/// Options of a socket that make it do so.
pub(crate) const TIMES: [c_int; 6] = [
    libc::SO_TIMESTAMP,
    libc::SO_TIMESTAMPNS,
    libc::SO_TIMESTAMPING,
    libc::SO_TIMESTAMP_NEW,
    libc::SO_TIMESTAMPNS_NEW,
    libc::SO_TIMESTAMPING_NEW,
];

/// An `ioctl` that reads a number.
pub(crate) fn ioctl_number(fd: i32, request: u64) -> Result<c_int> {
    let mut number: c_int = 0;
    call!(libc::SYS_ioctl, fd, request, &raw mut number).map(|_| number)
}

/// Whether the other end of a TCP connection sends nothing more: it has ended its stream, or is gone. Not what `POLLRDHUP` says,
/// which is so after an own `shutdown` too.
pub(crate) fn peer_has_ended(fd: i32) -> bool {
    // Of `struct tcp_info`, the first byte; established, connecting, and those that have only sent an end.
    const GOES_ON: std::ops::RangeInclusive<u8> = 1..=5;
    option::<u8>(fd, libc::IPPROTO_TCP, libc::TCP_INFO)
        .is_none_or(|state| !GOES_ON.contains(&state))
}

/// Whether a TCP connection is no more: nothing comes, and nothing goes.
pub(crate) fn is_closed(fd: i32) -> bool {
    // Of `struct tcp_info`, the first byte.
    const CLOSE: u8 = 7;
    option::<u8>(fd, libc::IPPROTO_TCP, libc::TCP_INFO) == Some(CLOSE)
}

/// Resets a connection, whoever has it. Who reads there finds an error.
pub(crate) fn disconnect(fd: i32) -> Result<usize> {
    // SAFETY: zero is an address of no family.
    let nowhere: libc::sockaddr = unsafe { MaybeUninit::zeroed().assume_init() };
    call!(libc::SYS_connect, fd, &raw const nowhere, size_of::<libc::sockaddr>())
}

pub(crate) fn sleep(nanoseconds: u64) {
    let _ = poll(&mut [], Some(nanoseconds), None);
}

/// Nanoseconds of `SO_RCVTIMEO` or `SO_SNDTIMEO`; 0: for ever.
pub(crate) fn socket_timeout(fd: i32, name: c_int) -> u64 {
    let time: Option<libc::timeval> = option(fd, libc::SOL_SOCKET, name);
    time.map_or(0, |time| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000)
}

/// Whether system calls that any of the program's signal handlers interrupts are to be started again.
pub(crate) fn signals_restart() -> bool {
    let mut restart = true;
    for signal in 1..=64 {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: it only asks. A signal that there is not leaves zeros, which are the default.
        let action = unsafe {
            libc::sigaction(signal, null(), action.as_mut_ptr());
            action.assume_init()
        };
        let is_handled =
            action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN;
        // The C library's own, of thread cancellation and of setuid.
        let is_own = signal == 32 || signal == 33;
        restart &= !is_handled || is_own || action.sa_flags & libc::SA_RESTART != 0;
    }
    restart
}

/// Blocks all signals in this thread. What was blocked before.
pub(crate) fn block_signals() -> u64 {
    let (all, mut before) = (u64::MAX, 0_u64);
    let _ = call!(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const all, &raw mut before, 8);
    before
}

pub(crate) fn restore_signals(mask: u64) {
    let _ =
        call!(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const mask, null::<c_void>(), 8);
}

/// Maps memory that a process and its children share.
pub(crate) fn map_shared(bytes: usize) -> Option<*mut u8> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the kernel chooses an address at which nothing else lies.
    let base = unsafe { libc::mmap(null_mut(), bytes, access, flags, -1, 0) };
    (base != libc::MAP_FAILED).then_some(base.cast())
}
