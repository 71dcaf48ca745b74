//! Which sites there are: a folder with a key's file for each, `NAME.key`.
//!
//! It is read anew for each connection, so that keys come and go while the gateway runs. Who is connected with a key that has
//! gone, or with one in whose place there is another one, has to end.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use afterbay_edge_link::{KeyError, SiteKey};
use afterbay_edge_wire::is_name;

use crate::error::{GatewayError, Result};

const SUFFIX: &str = ".key";

/// Keys of sites.
#[derive(Debug, Clone)]
pub struct SiteKeys {
    folder: PathBuf,
}

impl SiteKeys {
    /// Of a folder.
    ///
    /// # Errors
    /// It cannot be read, or a key in it is none.
    pub fn open(folder: &Path) -> Result<Self> {
        let keys = Self { folder: folder.to_owned() };
        for site in keys.names()? {
            keys.key(&site).map_err(|error| GatewayError::Output(error.to_string()))?;
        }
        Ok(keys)
    }

    /// Names of all sites.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self) -> Result<BTreeSet<String>> {
        let failed = |error: std::io::Error| GatewayError::File {
            path: self.folder.clone(),
            reason: error.to_string(),
        };
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let site = name.to_str().and_then(|name| name.strip_suffix(SUFFIX));
            names.extend(site.filter(|site| is_name(site)).map(str::to_owned));
        }
        Ok(names)
    }

    /// The key of a site.
    ///
    /// # Errors
    /// It has none, or its file is none.
    pub fn key(&self, site: &str) -> std::result::Result<SiteKey, KeyError> {
        SiteKey::read(&self.folder.join(format!("{site}{SUFFIX}")))
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
    /// There is one, and it cannot be read.
    pub(crate) fn known(&self, site: &str) -> std::result::Result<Option<KnownKey>, KeyError> {
        if !is_name(site) {
            return Ok(None);
        }
        // Before it is read: what changes meanwhile is read again.
        let file = self.file(site);
        match self.key(site) {
            Ok(key) => Ok(Some(KnownKey { key, file })),
            // Without the folder, nobody knows who has a key; and it may have come back only now.
            Err(error) if error.is_missing() && self.folder.is_dir() => match self.key(site) {
                Ok(key) => Ok(Some(KnownKey { key, file })),
                Err(error) if error.is_missing() => Ok(None),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        }
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
        let metadata = std::fs::metadata(self.folder.join(format!("{site}{SUFFIX}"))).ok()?;
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
        std::fs::create_dir(&path).unwrap();
        SiteKey::random().unwrap().write_new(&path.join("dev1.key")).unwrap();
        let keys = SiteKeys::open(&path).unwrap();
        let mut known = keys.known("dev1").unwrap().unwrap();
        std::fs::rename(&path, &away).unwrap();
        assert!(keys.holds("dev1", &mut known));
        let error = keys.known("dev1").unwrap_err().to_string();
        assert!(error.contains("keys/dev1.key"), "{error}");
        std::fs::rename(&away, &path).unwrap();
        assert!(keys.holds("dev1", &mut known));
        std::fs::remove_file(path.join("dev1.key")).unwrap();
        assert!(!keys.holds("dev1", &mut known));
        assert!(keys.known("dev1").unwrap().is_none());
    }
}
