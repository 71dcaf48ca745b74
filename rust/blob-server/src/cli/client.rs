//! How a command reaches the server.

use std::path::PathBuf;

use afterbay_blob_client::{Client, ClientOptions, Secret, TlsRoots};
use clap::Args;

use super::Failed;
use crate::keys::AccessKey;

const ACCESS_VARIABLE: &str = "AFTERBAY_BLOB_ACCESS_KEY";
const SECRET_VARIABLE: &str = "AFTERBAY_BLOB_SECRET_KEY";

/// Wrong usage that is found after the arguments were read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// How a command reaches the server.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Address of the server
    #[arg(
        long,
        value_name = "HOST:PORT",
        env = "AFTERBAY_BLOB_SERVER",
        default_value = "127.0.0.1:7480"
    )]
    server: String,
    /// File with the key, as 'serve' makes it (root-key in the first data directory) or 'key create --out'. Without it, the key is taken from
    /// AFTERBAY_BLOB_ACCESS_KEY and AFTERBAY_BLOB_SECRET_KEY
    #[arg(long, value_name = "FILE", env = "AFTERBAY_BLOB_KEY_FILE")]
    key_file: Option<PathBuf>,
    /// Use TLS; the file has the certificates (PEM) of who may sign the server's, or that itself
    #[arg(long, value_name = "FILE", env = "AFTERBAY_BLOB_TLS_ROOTS")]
    tls_roots: Option<PathBuf>,
    /// The name in the server's certificate, if it is not that of the address
    #[arg(long, value_name = "NAME", requires = "tls_roots")]
    tls_name: Option<String>,
}

impl ServerArgs {
    pub(crate) fn client(&self) -> Result<Client, Failed> {
        let (key, secret) = self.key()?;
        let tls = self
            .tls_roots
            .as_ref()
            .map(|roots| TlsRoots { roots: roots.clone(), server_name: self.tls_name.clone() });
        let options = ClientOptions::new(&self.server, key, Secret::new(secret));
        Ok(Client::new(ClientOptions { tls, ..options }))
    }

    fn key(&self) -> Result<(String, String), Failed> {
        if let Some(path) = &self.key_file {
            let key = AccessKey::read(path)?;
            return Ok((key.access, key.secret));
        }
        match (std::env::var(ACCESS_VARIABLE), std::env::var(SECRET_VARIABLE)) {
            (Ok(key), Ok(secret)) => Ok((key, secret)),
            _ => Err(Usage(format!(
                "no key; give --key-file (or AFTERBAY_BLOB_KEY_FILE), or set {ACCESS_VARIABLE} and {SECRET_VARIABLE}"
            ))
            .into()),
        }
    }
}
