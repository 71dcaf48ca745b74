//! Settings of a client.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A secret: not shown by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Secret(secret.into())
    }

    /// For computing with it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(...)")
    }
}

/// Who the server must be, on TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsRoots {
    /// A PEM file with the certificates of who may sign the server's, or with that itself.
    pub roots: PathBuf,
    /// The name in the server's certificate; `None`: that of the address.
    pub server_name: Option<String>,
}

/// Settings of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOptions {
    /// Host and port of the server.
    pub address: String,
    /// The key.
    pub key: String,
    /// Its secret.
    pub secret: Secret,
    /// TLS; `None`: plaintext.
    pub tls: Option<TlsRoots>,
    /// At most so many connections at once; other requests wait.
    pub connections_max: usize,
    /// A connection is there within this time, or not.
    pub connect_timeout: Duration,
    /// The server answers, or sends something, within this time.
    pub answer_timeout: Duration,
    /// A connection that was not used for so long is not used again.
    pub idle_max: Duration,
}

impl ClientOptions {
    /// Usual settings.
    pub fn new(address: impl Into<String>, key: impl Into<String>, secret: Secret) -> Self {
        ClientOptions {
            address: address.into(),
            key: key.into(),
            secret,
            tls: None,
            connections_max: 16,
            connect_timeout: Duration::from_secs(10),
            answer_timeout: Duration::from_secs(60),
            idle_max: Duration::from_secs(30),
        }
    }
}
