//! `exec` and `posix_spawn`: another program, which has the descriptors that stay open, and no rings.

use std::ffi::{c_char, c_int, c_void};

use afterbay_net_core::{Why, config, files};

use crate::real::{guard, real};

type Words = *const *const c_char;

/// Whether this process becomes the program, or goes on beside it.
fn before(becomes: bool) {
    if config().is_some() {
        let _ = guard(|| {
            files::before_exec(becomes);
            Ok(0)
        });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execve(path: *const c_char, arguments: Words, environment: Words) -> c_int {
    before(true);
    type Real = unsafe extern "C" fn(*const c_char, Words, Words) -> c_int;
    let real = real!(c"execve" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(path, arguments, environment) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execv(path: *const c_char, arguments: Words) -> c_int {
    before(true);
    let real = real!(c"execv" as unsafe extern "C" fn(*const c_char, Words) -> c_int, -1);
    // SAFETY: as the program calls it.
    unsafe { real(path, arguments) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execvp(file: *const c_char, arguments: Words) -> c_int {
    before(true);
    let real = real!(c"execvp" as unsafe extern "C" fn(*const c_char, Words) -> c_int, -1);
    // SAFETY: as the program calls it.
    unsafe { real(file, arguments) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execvpe(file: *const c_char, arguments: Words, environment: Words) -> c_int {
    before(true);
    type Real = unsafe extern "C" fn(*const c_char, Words, Words) -> c_int;
    let real = real!(c"execvpe" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(file, arguments, environment) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fexecve(fd: c_int, arguments: Words, environment: Words) -> c_int {
    before(true);
    let real = real!(c"fexecve" as unsafe extern "C" fn(c_int, Words, Words) -> c_int, -1);
    // SAFETY: as the program calls it.
    unsafe { real(fd, arguments, environment) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execveat(
    folder: c_int,
    path: *const c_char,
    arguments: Words,
    environment: Words,
    flags: c_int,
) -> c_int {
    before(true);
    type Real = unsafe extern "C" fn(c_int, *const c_char, Words, Words, c_int) -> c_int;
    let real = real!(c"execveat" as Real, -1);
    // SAFETY: as the program calls it.
    unsafe { real(folder, path, arguments, environment, flags) }
}

type Spawn = unsafe extern "C" fn(
    *mut libc::pid_t,
    *const c_char,
    *const c_void,
    *const c_void,
    Words,
    Words,
) -> c_int;

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawn(
    process: *mut libc::pid_t,
    path: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Words,
    environment: Words,
) -> c_int {
    before(false);
    let real = real!(c"posix_spawn" as Spawn, libc::ENOSYS);
    // SAFETY: as the program calls it.
    unsafe { real(process, path, actions, attributes, arguments, environment) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawnp(
    process: *mut libc::pid_t,
    file: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Words,
    environment: Words,
) -> c_int {
    before(false);
    let real = real!(c"posix_spawnp" as Spawn, libc::ENOSYS);
    // SAFETY: as the program calls it.
    unsafe { real(process, file, actions, attributes, arguments, environment) }
}

/// The new program will have it, also if it is closed at `exec` otherwise.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawn_file_actions_adddup2(
    actions: *mut c_void,
    from: c_int,
    to: c_int,
) -> c_int {
    files::hand_on(from, Why::Inherited);
    type Real = unsafe extern "C" fn(*mut c_void, c_int, c_int) -> c_int;
    let real = real!(c"posix_spawn_file_actions_adddup2" as Real, libc::ENOSYS);
    // SAFETY: as the program calls it.
    unsafe { real(actions, from, to) }
}
