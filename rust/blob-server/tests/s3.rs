//! The S3 endpoint of the real program: TLS, and what is counted. Requests that are signed are in `tests/clients`.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod common;

use std::path::Path;
use std::sync::Arc;

use common::Process;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{
    ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion, crypto::ring, version,
};

/// Starts a server with a certificate of its own for 'localhost', and the certificate.
fn start(directory: &Path) -> (Process, RootCertStore) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (directory.join("server.pem"), directory.join("server-key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let (cert, key) = (path(&certificate), path(&key));
    let process = Process::start(
        &directory.join("data"),
        &["--admin", "none", "--tls-cert", &cert, "--tls-key", &key],
    );
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    (process, roots)
}

async fn ask(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> String {
    let request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn ask_by_tls(
    address: &str,
    roots: &RootCertStore,
    version: &'static SupportedProtocolVersion,
) -> std::io::Result<(Option<ProtocolVersion>, String)> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots.clone())
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TcpStream::connect(address).await?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    let spoken = stream.get_ref().1.protocol_version();
    Ok((spoken, ask(stream).await))
}

#[tokio::test]
async fn tls_and_clients_without_it() {
    let directory = tempfile::tempdir().unwrap();
    let (process, roots) = start(directory.path());
    let endpoint = process.s3.clone().unwrap();
    let address = endpoint.strip_prefix("https://").expect("it says that it speaks TLS").to_owned();
    for version in [&version::TLS12, &version::TLS13] {
        let (spoken, answer) = ask_by_tls(&address, &roots, version).await.unwrap();
        assert_eq!(spoken, Some(version.version));
        // Nobody is served without a signature.
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("AccessDenied"), "{answer}");
    }
    let stranger = ask_by_tls(&address, &RootCertStore::empty(), &version::TLS13).await;
    assert!(stranger.unwrap_err().to_string().contains("UnknownIssuer"));
    let refused = ask(TcpStream::connect(&address).await.unwrap()).await;
    assert!(refused.starts_with("HTTP/1.1 400") && refused.contains("https://"), "{refused}");
    // Who says nothing does not hold up the end.
    let _silent = TcpStream::connect(&address).await.unwrap();
    let mut process = process;
    process.terminate();
    let began = std::time::Instant::now();
    assert_eq!(process.child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() < std::time::Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
fn plaintext_for_other_machines_is_warned_of() {
    let directory = tempfile::tempdir().unwrap();
    let warned = |name: &str, arguments: &[&str]| {
        let log = directory.path().join(name);
        let process = Process::start_logging(&directory.path().join("data"), arguments, &log);
        drop(process);
        let log = std::fs::read_to_string(log).unwrap();
        log.lines()
            .filter(|line| line.contains("--tls-cert"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let lines = warned("open.log", &["--admin", "none", "--s3", "0.0.0.0:0"]);
    assert!(lines.len() == 1 && lines[0].contains("S3"), "{lines:?}");
    assert_eq!(warned("local.log", &["--admin", "none", "--s3", "127.0.0.1:0"]), [""; 0]);
}
