//! `vfork`, and `clone` as far as it is like it: a process that uses this one's memory.

use std::ffi::{c_int, c_void};

use afterbay_net_core::process::{before_sharing, before_vfork};

use crate::real::real;

/// `vfork` returns twice to the same place of the stack, so that nothing may lie on top of it: the C library's own is jumped to.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod jump {
    use std::arch::naked_asm;
    use std::ffi::{c_int, c_void};
    use std::sync::atomic::AtomicPtr;

    use crate::real::find;

    /// The address of the C library's.
    extern "C" fn before() -> *mut c_void {
        static CELL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        super::before_vfork();
        find(&CELL, c"vfork")
    }

    #[cfg(target_arch = "x86_64")]
    #[unsafe(naked)]
    #[unsafe(no_mangle)]
    unsafe extern "C" fn vfork() -> c_int {
        naked_asm!("endbr64", "sub rsp, 8", "call {before}", "add rsp, 8", "jmp rax", before = sym before)
    }

    #[cfg(target_arch = "aarch64")]
    #[unsafe(naked)]
    #[unsafe(no_mangle)]
    unsafe extern "C" fn vfork() -> c_int {
        naked_asm!(
            "bti c",
            "stp x29, x30, [sp, #-16]!",
            "bl {before}",
            "ldp x29, x30, [sp], #16",
            "mov x16, x0",
            "br x16",
            before = sym before
        )
    }
}

/// The last arguments are there if the flags say so: they are led on as they are.
#[unsafe(no_mangle)]
unsafe extern "C" fn clone(
    runs: *const c_void,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parent: *mut c_void,
    storage: *mut c_void,
    child: *mut c_void,
) -> c_int {
    if flags & libc::CLONE_VM != 0 && flags & libc::CLONE_THREAD == 0 {
        before_sharing();
    }
    type Real = unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        c_int,
        *mut c_void,
        *mut c_void,
        *mut c_void,
        *mut c_void,
    ) -> c_int;
    let real = real!(c"clone" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(runs, stack, flags, argument, parent, storage, child) }
}
