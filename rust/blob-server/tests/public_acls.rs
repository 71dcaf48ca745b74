//! `serve --public-acls`: objects that their owners show to everybody, and none without the option.

use std::path::Path;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::common::Process;
use crate::cycles::s3::{Ask, S3};

/// What somebody without a key is answered.
async fn anonymous(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("{request} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n");
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Puts an object that everybody may read, and one that nobody else may: the first one's status, what everybody sees, the log.
async fn shown(directory: &Path, arguments: &[&str]) -> (u16, Vec<String>, String) {
    let (data, log) = (directory.join("data"), directory.join("log"));
    let process = Process::start_logging(&data, &[&["--admin", "none"], arguments].concat(), &log);
    let endpoint = process.s3.clone().unwrap();
    let s3 = S3::new(&endpoint, &process.key);
    let put = async |key: &str, acl: &str| {
        let ask = Ask::new("PUT", format!("/papers/{key}")).header("x-amz-acl", acl);
        s3.ask(ask.body("content")).await.map_or(501, |answer| answer.status)
    };
    assert_eq!(s3.ask(Ask::new("PUT", "/papers")).await.unwrap().status, 200);
    let public = put("public", "public-read").await;
    assert_eq!(put("private", "private").await, 200);
    let address = endpoint.strip_prefix("http://").unwrap();
    let mut answers = Vec::new();
    for request in ["GET /papers/public", "GET /papers/private", "PUT /papers/x", "GET /papers"] {
        answers.push(anonymous(address, request).await);
    }
    drop(process);
    (public, answers, std::fs::read_to_string(log).unwrap())
}

#[tokio::test]
async fn everybody_sees_what_owners_show_if_the_operator_lets_them() {
    let directory = tempfile::tempdir().unwrap();
    let (public, answers, log) = shown(directory.path(), &["--public-acls"]).await;
    assert_eq!(public, 200);
    assert!(answers[0].starts_with("HTTP/1.1 200") && answers[0].ends_with("content"));
    assert!(answers[1..].iter().all(|answer| answer.starts_with("HTTP/1.1 403")), "{answers:?}");
    assert!(log.contains("WARN") && log.contains("--public-acls"), "{log}");
}

#[tokio::test]
async fn by_default_nobody_sees_anything() {
    let directory = tempfile::tempdir().unwrap();
    let (public, answers, log) = shown(directory.path(), &[]).await;
    assert!(public >= 400);
    assert!(answers.iter().all(|answer| answer.starts_with("HTTP/1.1 403")), "{answers:?}");
    assert!(!log.contains("--public-acls"), "{log}");
}
