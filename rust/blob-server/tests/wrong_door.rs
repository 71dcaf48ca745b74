//! Clients that come to the wrong port, or without TLS, or with it: what they are told is what the guide quotes.

use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use afterbay_blob_client::{Client, ClientOptions, Connection, TlsRoots};
use afterbay_blob_server::AccessKey;

use crate::common::{Process, client_options, program};

/// A server with TLS, and its certificate.
fn with_tls(home: &Path, arguments: &[&str]) -> (Process, PathBuf) {
    let (certificate, key) = (home.join("c.pem"), home.join("k.pem"));
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = ["--tls-cert", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let process =
        Process::start(&home.join("tls"), &[&["--admin", "none"], &tls[..], arguments].concat());
    (process, certificate)
}

/// What the program says that does not reach a server.
fn refused(address: &str, key: &AccessKey, roots: Option<&Path>) -> String {
    let mut command = program();
    command.args(["ls", "--server", address]).env("AFTERBAY_BLOB_ACCESS_KEY", &key.access);
    command.env("AFTERBAY_BLOB_SECRET_KEY", &key.secret);
    if let Some(roots) = roots {
        command.arg("--tls-roots").arg(roots);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

/// The text is said, and is what the table of the guide has.
fn quoted(said: &str, text: &str) {
    assert!(said.contains(text), "{said}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/blob.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("## Troubleshooting").unwrap();
    let row =
        table.lines().any(|line| line.starts_with("| `") && line.contains(&format!("`{text}`")));
    assert!(row, "docs/blob.md does not quote '{text}'");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_side_speaks_tls_and_the_other_one_does_not() {
    let home = tempfile::tempdir().unwrap();
    let (tls, roots) = with_tls(home.path(), &[]);
    let plain = Process::start(&home.path().join("plain"), &["--admin", "none"]);
    let said = refused(&plain.address, &plain.key, Some(&roots));
    quoted(&said, "TLS: received corrupt message of type InvalidContentType");
    assert!(said.contains("leave out --tls-roots"), "{said}");
    // The program waits for longer, for the same.
    let connect_timeout = Duration::from_millis(100);
    let options = ClientOptions { connect_timeout, ..client_options(&tls.address, &tls.key) };
    let said = Client::new(options).ping().await.unwrap_err().to_string();
    let said = said.replace("100ms", "10s");
    quoted(&said, "cannot connect: no answer in 10s");
    assert!(said.contains("give --tls-roots"), "{said}");
    let usual = ClientOptions::new("x", "k", afterbay_blob_client::Secret::new("s"));
    assert_eq!(usual.connect_timeout, Duration::from_secs(10), "what the guide says");
}

#[test]
fn another_program_has_the_port() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in other.incoming() {
            let _ = stream.unwrap().write_all(b"SSH-2.0-OpenSSH_10.0 Debian-7\r\n");
        }
    });
    let key = AccessKey { access: "AB".to_owned(), secret: "s".repeat(40) };
    quoted(&refused(&address, &key, None), "wrong magic: the other side speaks another protocol");
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_too_many_connections() {
    let home = tempfile::tempdir().unwrap();
    let one = ["--connections", "1"];
    let (tls, roots) = with_tls(home.path(), &one);
    let plain =
        Process::start(&home.path().join("plain"), &[&["--admin", "none"], &one[..]].concat());
    // One that has proved its key may be idle.
    let said = async |process: &Process, roots: Option<&Path>| {
        let tls = roots.map(|roots| TlsRoots { roots: roots.to_owned(), server_name: None });
        let options = ClientOptions { tls, ..client_options(&process.address, &process.key) };
        let _held = Connection::open(&options).await.unwrap();
        refused(&process.address, &process.key, roots)
    };
    quoted(&said(&plain, None).await, "too many connections");
    let said = said(&tls, Some(&*roots)).await;
    assert!(said.contains("; the server has too many connections, or"), "{said}");
    // Whether the first bytes of the client were read by then, nobody knows.
    let texts = ["TLS: tls handshake eof", "TLS: Connection reset by peer"];
    let text = texts.into_iter().find(|text| said.contains(text));
    quoted(&said, text.unwrap_or_else(|| panic!("{said}")));
}
