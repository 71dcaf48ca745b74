//! The real program on a file system that is read-only, and on one that is full: in a mount namespace of its own, which needs
//! no rights where users may make one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use afterbay_blob_client::{Client, ClientError, Code, ListRequest, Name, PutHead};
use afterbay_blob_router::source;
use afterbay_test_form::Wait;
use futures_util::future::join_all;

use crate::cluster::host;
use crate::common::{Process, content, get, program, put};

/// Whether this machine lets us; where tests must not be left out, it has to.
fn may_mount() -> bool {
    let made = Command::new("unshare").args(["-rm", "true"]).status();
    let may = made.is_ok_and(|status| status.success());
    assert!(may || std::env::var_os("CI").is_none(), "no mount namespaces here");
    if !may {
        println!("not run: no mount namespaces here (unshare -rm)");
    }
    may
}

/// A server in a namespace, after `mount`, in which `$D` is the data directory.
fn start(data: &Path, mount: &str, arguments: &[&str]) -> Process {
    let inner = Process::command(data, arguments);
    Process::wait(data, &mut in_namespace(data, mount, &inner))
}

fn in_namespace(data: &Path, mount: &str, inner: &Command) -> Command {
    let mut command = Command::new("unshare");
    let script = format!("set -e; D=$1; shift; {mount}; exec \"$@\"");
    command.args(["-rm", "sh", "-c", &script, "sh"]).arg(data);
    command.arg(inner.get_program()).args(inner.get_args()).env("RUST_LOG", "error");
    command
}

fn named(key: &str) -> Name {
    Name { bucket: "bucket".to_owned(), key: key.to_owned() }
}

async fn put_named(client: &Client, key: &str, text: &str) -> Result<(), ClientError> {
    let head = PutHead { name: Some(named(key)), ..PutHead::default() };
    client.put(head, source(text.as_bytes().to_vec())).await.map(|_| ())
}

async fn get_named(client: &Client, key: &str) -> Result<bytes::Bytes, ClientError> {
    client.get(afterbay_blob_client::Target::Name(named(key)), None).await?.content.read_all().await
}

fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_file_system_is_served_and_not_written() {
    if !may_mount() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    // All its files are read and compared.
    let small = ["--partition-size", "16MiB"];
    let mut process = Process::start(&data, &[small, ["--admin", "none"]].concat());
    let client = process.client();
    put_named(&client, "a", "content").await.unwrap();
    let large = content(1, 6_000_000);
    let id = put(&client, &large).await;
    // The names have to be repaired when they are opened: in memory.
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    let before = files(&data);
    let read_only = "mount --bind \"$D\" \"$D\"; mount -o remount,bind,ro \"$D\"";
    let process = start(&data, read_only, &[small, ["--admin", "127.0.0.1:0"]].concat());
    let client = process.client();
    assert_eq!(get_named(&client, "a").await.unwrap(), "content");
    assert_eq!(get(&client, id).await, large);
    let list = ListRequest { bucket: "bucket".to_owned(), limit: 10, ..ListRequest::default() };
    assert_eq!(client.list(list).await.unwrap().entries.len(), 1);
    let refusals = [
        put_named(&client, "b", "x").await,
        put_named(&client, "a", "x").await,
        client.delete(afterbay_blob_client::Target::Name(named("a"))).await.map(drop),
        client.put(PutHead::default(), source("x")).await.map(|_| ()),
        client.put(PutHead::default(), source(content(2, 9_000_000))).await.map(|_| ()),
        client.delete(id).await.map(drop),
    ];
    for (number, refused) in refusals.into_iter().enumerate() {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("read-only") || text.contains("takes no writes"), "{number}: {text}");
    }
    assert_eq!(get_named(&client, "a").await.unwrap(), "content");
    let report = client.status().await.unwrap();
    let report: afterbay_blob_server::Report = serde_json::from_slice(&report).unwrap();
    assert!(report.name_counts.unwrap().refuses_changes.unwrap().contains("read-only"));
    drop(process);
    assert!(files(&data) == before, "nothing was written");
}

/// A disk in memory: its free room goes into a file, and comes back when that is removed.
struct FullDisk {
    filler: PathBuf,
}

impl FullDisk {
    /// One that has a filler already.
    fn of(process: &Process, data: &Path) -> Self {
        let root = format!("/proc/{}/root", process.child.id());
        let filler = Path::new(&root).join(data.strip_prefix("/").unwrap()).join("filler");
        FullDisk { filler }
    }

    fn fill(process: &Process, data: &Path) -> Self {
        let FullDisk { filler } = Self::of(process, data);
        let mut file = std::fs::File::create(&filler).unwrap();
        for step in [1 << 20, 4096] {
            while file.write_all(&vec![1; step]).is_ok() {}
        }
        FullDisk { filler }
    }

