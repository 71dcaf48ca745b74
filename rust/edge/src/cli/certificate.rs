//! `certificate`: for a gateway without an authority.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Failed, Result, failed};

#[derive(Debug, Args)]
pub(crate) struct CertificateArgs {
    /// A name or an address by which sites know the gateway; may be given several times
    #[arg(long = "name", value_name = "HOST", default_values_t = ["localhost".to_owned(), "127.0.0.1".to_owned()])]
    names: Vec<String>,
    /// The certificate, a new PEM file: --tls-cert of the gateway, and --tls-roots of the agents
    #[arg(long, value_name = "FILE")]
    cert: PathBuf,
    /// Its key, a new PEM file that only its owner can read: --tls-key of the gateway
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

pub(crate) fn run(args: &CertificateArgs) -> Result<()> {
    let made = rcgen::generate_simple_self_signed(args.names.clone())
        .map_err(|error| Failed::Done(format!("names {:?}: {error}", args.names)))?;
    write_new(&args.key, &made.signing_key.serialize_pem(), 0o600)?;
    write_new(&args.cert, &made.cert.pem(), 0o644)
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = file.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| failed(path, error))
}
