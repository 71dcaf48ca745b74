//! Keys of sites, in files that only their owner can read. The form is that of the blob store's keys.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};

const ACCESS: &str = "access-key = ";
const SECRET: &str = "secret-key = ";
const SECRET_BYTES_MIN: usize = 16;

/// A key and its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct SiteKey {
    /// Its name, which is no secret.
    pub access: String,
    /// The secret.
    pub secret: String,
}

impl fmt::Debug for SiteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SiteKey").field("access", &self.access).finish_non_exhaustive()
    }
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct KeyError {
    path: PathBuf,
    reason: String,
    is_missing: bool,
}

impl KeyError {
    /// Whether there is no such file; else it may be readable another time.
    pub fn is_missing(&self) -> bool {
        self.is_missing
    }

    /// There may be a key, and it cannot be read just now.
    pub fn not_now(path: &Path, reason: String) -> Self {
        Self { path: path.to_owned(), reason, is_missing: false }
    }

    fn of(path: &Path, error: &std::io::Error) -> Self {
        let is_missing = error.kind() == std::io::ErrorKind::NotFound;
        Self { path: path.to_owned(), reason: error.to_string(), is_missing }
    }
}

impl SiteKey {
    /// Makes a key: 90 and 200 random bits, in letters and digits.
    ///
    /// # Errors
    /// The operating system gives no random numbers.
    pub fn random() -> std::io::Result<Self> {
        Ok(Self { access: format!("AB{}", random_text(18)?), secret: random_text(40)? })
    }

    /// Reads a key's file.
    ///
    /// # Errors
    /// It cannot be read, others can read it too, or it is none.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let failed = |reason| KeyError::not_now(path, reason);
        let text = std::fs::read_to_string(path).map_err(|error| KeyError::of(path, &error))?;
        let metadata = std::fs::metadata(path).map_err(|error| KeyError::of(path, &error))?;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(failed(format!(
                "others can read it (mode {mode:03o}); 'chmod 600' it, and make a new one if somebody did"
            )));
        }
        Self::parse(&text).map_err(failed)
    }

    /// Writes a new file with it, for its owner alone.
    ///
    /// # Errors
    /// The file is there, or cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        let text = format!("{ACCESS}{}\n{SECRET}{}\n", self.access, self.secret);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let written = made.and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(|error| KeyError::of(path, &error))
    }

    /// Reads the content of a key's file.
    fn parse(text: &str) -> Result<Self, String> {
        let field = |prefix| text.lines().find_map(|line| line.strip_prefix(prefix));
        match (field(ACCESS), field(SECRET)) {
            (Some(access), Some(secret))
                if !access.is_empty() && secret.len() >= SECRET_BYTES_MIN =>
            {
                Ok(Self { access: access.to_owned(), secret: secret.to_owned() })
            }
            _ => Err(format!(
                "needs lines '{ACCESS}...' and '{SECRET}...' ({SECRET_BYTES_MIN} characters or more)"
            )),
        }
    }
}

/// Five random bits a character.
fn random_text(characters: usize) -> std::io::Result<String> {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut bytes = vec![0; characters];
    random(&mut bytes)?;
    Ok(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect())
}

/// Fills bytes that nobody can guess.
pub(crate) fn random(bytes: &mut [u8]) -> std::io::Result<()> {
    let none = |_| std::io::Error::other("the operating system gives no random numbers");
    SystemRandom::new().fill(bytes).map_err(none)
}
