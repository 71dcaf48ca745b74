//! The program that shall run: where it is, and whether the library can be loaded into it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, getxattr};
use rustix::process::{getegid, geteuid};

use crate::elf::{self, Kind, Machine};

/// Bytes of a script's first line that kernels read.
const FIRST_LINE_BYTES: u64 = 256;
/// Scripts whose interpreter is a script, as deep as kernels follow them.
const DEPTH_MAX: usize = 5;
/// What C libraries run that is neither a program nor names its interpreter.
const SHELL: &str = "/bin/sh";
/// The extended attribute of programs that get rights of root's.
const CAPABILITIES: &str = "security.capability";

const SET_USER_ID: u32 = 0o4000;
const SET_GROUP_ID: u32 = 0o2000;

/// A program that can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// Why it will not be accelerated, if that is known.
    pub obstacle: Option<Obstacle>,
}

/// Why a program is not accelerated. It runs as without the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The program, or the interpreter of its script.
    pub file: PathBuf,
    /// What is in the way.
    pub reason: Reason,
}

/// What is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It loads no library.
    Static,
    /// Its runtime makes its system calls itself.
    Go,
    /// It is built for another C library.
    Loader(String),
    /// It is built for another kind of machine.
    Machine(Machine),
    /// It runs as another user, or with rights of another one: the loader ignores `LD_PRELOAD`.
    OtherRights,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.file.display())?;
        match &self.reason {
            Reason::Static => f.write_str("is linked statically, so that no library can be loaded into it"),
            Reason::Go => f.write_str("is written in Go, which makes its system calls without the C library"),
            Reason::Loader(loader) if loader.contains("musl") => {
                write!(f, "is built for musl ({loader}), and the library for glibc")
            }
            Reason::Loader(loader) => write!(f, "has the loader {loader}, and the library is built for glibc's"),
            Reason::Machine(machine) => write!(f, "is built for another machine ({machine})"),
            Reason::OtherRights => f.write_str(
                "runs with the rights of another user (set-user-id, set-group-id or capabilities), for which LD_PRELOAD does not hold",
            ),
        }
    }
}

/// Why a program cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// There is no such file.
    #[error("{0}: not found; a program is a path, or a name that is in PATH")]
    NotFound(String),
    /// It is there, and may not be executed.
    #[error("{0}: not executable by this user")]
    NotExecutable(String),
    /// It is a folder.
    #[error("{0}: is a directory")]
    Directory(String),
}

impl ProgramError {
    /// As shells have it.
    pub fn exit_code(&self) -> u8 {
        match self {
            ProgramError::NotFound(_) => 127,
            _ => 126,
        }
    }
}

/// Finds a program as `execvp` does: by its path, or in `PATH`; and what is in the way of accelerating it.
pub fn find(name: &OsStr, path: Option<&OsStr>) -> Result<Found, ProgramError> {
    let shown = || name.to_string_lossy().into_owned();
    let file = if name.as_bytes().contains(&b'/') {
        let file = PathBuf::from(name);
        match executable(&file) {
            Candidate::Program => file,
            Candidate::Absent => return Err(ProgramError::NotFound(shown())),
            Candidate::Directory => return Err(ProgramError::Directory(shown())),
            Candidate::Forbidden => return Err(ProgramError::NotExecutable(shown())),
        }
    } else {
        in_path(name, path)?
    };
    // What cannot be read may still run.
    let obstacle = obstacle(&file, path, DEPTH_MAX).unwrap_or_default();
    Ok(Found { path: file, obstacle })
}