    fn make_room(self) {
        std::fs::remove_file(self.filler).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_served_and_takes_names_again_when_it_has_room() {
    if !may_mount() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let arguments = ["--admin", "none", "--partition-size", "16MiB", "--reserve", "0B"];
    let prepared = directory.path().join("prepared");
    drop(Process::start(&prepared, &arguments));
    // Only the server sees its disk. The client finds the key under the same name.
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::copy(prepared.join("root-key"), data.join("root-key")).unwrap();
    let prepared = prepared.display();
    let mount = format!("mount -t tmpfs -o size=64m none \"$D\"; cp -a '{prepared}/.' \"$D\"");
    let process = start(&data, &mount, &arguments);
    let client = process.client();
    let before: Vec<_> = (0..10).map(|n| (format!("before/{n}"), n.to_string())).collect();
    for (key, text) in &before {
        put_named(&client, key, text).await.unwrap();
    }
    let disk = FullDisk::fill(&process, &data);
    // The file of names may have room left for some, or for none.
    let (acknowledged, refused) = put_until_refused(&client).await;
    assert!(refused.to_string().contains("full"), "{refused}");
    assert_eq!(refused.code(), Some(Code::OutOfSpace), "{refused}");
    for (key, text) in before.iter().chain(acknowledged.iter().step_by(7)) {
        assert_eq!(get_named(&client, key).await.unwrap(), *text);
    }
    let list = ListRequest { bucket: "bucket".to_owned(), limit: 10, ..ListRequest::default() };
    assert_eq!(client.list(list).await.unwrap().entries.len(), 10);
    disk.make_room();
    let wait = Wait::until("names are changed again");
    while let Err(error) = put_named(&client, "later", "again").await {
        wait.check(error);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(get_named(&client, "later").await.unwrap(), "again");
    for (key, text) in before.iter().chain(&acknowledged) {
        assert_eq!(get_named(&client, key).await.unwrap(), *text);
    }
}

/// Names are long, so that they need room before the partitions do.
async fn put_until_refused(client: &Client) -> (Vec<(String, String)>, ClientError) {
    let mut acknowledged = Vec::new();
    for round in 0..3000 {
        let puts = (0..16).map(|n| {
            let key = format!("{round:04}/{n:02}/{}", "x".repeat(900));
            async move { (put_named(client, &key, &key[..7]).await, key) }
        });
        let mut refused = None;
        for (done, key) in join_all(puts).await {
            match done {
                Ok(()) => acknowledged.push((key.clone(), key[..7].to_owned())),
                Err(error) => refused = Some(error),
            }
        }
        if let Some(refused) = refused {
            return (acknowledged, refused);
        }
    }
    panic!("the disk never was full");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_starts_on_a_full_disk_serves_what_it_has() {
    if !may_mount() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("c");
    let (map, data) = (directory.join("map.toml"), directory.join("n1"));
    let made = program()
        .args(["cluster", "init", "--nodes", "1", "--partitions", "1", "--port", "19998", "--host"])
        .arg(host())
        .arg(&directory)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut serve = program();
    serve
        .args(["serve", "--node", "n1", "--policy", "one", "--listen", "127.0.0.1:0"])
        .args(["--admin", "none", "--partition-size", "16MiB", "--cluster"])
        .arg(&map);
    let mut process = Process::wait(&directory, &mut serve);
    let large = content(1, 600_000);
    let id = put(&process.client(), &large).await;
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    let full = "cp -a \"$D\" \"$D.before\"; mount -t tmpfs -o size=32m,mode=700 none \"$D\"; \
                cp -a \"$D.before/.\" \"$D\"; cat /dev/zero > \"$D/filler\" 2> /dev/null || true";
    let process = Process::wait(&directory, &mut in_namespace(&data, full, &serve));
    let client = process.client();
    assert_eq!(get(&client, id).await, large);
    let refused = client.put(PutHead::default(), source("x")).await.unwrap_err().to_string();
    assert!(refused.contains("No space left on device"), "{refused}");
    let status = program().args(["cluster", "status", "--cluster"]).arg(&map).output().unwrap();
    let error = String::from_utf8(status.stderr).unwrap();
    assert_eq!(status.status.code(), Some(1), "{error}");
    let says = "partition 1 on n1 can only be read until this can be written: ";
    assert!(error.contains(says) && error.contains("No space left on device"), "{error}");
    FullDisk::of(&process, &data).make_room();
    let wait = Wait::until("it takes blobs again");
    while let Err(error) = client.put(PutHead::default(), source("x")).await {
        wait.check(error);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(get(&client, id).await, large);
}
