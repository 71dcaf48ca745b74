//! Directories as keys: what is stored of one, and where keys go in one.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A file that is stored.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// Its path in the directory.
    pub(crate) key: String,
    pub(crate) bytes: u64,
}

/// What is in a directory, at any depth, in the order of names.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<Found>,
    /// What is not stored since it is no file, and what it is.
    pub(crate) skipped: Vec<(PathBuf, &'static str)>,
    /// What cannot be stored, and why.
    pub(crate) failed: Vec<(PathBuf, String)>,
}

impl Tree {
    /// Looks into a directory. Links are followed, unless one leads back to a directory that it is in. Blocks.
    pub(crate) fn of(root: &Path) -> io::Result<Self> {
        let mut tree = Tree::default();
        let metadata = fs::metadata(root)?;
        tree.visit(root, "", &mut vec![identity(&metadata)])?;
        Ok(tree)
    }

    fn visit(&mut self, folder: &Path, key: &str, above: &mut Vec<(u64, u64)>) -> io::Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let Some(key) = entry.file_name().to_str().map(|name| join(key, name)) else {
                let reason = "its name is not UTF-8, as keys must be; rename it";
                self.failed.push((path, reason.to_owned()));
                continue;
            };
            match fs::metadata(&path) {
                Ok(metadata) => self.add(path, key, &metadata, above),
                Err(e) if e.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
                    self.skipped.push((path, "a link to nothing"));
                }
                Err(error) => self.failed.push((path, error.to_string())),
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        path: PathBuf,
        key: String,
        metadata: &Metadata,
        above: &mut Vec<(u64, u64)>,
    ) {
        if metadata.is_file() {
            return self.files.push(Found { path, key, bytes: metadata.len() });
        }
        if !metadata.is_dir() {
            return self.skipped.push((path, kind_of(metadata)));
        }
        let folder = identity(metadata);
        if above.contains(&folder) {
            return self.skipped.push((path, "a link to a directory that it is in"));
        }
        above.push(folder);
        if let Err(error) = self.visit(&path, &key, above) {
            self.failed.push((path, error.to_string()));
        }
        above.pop();
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn kind_of(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_socket() {
        "a socket"
    } else if kind.is_fifo() {
        "a pipe"
    } else {
        "a device"
    }
}

/// Where a key goes in a directory, as a path in it; an error if that is not in it, or no file.
pub(crate) fn path_of(key: &str) -> Result<&Path, String> {
    match key.split('/').find_map(why_no_name) {
        None => Ok(Path::new(key)),
        Some(reason) => Err(format!(
            "{reason}, which no file in a directory has; 'get' it by itself, into a file of another name"
        )),
    }
}

/// The name that a key's file has in a directory: its last part.
pub(crate) fn file_name_of(key: &str) -> Result<&str, String> {
    let name = key.rsplit('/').next().unwrap_or_default();
    match why_no_name(name) {
        None => Ok(name),
        Some(reason) => Err(format!(
            "its name ends with {reason}, which no file in a directory has; give a file"
        )),
    }
}

fn why_no_name(part: &str) -> Option<&'static str> {
    match part {
        "" => Some("an empty part"),
        "." => Some("'.'"),
        ".." => Some("'..'"),
        _ if part.contains('\0') => Some("a NUL"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn what_is_in_a_directory() {
        let parent = tempfile::tempdir().unwrap();
        let root = parent.path().join("photos");
        let at = |name: &str| root.join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::create_dir_all(at("empty")).unwrap();
        fs::create_dir(parent.path().join("other")).unwrap();
        for (path, bytes) in
            [(at("a/b/deep"), 3), (at("top"), 1), (parent.path().join("other/x"), 5)]
        {
            fs::write(path, vec![0; bytes]).unwrap();
        }
        symlink("../top", at("a/link")).unwrap();
        symlink("../../other", at("a/other")).unwrap();
        symlink("..", at("a/up")).unwrap();
        symlink("nowhere", at("broken")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        fs::write(root.join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
        let tree = Tree::of(&root).unwrap();
        let files: Vec<_> = tree.files.iter().map(|file| (&*file.key, file.bytes)).collect();
        assert_eq!(files, [("a/b/deep", 3), ("a/link", 1), ("a/other/x", 5), ("top", 1)]);
        let skipped = [
            (at("a/up"), "a link to a directory that it is in"),
            (at("broken"), "a link to nothing"),
            (at("socket"), "a socket"),
        ];
        assert_eq!(tree.skipped, skipped);
        assert_eq!(tree.failed.len(), 1);
        assert!(tree.failed[0].1.contains("not UTF-8"), "{:?}", tree.failed);
    }

    #[test]
    fn keys_stay_in_the_directory() {
        assert_eq!(path_of("a/b c/..d"), Ok(Path::new("a/b c/..d")));
        for bad in ["", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", "./a", "a\0b", ".."] {
            assert!(path_of(bad).is_err(), "{bad:?}");
        }
        assert_eq!(file_name_of("a/../b"), Ok("b"));
        for bad in ["a/", "a/..", ".", "a/b\0"] {
            assert!(file_name_of(bad).is_err(), "{bad:?}");
        }
    }
}
