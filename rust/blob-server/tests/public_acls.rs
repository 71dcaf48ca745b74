//! `serve --public-acls`: objects that their owners show to everybody, and none without the option.

use std::path::Path;

use afterbay_blob_server::AccessKey;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::common::Process;
use crate::common::shell::Shell;
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

/// As the guide says: `write` opens objects, `admin` opens buckets, and without the option nothing is open.
#[tokio::test(flavor = "multi_thread")]
async fn who_may_write_opens_objects_and_who_has_admin_buckets() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let open = ["--admin", "none", "--public-acls"];
    let process = Process::start(&data, &open);
    let mut shell = Shell { directory, process };
    std::fs::write(shell.path("file"), "content").unwrap();
    shell.root(&["put", "file", "papers/a"]);
    let s3 = |shell: &Shell, rights: &str| {
        let file = format!("{rights}.key");
        let bucket = format!("papers={rights}");
        shell.root(&["key", "create", rights, "--bucket", &bucket, "--out", &file]);
        let key = AccessKey::read(&shell.path(&file)).unwrap();
        S3::new(shell.process.s3.as_deref().unwrap(), &key)
    };
    let acl =
        |path: &str| Ask::new("PUT", path).query("acl", "").header("x-amz-acl", "public-read");
    let (write, admin) = (s3(&shell, "write"), s3(&shell, "admin"));
    let anonymous_get = async |shell: &Shell, path: &str| {
        let address = shell.process.s3.clone().unwrap();
        let answer =
            anonymous(address.strip_prefix("http://").unwrap(), &format!("GET {path}")).await;
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(anonymous_get(&shell, "/papers/a").await, "403");
    assert_eq!(write.ask(acl("/papers/a")).await.unwrap().status, 200);
    assert_eq!(anonymous_get(&shell, "/papers/a").await, "200");
    assert_eq!(write.ask(acl("/papers")).await.unwrap().status, 403);
    assert_eq!(anonymous_get(&shell, "/papers").await, "403");
    assert_eq!(admin.ask(acl("/papers")).await.unwrap().status, 200);
    assert_eq!(anonymous_get(&shell, "/papers").await, "200");
    shell.process.terminate();
    shell.process.child.wait().unwrap();
    let data = shell.path("data");
    shell.process = Process::start(&data, &open[..2]);
    for path in ["/papers/a", "/papers"] {
        assert_eq!(anonymous_get(&shell, path).await, "403", "{path}");
    }
}
