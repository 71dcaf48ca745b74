//! Keys for users, made by the real program while the server runs, and used by the native protocol. With S3's clients they
//! are used in `tests/clients`.

use std::os::unix::fs::PermissionsExt;

use afterbay_blob_client::{Client, Code, Name, PutHead, Target};
use afterbay_blob_router::{SourceStream, source};
use afterbay_blob_server::AccessKey;
use bytes::Bytes;
use futures_util::{StreamExt, stream};

use crate::common::shell::Shell;
use crate::common::{Process, client_options};

fn start(arguments: &[&str]) -> Shell {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let log = std::fs::File::create(directory.path().join("log")).unwrap();
    let mut command = Process::command(&data, arguments);
    // All there is, but what TCP does.
    let process = Process::wait(&data, command.env("RUST_LOG", "trace").stderr(log));
    Shell { directory, process }
}

fn client_of(shell: &Shell, key: &AccessKey) -> Client {
    Client::new(client_options(&shell.process.address, key))
}

fn name(bucket: &str, key: &str) -> Name {
    Name { bucket: bucket.to_owned(), key: key.to_owned() }
}

async fn put(client: &Client, bucket: &str, content: SourceStream) -> Result<(), Option<Code>> {
    let head = PutHead { name: Some(name(bucket, "x")), ..PutHead::default() };
    client.put(head, content).await.map(|_| ()).map_err(|e| e.code())
}

