//! The library, and the environment that brings it into a program.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The library's file.
const LIBRARY: &str = "libafterbay_net.so";
/// Where it is, instead of beside this program.
const LIBRARY_VARIABLE: &str = "AFTERBAY_NET_LIBRARY";
/// What the dynamic loader loads before a program's own libraries.
pub(crate) const LD_PRELOAD: &str = "LD_PRELOAD";

/// Finds the library: beside this program, or where the environment says.
pub(crate) fn library() -> Result<PathBuf, String> {
    let path = match std::env::var_os(LIBRARY_VARIABLE) {
        Some(path) => PathBuf::from(path),
        None => beside_this_program()?,
    };
    let path = path.canonicalize().map_err(|error| {
        format!(
            "{}: {error}; the library is built with this program, and lies beside it, or where {LIBRARY_VARIABLE} says",
            path.display()
        )
    })?;
    match path.as_os_str().as_bytes().iter().find(|byte| is_separator(**byte)) {
        Some(byte) => Err(format!(
            "{}: LD_PRELOAD cannot have a path with '{}' in it; copy the library elsewhere, and name it in {LIBRARY_VARIABLE}",
            path.display(),
            char::from(*byte)
        )),
        None => Ok(path),
    }
}

fn beside_this_program() -> Result<PathBuf, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("this program's own path: {error}"))?;
    Ok(program.with_file_name(LIBRARY))
}

/// A list for the loader with the library in it, once. What is there already comes first: its functions call ours, which call the
/// C library's.
pub(crate) fn with_library(list: Option<&OsStr>, library: &Path) -> OsString {
    let list = list.unwrap_or_default();
    let library = library.as_os_str();
    let others = list.as_bytes().split(|byte| is_separator(*byte));
    let others = others.filter(|other| !other.is_empty() && *other != library.as_bytes());
    let mut joined = OsString::new();
    for other in others {
        joined.push(OsStr::from_bytes(other));
        joined.push(":");
    }
    joined.push(library);
    joined
}

/// What separates the list.
fn is_separator(byte: u8) -> bool {
    matches!(byte, b':' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_what_is_in_it() {
        let with = |list: Option<&str>| with_library(list.map(OsStr::new), Path::new("/l.so"));
        assert_eq!(with(None), "/l.so");
        assert_eq!(with(Some("")), "/l.so");
        assert_eq!(with(Some("/a.so")), "/a.so:/l.so");
        assert_eq!(with(Some("/a.so /b.so")), "/a.so:/b.so:/l.so");
        assert_eq!(with(Some("/l.so:/a.so")), "/a.so:/l.so");
    }
}
