//! The root key: made at the first start, kept in a file that only its owner can read.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use afterbay_blob_store::{Directory, RealDirectory, SyncPoint, write_whole};
use ring::rand::{SecureRandom, SystemRandom};

/// The file in the first data directory.
pub const KEY_FILE: &str = "root-key";

const ACCESS: &str = "access-key = ";
const SECRET: &str = "secret-key = ";

/// A key and its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessKey {
    /// Its name, which is no secret.
    pub access: String,
    /// The secret.
    pub secret: String,
}

impl fmt::Debug for AccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessKey").field("access", &self.access).finish_non_exhaustive()
    }
}

/// Why there is no root key.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct KeyError {
    path: PathBuf,
    reason: String,
}

impl AccessKey {
    /// Reads the root key of a data directory.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let failed = |reason: String| KeyError { path: path.to_owned(), reason };
        let text = fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
        check_private(path)?;
        AccessKey::parse(&text).map_err(failed)
    }

    /// Reads the content of a key's file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let field = |prefix| text.lines().find_map(|line| line.strip_prefix(prefix));
        match (field(ACCESS), field(SECRET)) {
            (Some(access), Some(secret)) if !access.is_empty() && secret.len() >= 16 => {
                Ok(AccessKey { access: access.to_owned(), secret: secret.to_owned() })
            }
            _ => {
                Err(format!("needs lines '{ACCESS}...' and '{SECRET}...' (16 characters or more)"))
            }
        }
    }

    /// Reads the root key of a data directory, and makes it at the first start.
    pub fn read_or_make(directory: &Path) -> Result<Self, KeyError> {
        let path = directory.join(KEY_FILE);
        if path.exists() {
            return AccessKey::read(&path);
        }
        let key = AccessKey::random()
            .map_err(|e| KeyError { path: path.clone(), reason: e.to_string() })?;
        RealDirectory::shared(directory)
            .and_then(|directory| write_private(&directory, KEY_FILE, &key.text()))
            .map_err(|e| KeyError { path, reason: format!("cannot be written: {e}") })?;
        Ok(key)
    }

    /// The file that has it: what [`AccessKey::read`] reads.
    pub(crate) fn text(&self) -> String {
        format!("{ACCESS}{}\n{SECRET}{}\n", self.access, self.secret)
    }

    /// 100 and 200 random bits, in letters and digits.
    pub(crate) fn random() -> io::Result<Self> {
        Ok(AccessKey { access: format!("AB{}", random_text(18)?), secret: random_text(40)? })
    }
}

/// Refuses a file with a secret that others can read.
pub(crate) fn check_private(path: &Path) -> Result<(), KeyError> {
    let failed = |reason: String| KeyError { path: path.to_owned(), reason };
    let mode = fs::metadata(path).map_err(|e| failed(e.to_string()))?.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(failed(format!(
        "others can read it (mode {mode:03o}); 'chmod 600' it, and make a new one if somebody did"
    )))
}

/// Writes a file as those of keys are: for the owner alone, as a whole or not at all.
pub(crate) fn write_private(directory: &dyn Directory, name: &str, text: &str) -> io::Result<()> {
    write_whole(directory, name, text.as_bytes(), [SyncPoint::KeyData, SyncPoint::KeyEntry])
}

/// Five random bits a character.
fn random_text(characters: usize) -> io::Result<String> {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut random = vec![0; characters];
    SystemRandom::new()
        .fill(&mut random)
        .map_err(|_| io::Error::other("the operating system gives no random numbers"))?;
    Ok(random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect())
}

/// The keys that a server knows.
#[derive(Clone, Default)]
pub struct Keys(HashMap<String, String>);

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Keys {
    /// One key that may do everything.
    pub fn root(key: AccessKey) -> Self {
        Keys(HashMap::from([(key.access, key.secret)]))
    }

    /// The secret of a key.
    pub(crate) fn secret(&self, access: &str) -> Option<&str> {
        self.0.get(access).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use afterbay_blob_store::SyncScope;
    use afterbay_blob_store::sim::SimDisk;

    use super::*;

    #[test]
    fn made_once_and_for_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let key = AccessKey::read_or_make(directory.path()).unwrap();
        assert_eq!((key.access.len(), key.secret.len()), (20, 40));
        assert_eq!(AccessKey::read_or_make(directory.path()).unwrap(), key);
        assert!(!format!("{key:?}").contains(&key.secret));
        assert!(!format!("{:?}", Keys::root(key.clone())).contains(&key.secret));
        let path = directory.path().join(KEY_FILE);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = AccessKey::read_or_make(directory.path()).unwrap_err().to_string();
        assert!(refused.contains("mode 640"), "{refused}");
    }

    /// Whether a key is there as a whole after a loss of power, on each of many disks.
    fn keys_survive(ignored: Option<SyncPoint>) -> bool {
        (0..30).all(|seed| {
            let disk = SimDisk::new(seed);
            ignored.into_iter().for_each(|point| disk.ignore(point));
            write_private(&*disk.directory(), KEY_FILE, "access-key = x\n").unwrap();
            disk.lose_power();
            disk.content(KEY_FILE).as_deref() == Some(b"access-key = x\n")
        })
    }

    #[test]
    fn a_key_is_there_for_good() {
        assert!(keys_survive(None));
        for &point in SyncPoint::ALL.iter().filter(|point| point.scope() == SyncScope::Key) {
            assert!(!keys_survive(Some(point)), "nobody noticed that {point:?} was left out");
        }
    }

    #[test]
    fn a_damaged_file_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(KEY_FILE);
        let real = RealDirectory::shared(directory.path()).unwrap();
        write_private(&real, KEY_FILE, "access-key = x\n").unwrap();
        let refused = AccessKey::read_or_make(directory.path()).unwrap_err().to_string();
        assert!(refused.contains("secret-key"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "access-key = x\n");
    }
}
