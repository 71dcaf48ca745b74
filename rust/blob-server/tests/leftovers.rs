//! A server that does not come to serve leaves nothing behind.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_server::{Frontend, Host, NamesAndS3, StartError, Started, start};
use async_trait::async_trait;
use tokio::net::TcpSocket;

use crate::common::{Process, serve_options};

/// What a start says that fails, with a directory that is not there, and with one that is empty: both are so afterwards.
fn refused(home: &Path, code: i32, arguments: &[&str]) -> String {
    let (missing, empty) = (home.join("not/there/yet"), home.join("empty"));
    fs::create_dir_all(&empty).unwrap();
    let mut said = String::new();
    for data in [&missing, &empty] {
        let output = Process::command(data, arguments).output().unwrap();
        said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    }
    assert!(!home.join("not").exists(), "{arguments:?}");
    assert_eq!(fs::read_dir(&empty).unwrap().count(), 0, "{arguments:?}");
    said
}

#[test]
fn what_is_refused_has_made_nothing() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = busy.local_addr().unwrap().to_string();
    for option in ["--listen", "--admin", "--s3"] {
        let said = refused(home, 1, &[option, &busy]);
        let what = format!("{busy}: another program listens there");
        assert!(said.contains(&what) && said.contains(option), "{said}");
    }
    // Nobody listens there, and the system gives it to nobody else: the server can take it.
    let held = TcpSocket::new_v4().unwrap();
    held.set_reuseaddr(true).unwrap();
    held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let free = held.local_addr().unwrap().to_string();
    let said = refused(home, 1, &["--listen", &free, "--s3", &free]);
    assert!(said.contains("the address of native protocol (--listen), too"), "{said}");
    let said = refused(home, 1, &["--listen", "127.0.0.1"]);
    assert!(said.contains("--listen says where"), "{said}");
    let pem = home.join("no.pem");
    fs::write(&pem, "no certificate").unwrap();
    let pem = pem.to_str().unwrap();
    let said = refused(home, 1, &["--tls-cert", pem, "--tls-key", pem]);
    assert!(said.contains("no certificate"), "{said}");
    for (arguments, option) in [
        (&["--memory", "1KiB"][..], "--memory"),
        (&["--chunk-size", "0"], "--chunk-size"),
        (&["--segment-size", "4KiB"], "--segment-size"),
        (&["--partition-size", "4KiB"], "--partition-size"),
        // It filled the disk with partitions, 17 GB in three seconds.
        (&["--partition-size", "4MiB", "--chunk-size", "1MiB"], "--partition-size: 4194304 bytes"),
    ] {
        let said = refused(home, 1, arguments);
        assert!(said.contains(option), "{said}");
    }
    // A directory that is something else, and a disk of another node.
    let photos = home.join("photos");
    fs::create_dir(&photos).unwrap();
    fs::write(photos.join("sea.jpg"), "sea").unwrap();
    let said = refused(home, 1, &["--data", photos.to_str().unwrap()]);
    assert!(said.contains("sea.jpg"), "{said}");
    let other = home.join("other");
    drop(Process::start(&other, &["--admin", "none", "--partition-size", "64MiB"]));
    let said = refused(home, 1, &["--data", other.to_str().unwrap()]);
    assert!(said.contains("belongs to a node"), "{said}");
    refused(home, 1, &["--existing"]);
}

/// Whose start fails when all else has been made.
#[derive(Debug)]
struct Failing;

#[async_trait]
impl Frontend for Failing {
    async fn start(&self, host: &Host) -> Result<Started, StartError> {
        assert!(host.data.join("root-key").exists() && host.data.join("names").exists());
        Err(StartError::of("the disk burns"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_later_is_taken_away_again() {
    let home = tempfile::tempdir().unwrap();
    let names = || {
        Arc::new(NamesAndS3 {
            listen: Some("127.0.0.1:0".to_owned()),
            options: Default::default(),
            collector: Default::default(),
            abort_uploads_after: Duration::MAX,
        })
    };
    let (one, two) = (home.path().join("a/one"), home.path().join("two"));
    fs::create_dir_all(two.join("lost+found")).unwrap();
    let mut options = serve_options(&one);
    options.data.push(two.clone());
    let failing: [Arc<dyn Frontend>; 2] = [names(), Arc::new(Failing)];
    let error = start(options.clone(), &failing).await.unwrap_err().to_string();
    assert_eq!(error, "the disk burns");
    assert!(!home.path().join("a").exists());
    assert_eq!(fs::read_dir(&two).unwrap().count(), 1, "lost+found");
    // What was there before stays.
    let running = start(options.clone(), &[names()]).await.unwrap();
    let key = running.key.clone();
    running.shut_down().await;
    let error = start(options.clone(), &failing).await.unwrap_err().to_string();
    assert_eq!(error, "the disk burns");
    let running = start(options.clone(), &[names()]).await.unwrap();
    assert_eq!(running.key, key);
    running.shut_down().await;
}
