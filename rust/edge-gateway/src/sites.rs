//! Which sites there are: a folder with a key's file for each, `NAME.key`.
//!
//! It is read anew for each connection, so that keys come and go while the gateway runs. Who is connected with a key that has
//! gone, or with one in whose place there is another one, has to end.
//!
//! A folder that is away takes no key: it is moved, or its file system is not mounted, and what is seen then is the empty folder
//! under it. An empty folder means something only if it is the one that had a single key before. As long as the folder is away,
//! sites connect with the keys that were read before.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use afterbay_edge_link::{KeyError, SiteKey};
use afterbay_edge_wire::is_name;

use crate::error::{GatewayError, Result};

const SUFFIX: &str = ".key";
const EMPTY: &str = "it has no key any more, and had some: if it is a file system of its own, mount it again. Sites go on with the keys that they had; to take them all away, end the gateway";
const NONE: &str = "the folder has no key yet; 'key create' makes one";

/// Keys of sites. Clones look at the same folder.
#[derive(Debug, Clone)]
pub struct SiteKeys {
    folder: PathBuf,
    memory: Arc<Mutex<Memory>>,
}

#[derive(Debug, Default)]
struct Memory {
    /// The folder when it had a key last.
    last: Option<Last>,
    /// Keys that were read, and that have not gone or changed since.
    keys: BTreeMap<String, KnownKey>,
}

#[derive(Debug)]
struct Last {
    folder: FolderId,
    keys: usize,
}

/// Device and inode.
type FolderId = (u64, u64);

impl SiteKeys {
    /// Of a folder.
    ///
    /// # Errors
    /// It cannot be read, or a key in it is none.
    pub fn open(folder: &Path) -> Result<Self> {
        let keys = Self { folder: folder.to_owned(), memory: Arc::default() };
        for site in keys.names()? {
            keys.known(&site).map_err(|error| GatewayError::Output(error.to_string()))?;
        }
        Ok(keys)
    }

    /// Names of all sites.
    ///
    /// # Errors
    /// The folder cannot be read, or is away.
    pub fn names(&self) -> Result<BTreeSet<String>> {
        self.look().map_err(|reason| GatewayError::File { path: self.folder.clone(), reason })
    }

    /// What is in the folder, or why nobody knows.
    fn look(&self) -> std::result::Result<BTreeSet<String>, String> {
        let text = |error: std::io::Error| error.to_string();
        let before = self.id().map_err(text)?;
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(&self.folder).map_err(text)? {
            let name = entry.map_err(text)?.file_name();
            let site = name.to_str().and_then(|name| name.strip_suffix(SUFFIX));
            names.extend(site.filter(|site| is_name(site)).map(str::to_owned));
        }
        let after = self.id().map_err(text)?;
        let mut memory = self.memory();
        let is_only_empty = |last: &Last| last.keys == 1 && [before, after] == [last.folder; 2];
        if !names.is_empty() {
            memory.last = Some(Last { folder: after, keys: names.len() });
        } else if memory.last.as_ref().is_some_and(|last| !is_only_empty(last)) {
            return Err(EMPTY.to_owned());
        }
        memory.keys.retain(|site, _| names.contains(site));
        Ok(names)
    }

    /// Keys in whose place there are others hold no more, also if the folder is away later.
    pub(crate) fn forget_changed(&self) {
        let is_changed = |site: &str, known: &KnownKey| {
            let file = self.file(site);
            file.is_some() && file != known.file
        };
        self.memory().keys.retain(|site, known| !is_changed(site, known));
    }

    fn id(&self) -> std::io::Result<FolderId> {
        let metadata = std::fs::metadata(&self.folder)?;
        Ok((metadata.dev(), metadata.ino()))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key of a site.
    ///
    /// # Errors
    /// It has none, or its file is none.
    pub fn key(&self, site: &str) -> std::result::Result<SiteKey, KeyError> {
        SiteKey::read(&self.path(site))
    }

    /// Where the key of a site is, if it has one.
    pub(crate) fn path(&self, site: &str) -> PathBuf {
        self.folder.join(format!("{site}{SUFFIX}"))
    }
}

/// A key, and what its file was when it was read.
#[derive(Debug, Clone)]
pub(crate) struct KnownKey {
    pub(crate) key: SiteKey,
    /// Inode, and time of change, s and ns.
    file: Option<(u64, i64, i64)>,
}

impl SiteKeys {
    /// The key of a site; none if there is no such site.
    ///
    /// # Errors
    /// There may be one, and it cannot be read.
    pub(crate) fn known(&self, site: &str) -> std::result::Result<Option<KnownKey>, KeyError> {
        if !is_name(site) {
            return Ok(None);
        }
        match self.read(site) {
            Err(error) if error.is_missing() => {
                let names = match self.look() {
                    Ok(names) => names,
                    // Nobody knows who has a key.
                    Err(reason) => {
                        let known = self.memory().keys.get(site).cloned();
                        return known.map(Some).ok_or_else(|| self.not_now(site, &reason));
                    }
                };
                if names.is_empty() && self.memory().last.is_none() {
                    return Err(self.not_now(site, NONE));
                }
                // It may have come back only now.
                match self.read(site) {
                    Err(error) if error.is_missing() => Ok(None),
                    read => read.map(Some),
                }
            }
            read => read.map(Some),
        }
    }

