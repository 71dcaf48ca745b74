//! Which frames a link carries, as both sides agree in TLS (ALPN).

use std::path::Path;
use std::sync::Arc;

use afterbay_tls::TlsError;
use rustls::{ClientConfig, ServerConfig};

/// Frames of codec 0. Who names nothing speaks this.
const PLAIN: &[u8] = b"abel/1";
/// Frames of codecs 0 and 1.
pub(crate) const COLUMNS: &[u8] = b"abel/1+columns";

fn both() -> Vec<Vec<u8>> {
    vec![COLUMNS.to_vec(), PLAIN.to_vec()]
}

/// Of a gateway with this certificate and its key.
///
/// # Errors
/// A file cannot be read, or they do not belong together.
pub fn server_config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let mut config = afterbay_tls::server_config(certificate, key)?;
    Arc::make_mut(&mut config).alpn_protocols = both();
    Ok(config)
}

/// Of a site that trusts these certificates.
///
/// # Errors
/// The file cannot be read, or has none.
pub fn client_config(roots: &Path) -> Result<Arc<ClientConfig>, TlsError> {
    let mut config = afterbay_tls::client_config(roots)?;
    Arc::make_mut(&mut config).alpn_protocols = both();
    Ok(config)
}

/// The same, but frames are of codec 0.
pub fn plain_frames(config: &ClientConfig) -> Arc<ClientConfig> {
    let mut config = config.clone();
    config.alpn_protocols = vec![PLAIN.to_vec()];
    Arc::new(config)
}
