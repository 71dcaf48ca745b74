//! Where content is written: a file that is there only when all of it was, or what is no file.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use uuid::Uuid;

use super::Failed;

/// Bytes of a file's name that the name of its part has: with what follows, less than the 255 that file systems allow.
const NAME_BYTES: usize = 200;

/// Files that are being written.
static PARTS: LazyLock<Mutex<Parts>> = LazyLock::new(Mutex::default);

#[derive(Debug, Default)]
struct Parts {
    written: HashSet<PathBuf>,
    /// No more are begun.
    ended: bool,
}

fn parts() -> MutexGuard<'static, Parts> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes away what was being written, in whatever task: the process ends in the middle of it.
pub(crate) fn remove_parts() {
    let mut parts = parts();
    parts.ended = true;
    for part in parts.written.drain() {
        // A part of a blob is none.
        let _ = std::fs::remove_file(part);
    }
}

/// A file beside the one that it is going to be. It goes unless it is finished.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    file: PathBuf,
}

impl Part {
    async fn create(file: PathBuf) -> io::Result<(Self, File)> {
        let path = part_of(&file);
        {
            let mut parts = parts();
            if parts.ended {
                return Err(io::ErrorKind::Interrupted.into());
            }
            parts.written.insert(path.clone());
        }
        let part = Part { path, file };
        let to = OpenOptions::new().write(true).create_new(true).open(&part.path).await?;
        Ok((part, to))
    }

    async fn finish(self) -> Result<(), Failed> {
        let Part { path, file } = &self;
        let renamed = fs::rename(path, file).await;
        Ok(renamed.map_err(|error| match file.is_dir() {
            true => is_directory(file),
            false => format!("{}: {error}", file.display()),
        })?)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // There is none by this name any more if it was finished.
        let _ = std::fs::remove_file(&self.path);
        parts().written.remove(&self.path);
    }
}

/// A name that nobody else's file has, and no longer than names may be.
fn part_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let mut part = name[..name.len().min(NAME_BYTES)].to_vec();
    part.extend_from_slice(format!(".{}.part", Uuid::new_v4().simple()).as_bytes());
    path.with_file_name(OsStr::from_bytes(&part))
}

fn is_directory(path: &Path) -> String {
    format!("{} is a directory, and no file that it could be", path.display())
}

/// A file, or the standard output (`-`), a device, a pipe.
pub(crate) struct Output {
    to: Box<dyn AsyncWrite + Send + Unpin>,
    part: Option<Part>,
}

impl Output {
    pub(crate) async fn create(path: &Path) -> Result<Self, Failed> {
        if path == Path::new("-") {
            return Ok(Output { to: Box::new(tokio::io::stdout()), part: None });
        }
        // A link stays, and what it leads to is written.
        let path = fs::canonicalize(path).await.unwrap_or_else(|_| path.to_owned());
        let shown = path.display().to_string();
        let failed = |error: io::Error| format!("{shown}: {error}");
        match fs::metadata(&path).await {
            Ok(there) if there.is_dir() => Err(is_directory(&path).into()),
            Ok(there) if !there.is_file() => {
                let to = OpenOptions::new().write(true).open(&path).await.map_err(failed)?;
                Ok(Output { to: Box::new(to), part: None })
            }
            _ => {
                let (part, to) = Part::create(path).await.map_err(failed)?;
                Ok(Output { to: Box::new(to), part: Some(part) })
            }
        }
    }

    pub(crate) async fn write(&mut self, piece: &Bytes) -> Result<(), Failed> {
        Ok(self.to.write_all(piece).await?)
    }

    pub(crate) async fn finish(mut self) -> Result<(), Failed> {
        self.to.flush().await?;
        match self.part {
            Some(part) => part.finish().await,
            None => Ok(()),
        }
    }
}