    fn read(&self, site: &str) -> std::result::Result<KnownKey, KeyError> {
        // Before it is read: what changes meanwhile is read again.
        let file = self.file(site);
        let known = KnownKey { key: self.key(site)?, file };
        self.memory().keys.insert(site.to_owned(), known.clone());
        Ok(known)
    }

    fn not_now(&self, site: &str, reason: &str) -> KeyError {
        KeyError::not_now(&self.path(site), format!("{}: {reason}", self.folder.display()))
    }

    /// Whether a site has this key still. A file that cannot be read now says nothing.
    pub(crate) fn holds(&self, site: &str, known: &mut KnownKey) -> bool {
        let file = self.file(site);
        if file.is_some() && file == known.file {
            return true;
        }
        match self.known(site) {
            Ok(Some(now)) if now.key == known.key => {
                *known = now;
                true
            }
            Ok(_) => false,
            Err(_) => true,
        }
    }

    fn file(&self, site: &str) -> Option<(u64, i64, i64)> {
        let metadata = std::fs::metadata(self.path(site)).ok()?;
        Some((metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As long as the folder is away (it is moved, or its file system is), no site has lost its key.
    #[test]
    fn a_folder_that_is_away_takes_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let (path, away) = (folder.path().join("keys"), folder.path().join("away"));
        with_keys(&path, &["dev1"]);
        let keys = SiteKeys::open(&path).unwrap();
        let mut known = keys.known("dev1").unwrap().unwrap();
        std::fs::rename(&path, &away).unwrap();
        assert!(keys.holds("dev1", &mut known));
        assert!(keys.known("dev1").unwrap().unwrap().key == known.key, "it may connect again");
        let error = keys.known("dev2").unwrap_err().to_string();
        assert!(error.contains("keys/dev2.key"), "{error}");
        std::fs::rename(&away, &path).unwrap();
        assert!(keys.holds("dev1", &mut known));
        std::fs::remove_file(path.join("dev1.key")).unwrap();
        assert!(!keys.holds("dev1", &mut known));
        assert!(keys.known("dev1").unwrap().is_none());
        assert!(keys.names().unwrap().is_empty());
    }

    fn with_keys(path: &Path, sites: &[&str]) {
        std::fs::create_dir(path).unwrap();
        for site in sites {
            SiteKey::random().unwrap().write_new(&path.join(format!("{site}.key"))).unwrap();
        }
    }

    /// What is seen of a folder whose file system is not mounted: another one, which is empty.
    #[test]
    fn an_empty_folder_in_its_place_takes_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let (path, away) = (folder.path().join("keys"), folder.path().join("away"));
        with_keys(&path, &["dev1"]);
        let keys = SiteKeys::open(&path).unwrap();
        let mut known = keys.known("dev1").unwrap().unwrap();
        std::fs::rename(&path, &away).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(keys.holds("dev1", &mut known));
        assert!(keys.known("dev1").unwrap().unwrap().key == known.key, "it may connect again");
        for error in
            [keys.names().unwrap_err().to_string(), keys.known("dev2").unwrap_err().to_string()]
        {
            let says = ["keys: it has no key any more", "mount it again"];
            assert!(says.iter().all(|says| error.contains(says)), "{error}");
        }
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(&away, &path).unwrap();
        assert!(keys.holds("dev1", &mut known));
        assert_eq!(keys.names().unwrap().len(), 1);
        assert!(keys.known("dev2").unwrap().is_none());
    }

    /// A key that was replaced before is not let in again.
    #[test]
    fn what_has_changed_before_the_folder_went_holds_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        with_keys(&path, &["dev1", "dev2", "dev3"]);
        let keys = SiteKeys::open(&path).unwrap();
        std::fs::remove_file(path.join("dev1.key")).unwrap();
        std::fs::rename(path.join("dev2.key"), path.join("dev1.key")).unwrap();
        assert_eq!(keys.names().unwrap().len(), 2);
        keys.forget_changed();
        std::fs::rename(&path, folder.path().join("away")).unwrap();
        assert!(keys.known("dev1").is_err() && keys.known("dev2").is_err());
        assert!(keys.known("dev3").unwrap().is_some());
    }

    #[test]
    fn a_folder_that_is_emptied_at_once_takes_no_key_either() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        with_keys(&path, &["dev1", "dev2"]);
        let keys = SiteKeys::open(&path).unwrap();
        let mut known = ["dev1", "dev2"].map(|site| (site, keys.known(site).unwrap().unwrap()));
        let kept = folder.path().join("dev1.key");
        std::fs::rename(path.join("dev1.key"), &kept).unwrap();
        std::fs::remove_file(path.join("dev2.key")).unwrap();
        assert!(known.iter_mut().all(|(site, known)| keys.holds(site, known)));
        assert!(keys.names().is_err());
        // One is there again: the other one has gone.
        std::fs::rename(&kept, path.join("dev1.key")).unwrap();
        let holds = known.each_mut().map(|(site, known)| keys.holds(site, known));
        assert_eq!(holds, [true, false]);
    }

    /// Nobody is sent away for good before there is a key.
    #[test]
    fn a_folder_that_never_had_a_key_refuses_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let keys = SiteKeys::open(folder.path()).unwrap();
        assert!(keys.names().unwrap().is_empty());
        let error = keys.known("dev1").unwrap_err().to_string();
        assert!(error.contains("no key yet"), "{error}");
    }
}