#[test]
fn a_key_has_the_rights_that_it_was_given() {
    let server = start(&["--admin", "none"]);
    std::fs::write(server.path("file"), "content").unwrap();
    server.root(&["put", "file", "papers/a"]);
    server.root(&["put", "file", "secrets/a"]);
    let id = server.root(&["put", "file", "--no-name"]);
    let access =
        server.root(&["key", "create", "reader", "--bucket", "papers=read", "--out", "reader.key"]);
    let mode = std::fs::metadata(server.path("reader.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let reader = AccessKey::read(&server.path("reader.key")).unwrap();
    assert_eq!(access, format!("{}\n", reader.access));
    let got = server.run_as("reader.key", &["get", "papers/a"]);
    assert!(got.status.success() && got.stdout == b"content");
    let buckets = server.run_as("reader.key", &["ls"]);
    let buckets = String::from_utf8(buckets.stdout).unwrap();
    assert!(buckets.contains("papers/") && !buckets.contains("secrets"), "{buckets}");
    assert!(server.run_as("reader.key", &["ls", "papers"]).status.success());
    assert!(server.run_as("reader.key", &["stat", "papers/a"]).status.success());
    for refused in [
        &["put", "file", "papers/b"][..],
        &["put", "file", "newbucket/b"],
        &["delete", "papers/a"],
        &["get", "secrets/a", "-"],
        &["stat", "secrets/a"],
        &["ls", "secrets"],
        &["put", "file", "--no-name"],
        &["get", id.trim(), "-"],
        &["delete", id.trim()],
        &["undelete", id.trim()],
        &["status"],
        &["key", "ls"],
        &["key", "create", "more", "--create-buckets"],
        &["key", "delete", "reader"],
    ] {
        let text = server.refused(1, "reader.key", refused);
        assert!(text.contains("right") || text.contains("must not"), "{refused:?}: {text}");
    }
    // Nothing of it was done.
    assert_eq!(server.root(&["get", "papers/a", "-"]), "content");
    assert_eq!(server.root(&["get", id.trim(), "-"]), "content");
    assert!(!server.root(&["ls"]).contains("newbucket"));
    server.root(&["key", "create", "ann", "--create-buckets", "--out", "ann.key"]);
    assert!(server.run_as("ann.key", &["put", "file", "hers/a"]).status.success());
    assert!(server.run_as("ann.key", &["get", "hers/a", "-"]).status.success());
    server.refused(1, "reader.key", &["get", "hers/a", "-"]);
    server.refused(1, "ann.key", &["get", "papers/a", "-"]);
}

#[test]
fn keys_are_listed_deleted_and_kept_over_restarts() {
    let mut server = start(&["--admin", "none"]);
    let create = |arguments: &[&str]| {
        let json = server.root(&[&["key", "create", "--json"], arguments].concat());
        serde_json::from_str::<serde_json::Value>(&json).unwrap()
    };
    let first = create(&["flink", "--bucket", "checkpoints=read,write", "--bucket", "*=read"]);
    assert_eq!(first["buckets"]["checkpoints"], "read,write");
    assert_eq!(first["secret_key"].as_str().unwrap().len(), 40);
    let second = create(&["flink", "--create-buckets", "--out", "second.key"]);
    assert!(second.get("secret_key").is_none() && second["file"] == "second.key");
    // A file that is there is not written over, and then there is no key either.
    let again = ["key", "create", "other", "--create-buckets", "--out", "second.key"];
    assert!(server.refused(1, "data/root-key", &again).contains("exists"));
    let listed = server.root(&["key", "ls"]);
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains("*=read checkpoints=read,write"), "{listed}");
    assert!(!listed.contains(first["secret_key"].as_str().unwrap()));
    assert!(server.refused(1, "data/root-key", &["key", "delete", "flink"]).contains("several"));
    assert!(server.refused(1, "data/root-key", &["key", "delete", "nobody"]).contains("no key"));
    for wrong in ["root", "a b", ""] {
        server.refused(1, "data/root-key", &["key", "create", wrong, "--create-buckets"]);
    }
    assert_eq!(server.run_as("data/root-key", &["key", "create", "x"]).status.code(), Some(2));
    server.process.child.kill().unwrap();
    server.process.child.wait().unwrap();
    server.process = Process::start(&server.path("data"), &["--admin", "none"]);
    assert!(server.run_as("second.key", &["ls"]).status.success());
    server.root(&["key", "delete", first["access_key"].as_str().unwrap()]);
    server.root(&["key", "delete", "flink"]);
    assert_eq!(server.root(&["key", "ls"]), "");
    assert!(server.refused(1, "second.key", &["ls"]).contains("not known"));
    let root = server.process.key.access.clone();
    assert!(server.refused(1, "data/root-key", &["key", "delete", &root]).contains("no key"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_key_is_refused_at_once_and_no_secret_is_logged() {
    let server = start(&["--admin", "none"]);
    server.root(&["key", "create", "w", "--create-buckets", "--out", "w.key"]);
    let key = AccessKey::read(&server.path("w.key")).unwrap();
    let client = client_of(&server, &key);
    put(&client, "mine", source("first")).await.unwrap();
    // A put that is under way, on a connection that stays open.
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let slow = stream::once(async { Ok(Bytes::from_static(b"second")) })
        .chain(stream::pending())
        .take_until(ended)
        .boxed();
    let under_way = tokio::spawn({
        let client = client.clone();
        async move { put(&client, "mine", slow).await }
    });
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    // The control: it is the delete that makes the difference.
    client.get(Target::Name(name("mine", "x")), None).await.unwrap();
    server.root(&["key", "delete", "w"]);
    let got = client.get(Target::Name(name("mine", "x")), None).await;
    assert_eq!(got.unwrap_err().code(), Some(Code::Unauthorized));
    assert_eq!(client.ping().await.unwrap_err().code(), Some(Code::Unauthorized));
    drop(end);
    assert_eq!(under_way.await.unwrap(), Err(Some(Code::Unauthorized)));
    let fresh = client_of(&server, &key);
    assert_eq!(fresh.ping().await.unwrap_err().code(), Some(Code::Unauthorized));
    assert_eq!(server.root(&["get", "mine/x", "-"]), "first");
    let log = std::fs::read_to_string(server.path("log")).unwrap();
    assert!(log.contains(&key.access), "the log says which key was made and deleted");
    for secret in [&key.secret, &server.process.key.secret] {
        assert!(!log.contains(secret));
    }
}

#[test]
fn a_server_without_names_has_no_keys_for_users() {
    let server = start(&["--admin", "none", "--no-names"]);
    let create = ["key", "create", "x", "--create-buckets", "--out", "x.key"];
    let refused = server.refused(1, "data/root-key", &create);
    assert!(refused.contains("no keys"), "{refused}");
    assert!(!server.path("x.key").exists());
}
