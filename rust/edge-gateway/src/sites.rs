//! Which sites there are: a folder with a key's file for each, `NAME.key`.
//!
//! It is read anew for each connection, so that keys come and go while the gateway runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use afterbay_edge_link::{KeyError, SiteKey};

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

/// Whether it is a name of a site, and so of no other folder.
pub(crate) fn is_name(text: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=afterbay_edge_wire::NAME_BYTES_MAX).contains(&text.len()) && text.chars().all(known)
}