fn in_path(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, ProgramError> {
    let shown = name.to_string_lossy().into_owned();
    if name.is_empty() {
        return Err(ProgramError::NotFound("''".to_owned()));
    }
    let default = OsString::from("/bin:/usr/bin");
    let mut forbidden = None;
    for folder in std::env::split_paths(path.unwrap_or(&default)) {
        let file = folder.join(name);
        match executable(&file) {
            Candidate::Program => return Ok(file),
            Candidate::Forbidden => forbidden = forbidden.or(Some(file)),
            Candidate::Absent | Candidate::Directory => {}
        }
    }
    Err(match forbidden {
        Some(file) => ProgramError::NotExecutable(file.display().to_string()),
        None => ProgramError::NotFound(shown),
    })
}

enum Candidate {
    Program,
    Absent,
    Directory,
    Forbidden,
}

fn executable(file: &Path) -> Candidate {
    match file.metadata() {
        Ok(there) if there.is_dir() => Candidate::Directory,
        Ok(_) if access(file, Access::EXEC_OK).is_ok() => Candidate::Program,
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => Candidate::Absent,
        _ => Candidate::Forbidden,
    }
}

/// What is in the way of accelerating a program, or its interpreter.
fn obstacle(file: &Path, path: Option<&OsStr>, depth: usize) -> io::Result<Option<Obstacle>> {
    let is = |reason| Ok(Some(Obstacle { file: file.to_owned(), reason }));
    let mut opened = File::open(file)?;
    let metadata = opened.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    match elf::kind(opened.try_clone()?)? {
        // A script has no rights of its own.
        Kind::Other if depth > 0 => {
            let interpreter = interpreter(&mut opened, path)?;
            interpreter.map_or(Ok(None), |interpreter| obstacle(&interpreter, path, depth - 1))
        }
        Kind::Other => Ok(None),
        Kind::Foreign(machine) => is(Reason::Machine(machine)),
        _ if has_other_rights(file, &metadata) => is(Reason::OtherRights),
        Kind::Static { is_go: true } | Kind::Dynamic { is_go: true, .. } => is(Reason::Go),
        Kind::Static { .. } => is(Reason::Static),
        Kind::Dynamic { loader, .. } if !is_glibc(&loader) => is(Reason::Loader(loader)),
        Kind::Dynamic { .. } => Ok(None),
    }
}

/// Wherever it lies: there are systems that have it elsewhere.
fn is_glibc(loader: &str) -> bool {
    loader.rsplit('/').next().is_some_and(|name| name.starts_with("ld-linux"))
}

fn has_other_rights(file: &Path, metadata: &Metadata) -> bool {
    let becomes = |bit, owner, own| metadata.mode() & bit != 0 && owner != own;
    becomes(SET_USER_ID, metadata.uid(), geteuid().as_raw())
        || becomes(SET_GROUP_ID, metadata.gid(), getegid().as_raw())
        || (!geteuid().is_root() && getxattr(file, CAPABILITIES, &mut [0; 64]).is_ok())
}

/// The program that reads a script.
fn interpreter(script: &mut File, path: Option<&OsStr>) -> io::Result<Option<PathBuf>> {
    let mut head = Vec::new();
    script.rewind()?;
    script.take(FIRST_LINE_BYTES).read_to_end(&mut head)?;
    let Some(line) = head.strip_prefix(b"#!") else { return Ok(Some(PathBuf::from(SHELL))) };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(interpreter) = words.next().map(|word| PathBuf::from(OsStr::from_bytes(word))) else {
        return Ok(None);
    };
    if interpreter.file_name() != Some(OsStr::new("env")) {
        return Ok(Some(interpreter));
    }
    // `env` runs what its first word is that is neither an option nor a variable.
    let is_program = |word: &&[u8]| !word.starts_with(b"-") && !word.contains(&b'=');
    let program = words.find(is_program).map(OsStr::from_bytes);
    Ok(program.map(|program| in_path(program, path).unwrap_or(interpreter)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn loaders_of_glibc_are_known_wherever_they_lie() {
        assert!(is_glibc("/lib64/ld-linux-x86-64.so.2"));
        assert!(is_glibc("/lib/ld-linux-aarch64.so.1"));
        assert!(is_glibc("/nix/store/x/lib/ld-linux-x86-64.so.2"));
        assert!(!is_glibc("/lib/ld-musl-x86_64.so.1"));
        assert!(!is_glibc("/system/bin/linker64"));
    }

    #[test]
    fn the_interpreter_is_what_the_first_line_says() {
        let read = |text: &str| {
            let mut file = tempfile::tempfile().unwrap();
            io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            interpreter(&mut file, Some(OsStr::new("/bin:/usr/bin"))).unwrap()
        };
        assert_eq!(read("#!/bin/bash -e\n"), Some("/bin/bash".into()));
        assert_eq!(read("#!  /opt/x\ty\n"), Some("/opt/x".into()));
        assert_eq!(read("#!/usr/bin/env sh\n"), Some("/bin/sh".into()));
        assert_eq!(read("#!/usr/bin/env -S A=1 sh -x\n"), Some("/bin/sh".into()));
        assert_eq!(read("#!/usr/bin/env no-such-program\n"), Some("/usr/bin/env".into()));
        assert_eq!(read("echo\n"), Some("/bin/sh".into()));
        assert_eq!(read("#!\n"), None);
    }
}
