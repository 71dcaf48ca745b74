//! The directory of an agent: its socket, its lock, its log. It belongs to one user.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::{Pid, geteuid};

/// What others of the group or the world may do in it: nothing.
const OTHERS: u32 = 0o077;
/// Linux's limit of a socket's path, without the byte that ends it.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// The directory of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place(PathBuf);

/// What is wrong with an agent's directory.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The system refused something.
    #[error("{path}: {error}")]
    Io {
        /// Where.
        path: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
    /// Something else has this name.
    #[error("{0} is no directory; --agent DIR names another place for the agent")]
    NoDirectory(PathBuf),
    /// Another user made it.
    #[error(
        "{path} belongs to user {owner}, and this process is user {user}'s: an agent serves one user; --agent DIR names another place"
    )]
    Owner {
        /// The directory.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who we are.
        user: u32,
    },
    /// Others may change it.
    #[error("{path} is open to other users (mode {mode:04o}); chmod 0700 '{path}' closes it")]
    Open {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Sockets have short names.
    #[error(
        "{0}: too long for the path of a socket, which has at most 107 bytes; --agent DIR names a shorter one"
    )]
    Long(PathBuf),
    /// There is no agent.
    #[error(
        "no agent runs in {0}: 'afterbay net run -- PROGRAM' starts one, or 'afterbay net agent --dir DIR'"
    )]
    NoAgent(PathBuf),
}

/// The agent's lock, as long as this lives.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "closing it unlocks")] File);

impl Place {
    /// Where the agent of this user is, unless somebody says otherwise.
    pub fn of_user() -> Place {
        let user = geteuid().as_raw();
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let is_ours = |folder: &PathBuf| {
            folder.is_absolute()
                && folder.metadata().is_ok_and(|there| there.is_dir() && there.uid() == user)
        };
        Place(match runtime.filter(is_ours) {
            Some(folder) => folder.join("afterbay-net"),
            None => PathBuf::from(format!("/tmp/afterbay-net-{user}")),
        })
    }

    /// A directory that somebody names.
    pub fn at(folder: &Path) -> Result<Place, PlaceError> {
        let place = Place(std::path::absolute(folder).map_err(failed(folder))?);
        let socket = place.socket();
        if socket.as_os_str().len() > SOCKET_PATH_BYTES_MAX {
            return Err(PlaceError::Long(socket));
        }
        Ok(place)
    }

    /// The agent's socket.
    pub fn socket(&self) -> PathBuf {
        self.0.join("agent.sock")
    }

    /// What the agent has to say when nobody looks.
    pub fn log(&self) -> PathBuf {
        self.0.join("agent.log")
    }

    /// Makes the directory, or checks the one that is there.
    pub fn make(&self) -> Result<(), PlaceError> {
        if let Some(parent) = self.0.parent() {
            fs::create_dir_all(parent).map_err(failed(parent))?;
        }
        match DirBuilder::new().mode(0o700).create(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(failed(&self.0)(error))
            }
            _ => self.check(),
        }
    }

    /// That it is this user's, and closed to others. A symbolic link is somebody else's word for where it is.
    pub fn check(&self) -> Result<(), PlaceError> {
        let path = || self.0.clone();
        let there = match self.0.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(PlaceError::NoAgent(path()));
            }
            other => other.map_err(failed(&self.0))?,
        };
        let user = geteuid().as_raw();
        if !there.is_dir() {
            return Err(PlaceError::NoDirectory(path()));
        }
        if there.uid() != user {
            return Err(PlaceError::Owner { path: path(), owner: there.uid(), user });
        }
        match there.mode() & 0o7777 {
            mode if mode & OTHERS != 0 => Err(PlaceError::Open { path: path(), mode }),
            _ => Ok(()),
        }
    }

    /// The process of the agent that listens here, as this process sees its id.
    pub fn agent(&self) -> Result<i32, PlaceError> {
        self.check()?;
        let path = self.socket();
        let asked = || {
            let flags = SocketFlags::CLOEXEC;
            let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
            connect(&socket, &SocketAddrUnix::new(&path)?)?;
            socket_peercred(&socket)
        };
        match asked() {
            // 0, if it is in a process namespace that this process does not see.
            Ok(peer) => Ok(Pid::as_raw(Some(peer.pid))),
            // Whatever was here ended without taking its socket away.
            Err(Errno::NOENT | Errno::CONNREFUSED) => Err(PlaceError::NoAgent(self.0.clone())),
            Err(errno) => Err(failed(&path)(errno.into())),
        }
    }

    /// Who may start an agent: one after the other.
    pub(crate) fn lock_start(&self) -> Result<Lock, PlaceError> {
        let path = self.0.join("start.lock");
        let file = lock_file(&path)?;
        file.lock().map_err(failed(&path))?;
        Ok(Lock(file))
    }

    /// Who is the agent: as long as it lives. Nothing, if there is one.
    pub(crate) fn lock_agent(&self) -> Result<Option<Lock>, PlaceError> {
        let path = self.0.join("agent.lock");
        let mut file = lock_file(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(failed(&path)(error)),
        }
        // For people; who asks the socket knows it better.
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(failed(&path))?;
        Ok(Some(Lock(file)))
    }

    /// A new log.
    pub(crate) fn create_log(&self) -> Result<File, PlaceError> {
        let path = self.log();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&path).map_err(failed(&path))
    }
}

impl AsRef<Path> for Place {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

fn lock_file(path: &Path) -> Result<File, PlaceError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(failed(path))
}

fn failed(path: &Path) -> impl Fn(io::Error) -> PlaceError {
    move |error| PlaceError::Io { path: path.to_owned(), error }
}
