//! What a program is, and that the command says so.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use afterbay_net_cli::{ProgramError, Reason, find};
use rustix::process::geteuid;
use tempfile::TempDir;

const LOADER: &[u8] = b"/lib64/ld-linux-x86-64.so.2\0";

/// A program of this machine, in which bytes are replaced.
struct Patched {
    folder: TempDir,
}

impl Patched {
    fn new() -> Self {
        Patched { folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn replace(&self, name: &str, old: &[u8], new: &[u8]) -> PathBuf {
        let mut content = program();
        let at = content.windows(old.len()).position(|bytes| bytes == old).expect("is in it");
        content[at..at + new.len()].copy_from_slice(new);
        self.write(name, &content)
    }
}

fn program() -> Vec<u8> {
    fs::read("/bin/true").unwrap()
}

fn obstacle(path: &Path) -> Option<(PathBuf, Reason)> {
    let found = find(path.as_os_str(), Some(OsStr::new("/bin:/usr/bin"))).unwrap();
    assert_eq!(found.path, path);
    found.obstacle.map(|obstacle| (obstacle.file, obstacle.reason))
}

/// The file's head of an interpreter's segment: its type is what is said of it.
fn without_loader(mut content: Vec<u8>) -> Vec<u8> {
    let number =
        |at: usize, content: &[u8]| u16::from_le_bytes([content[at], content[at + 1]]) as usize;
    let (heads, size, count) = (number(32, &content), number(54, &content), number(56, &content));
    let head =
        (0..count).map(|at| heads + at * size).find(|at| content[*at] == 3).expect("has a loader");
    content[head] = 0;
    content
}

#[test]
fn a_program_of_this_machine_is_accelerated() {
    assert_eq!(obstacle(Path::new("/bin/true")), None);
    let found = find(OsStr::new("true"), Some(OsStr::new("/no/such:/bin"))).unwrap();
    assert_eq!(found.path, Path::new("/bin/true"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn what_is_not_accelerated_is_known() {
    let made = Patched::new();
    let linked_statically = made.write("static", &without_loader(program()));
    assert_eq!(obstacle(&linked_statically), Some((linked_statically, Reason::Static)));
    let musl = made.replace("musl", LOADER, b"/lib/ld-musl-x86_64.so.1\0");
    let reason = Reason::Loader("/lib/ld-musl-x86_64.so.1".to_owned());
    assert_eq!(obstacle(&musl), Some((musl.clone(), reason)));
    // Linked by another linker than Go's own, and using libraries.
    let go = made.replace("go", b".gnu.version_r\0", b".go.buildinfo\0");
    assert_eq!(obstacle(&go), Some((go.clone(), Reason::Go)));
    let mut foreign = program();
    foreign[18] = 0xB7;
    let foreign = made.write("foreign", &foreign);
    let (_, reason) = obstacle(&foreign).unwrap();
    assert!(
        matches!(reason, Reason::Machine(machine) if machine.to_string() == "AArch64, 64 bits"),
        "{reason:?}"
    );
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_script_is_what_its_interpreter_is() {
    let made = Patched::new();
    let musl = made.replace("musl", LOADER, b"/lib/ld-musl-x86_64.so.1\0");
    let script = made.write("script", format!("#!{} -x\n", musl.display()).as_bytes());
    assert_eq!(obstacle(&script).unwrap().0, musl);
    let of_script = made.write("of-script", format!("#! {}\n", script.display()).as_bytes());
    assert_eq!(obstacle(&of_script).unwrap().0, musl);
    let by_env = made.write("by-env", format!("#!/usr/bin/env {}\n", musl.display()).as_bytes());
    assert_eq!(obstacle(&by_env).map(|(file, _)| file), Some(musl));
    assert_eq!(obstacle(&made.write("shell", b"#!/bin/sh\n")), None);
    // One that names itself ends somewhere.
    let own = made.folder.path().join("own");
    assert_eq!(obstacle(&made.write("own", format!("#!{}\n", own.display()).as_bytes())), None);
}

#[test]
fn a_program_with_other_rights_is_known() {
    let made = Patched::new();
    let path = made.write("others", &program());
    if !geteuid().is_root() {
        // Only root can make one, and one of root's is on every machine.
        let (_, reason) = obstacle(Path::new("/usr/bin/passwd")).unwrap();
        return assert_eq!(reason, Reason::OtherRights);
    }
    chown(&path, Some(12_345), None).unwrap();
    assert_eq!(obstacle(&path), None);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    assert_eq!(obstacle(&path), Some((path, Reason::OtherRights)));
}

#[test]
fn what_cannot_run_is_told_as_shells_do() {
    let made = Patched::new();
    let plain = made.write("plain", b"text");
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    let find = |name: &OsStr| find(name, Some(made.folder.path().as_os_str())).unwrap_err();
    for name in [OsStr::new("no-such-program"), OsStr::new("/no/such/program"), OsStr::new("")] {
        let error = find(name);
        assert!(matches!(error, ProgramError::NotFound(_)) && error.exit_code() == 127, "{error}");
    }
    for name in [plain.as_os_str(), OsStr::new("plain")] {
        let error = find(name);
        assert!(
            matches!(error, ProgramError::NotExecutable(_)) && error.exit_code() == 126,
            "{error}"
        );
    }
    assert!(matches!(find(OsStr::new("/")), ProgramError::Directory(_)));
}
