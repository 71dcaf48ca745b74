//! What happens before the program begins.

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    let begun = std::panic::catch_unwind(afterbay_net_core::begin);
    if let Ok(Err(wrong)) = begun {
        let line = format!("afterbay: {wrong}; this program uses plain TCP\n");
        // SAFETY: the bytes are there until it returns.
        let _ = unsafe { libc::syscall(libc::SYS_write, 2, line.as_ptr(), line.len()) };
    }
}
