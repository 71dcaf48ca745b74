//! What the first start makes in a data directory, to be taken away again if the server does not come to serve: somebody who
//! corrects an option and starts again begins anew.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::layout::{self, VERSION};
use super::volume::LOCK;

/// A directory that had nothing in it, and the folders that were made for it.
#[derive(Debug)]
pub(super) struct Made {
    path: PathBuf,
    /// The innermost one first.
    folders: Vec<PathBuf>,
}

impl Made {
    /// Before anything is made.
    pub(super) fn for_directory(path: &Path) -> Self {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let folders = path.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        Made { path: path.to_owned(), folders }
    }

    /// Takes everything away, whatever of it there is. The directory must be locked: until its lock is gone, which goes last,
    /// nobody else makes anything in it.
    pub(super) fn take_away(&self) {
        if let Err(error) = self.empty() {
            let path = self.path.display();
            tracing::warn!(%path, %error, "what this start has made could not be taken away");
        }
        self.take_folders_away();
    }

    /// Only folders that are empty: nobody has come to use them.
    pub(super) fn take_folders_away(&self) {
        for folder in &self.folders {
            if fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }

    fn empty(&self) -> io::Result<()> {
        for name in layout::BESIDE_VERSION {
            remove(&self.path.join(name))?;
            remove(&self.path.join(format!("{name}.next")))?;
        }
        // As long as it is there, the rest is a data directory.
        remove(&self.path.join(VERSION))?;
        remove(&self.path.join(format!("{VERSION}.next")))?;
        remove(&self.path.join(LOCK))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.or_else(|e| if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) })
}
