//! The S3 endpoint of the real program: TLS, certificates that are renewed, and its end. Real clients are in `tests/clients`, limits in
//! `s3_limits.rs`.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_client::{Client, ClientOptions, TlsRoots};
use afterbay_test_form::Wait;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{
    ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion, crypto::ring, version,
};

use crate::common::{Process, client_options, content};
use crate::cycles::s3::{Ask, S3};

/// Makes a certificate for 'localhost' and its key.
fn make_certificate(directory: &Path, name: &str) -> RootCertStore {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(directory.join(format!("{name}.pem")), made.cert.pem()).unwrap();
    let key = made.signing_key.serialize_pem();
    std::fs::write(directory.join(format!("{name}-key.pem")), key).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    roots
}

/// Starts a server with a certificate of its own for 'localhost', and the certificate.
fn start(directory: &Path) -> (Process, RootCertStore) {
    let roots = make_certificate(directory, "server");
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let (cert, key) = (path("server.pem"), path("server-key.pem"));
    let process = Process::start_logging(
        &directory.join("data"),
        &["--admin", "none", "--stall-timeout", "1h", "--tls-cert", &cert, "--tls-key", &key],
        &directory.join("log"),
    );
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
    let mut ended = None;
    Wait::block("the server has ended", || {
        ended = process.child.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.unwrap().code(), Some(0));
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

#[tokio::test]
async fn what_clients_do_wrong_is_no_error_of_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let (data, log) = (directory.path().join("data"), directory.path().join("log"));
    let mut command = Process::command(&data, &["--admin", "none"]);
    command.env_remove("RUST_LOG").stderr(std::fs::File::create(&log).unwrap());
    let process = Process::wait(&data, &mut command);
    let endpoint = process.s3.clone().unwrap();
    let s3 = S3::new(&endpoint, &process.key);
    assert_eq!(s3.ask(Ask::new("GET", "/nothing/here")).await.unwrap().status, 404);
    let address = endpoint.strip_prefix("http://").unwrap();
    assert!(ask(TcpStream::connect(address).await.unwrap()).await.starts_with("HTTP/1.1 403"));
    logged(directory.path(), "a request without a key was refused", 1).await;
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(!log.contains("ERROR") && !log.contains("could not prove"), "{log}");
}

fn read(directory: &Path) -> String {
    std::fs::read_to_string(directory.join("log")).unwrap()
}

/// Waits for a line of the log.
async fn logged(directory: &Path, text: &str, times: usize) {
    let wait = Wait::until("it is in the log");
    while read(directory).matches(text).count() < times {
        wait.check((text, read(directory)));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_without_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let (process, first) = start(directory.path());
    let endpoint = process.s3.clone().unwrap();
    let address = endpoint.strip_prefix("https://").unwrap().to_owned();
    let native = |roots: &str| {
        let roots = directory.path().join(roots);
        let server_name = Some("localhost".to_owned());
        let tls = Some(TlsRoots { roots, server_name });
        Client::new(ClientOptions { tls, ..client_options(&process.address, &process.key) })
    };
    std::fs::copy(directory.path().join("server.pem"), directory.path().join("first.pem")).unwrap();
    let shows =
        async |roots: &RootCertStore| ask_by_tls(&address, roots, &version::TLS13).await.is_ok();
    assert!(shows(&first).await && native("first.pem").ping().await.is_ok());

    // Not yet complete: the key of another one.
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(directory.path().join("server.pem"), made.cert.pem()).unwrap();
    process.hang_up();
    logged(directory.path(), "the certificates cannot be used", 1).await;
    assert!(shows(&first).await && native("first.pem").ping().await.is_ok());

    let second = make_certificate(directory.path(), "server");
    process.hang_up();
    logged(directory.path(), "the certificates were read again", 1).await;
    assert!(shows(&second).await && !shows(&first).await);
    assert!(native("server.pem").ping().await.is_ok() && native("first.pem").ping().await.is_err());
}

/// As `openssl req -x509` makes it: a certificate that could sign others, and signs itself.
#[tokio::test]
async fn a_certificate_that_signs_itself_is_trusted_by_clients_that_have_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    std::fs::write(path("server.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(path("server-key.pem"), key.serialize_pem()).unwrap();
    make_certificate(directory.path(), "other");
    let (cert, key) = (path("server.pem"), path("server-key.pem"));
    let arguments = ["--tls-cert", cert.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let process = Process::start(&path("data"), &[&["--admin", "none"], &arguments[..]].concat());
    let ping = async |roots: &str, name: &str| {
        let tls = Some(TlsRoots { roots: path(roots), server_name: Some(name.to_owned()) });
        let options = ClientOptions { tls, ..client_options(&process.address, &process.key) };
        Client::new(options).ping().await.map_err(|error| error.to_string())
    };
    ping("server.pem", "localhost").await.unwrap();
    ping("server.pem", "example.org").await.unwrap_err();
    ping("other.pem", "localhost").await.unwrap_err();
}

/// Without TLS the signal does no harm.
#[tokio::test]
async fn requests_under_way_end_before_the_server_does() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let patient = ["--admin", "none", "--drain-timeout", "1h", "--stall-timeout", "1h"];
    let mut process = Process::start(&data, &patient);
    process.hang_up();
    let endpoint = process.s3.clone().unwrap();
    let s3 = S3::new(&endpoint, &process.key);
    assert_eq!(s3.ask(Ask::new("PUT", "/papers")).await.unwrap().status, 200);
    let body = content(5, 3 << 20);
    let put = Ask::new("PUT", "/papers/report").header("expect", "100-continue");
    let address = endpoint.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(s3.head(&put, body.len()).as_bytes()).await.unwrap();
    // Then it is under way.
    let mut goes_on = [0; 25];
    stream.read_exact(&mut goes_on).await.unwrap();
    assert_eq!(&goes_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    let (first, rest) = body.split_at(1 << 20);
    stream.write_all(first).await.unwrap();
    // A second one has not begun.
    let mut other = TcpStream::connect(address).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    process.terminate();
    let mut answer = String::new();
    // One that was not accepted yet is reset.
    let _ = other.read_to_string(&mut answer).await;
    assert_eq!(answer, "", "who has asked for nothing is not waited for");
    let wait = Wait::until("nobody new is served");
    while TcpStream::connect(address).await.is_ok() {
        wait.check(address);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(process.child.try_wait().unwrap(), None, "it waits");
    for piece in rest.chunks(256 << 10) {
        stream.write_all(piece).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(process.child.wait().unwrap().code(), Some(0));

    let process = Process::start(&data, &["--admin", "none"]);
    let s3 = S3::new(process.s3.as_ref().unwrap(), &process.key);
    let got = s3.ask(Ask::new("GET", "/papers/report")).await.unwrap();
    assert!(got.body == body);
}

/// Changes a byte of each file below `directory` in which `content` is.
fn damage(directory: &Path, content: &[u8]) -> usize {
    let mut damaged = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            damaged += damage(&path, content);
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        if let Some(at) = bytes.windows(content.len()).position(|window| window == content) {
            bytes[at] ^= 1;
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.write_all_at(&bytes[at..=at], at as u64).unwrap();
            damaged += 1;
        }
    }
    damaged
}

#[tokio::test]
async fn a_damaged_body_is_an_error_and_says_nothing_of_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let process = Process::start(&data, &["--admin", "none", "--partition-size", "32MiB"]);
    let s3 = S3::new(process.s3.as_ref().unwrap(), &process.key);
    assert_eq!(s3.ask(Ask::new("PUT", "/papers")).await.unwrap().status, 200);
    for (key, length) in [("short", 1000), ("long", 5 << 20)] {
        let path = format!("/papers/{key}");
        let begin = format!("the begin of {key}").into_bytes();
        let body = [&begin[..], &content(1, length)].concat();
        assert_eq!(s3.ask(Ask::new("PUT", &path).body(body)).await.unwrap().status, 200);
        assert_eq!(damage(&data.join("partitions"), &begin), 1);
        let copy = Ask::new("PUT", "/papers/copy").header("x-amz-copy-source", &path);
        let part = Ask::new("GET", &path).header("range", "bytes=10-20");
        for ask in [Ask::new("GET", &path), part, copy] {
            let answer = s3.ask_once(ask.clone()).await;
            let answer = answer.unwrap_or_else(|_| panic!("{ask:?}: no answer"));
            assert_eq!(answer.status, 500, "{}", answer.text());
            assert_eq!(answer.first("Code").as_deref(), Some("InternalError"));
            assert!(!answer.text().contains(data.to_str().unwrap()), "{}", answer.text());
        }
    }
    assert_eq!(s3.ask(Ask::new("GET", "/papers/copy")).await.unwrap().status, 404);
}
