//! A filter of system calls, for the program that this process becomes.

#![allow(unsafe_code, reason = "the kernel has no safe interface for it")]

use std::io;

/// `struct seccomp_data`: where the number of the call lies, and the machine's.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;

#[cfg(target_arch = "x86_64")]
const THIS_MACHINE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const THIS_MACHINE: u32 = 0xC000_00B7;

/// Makes `io_uring_setup` say that the kernel does not have it, in this process and all that it starts. Programs then do without.
/// No program that is started gets more rights than this one has (`sudo` does not work), as the kernel wants it for filters.
pub(crate) fn refuse_io_uring() -> io::Result<()> {
    let does = |code: u32, value| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value };
    let skips = |value, if_equal, if_not| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: if_equal,
        jf: if_not,
        k: value,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let give = libc::BPF_RET | libc::BPF_K;
    let mut filter = [
        does(load, MACHINE),
        skips(THIS_MACHINE, 0, 2),
        does(load, NUMBER),
        skips(libc::SYS_io_uring_setup as u32, 1, 0),
        does(give, libc::SECCOMP_RET_ALLOW),
        does(give, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    let done = |result: libc::c_int| {
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the filter lives until the calls return; it is copied.
    unsafe {
        done(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        done(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program))
    }
}
