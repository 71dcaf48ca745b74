//! The durability class of a bucket: who sets it, where it is shown, and that it holds for both protocols.

use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_client::{BucketSettings, Code, Name};
use afterbay_blob_meta::CollectorOptions;
use afterbay_blob_router::testing::MemoryStore;
use afterbay_blob_router::{Durability, PutOptions, Router, RouterOptions, source};
use afterbay_blob_s3::S3Options;
use afterbay_blob_server::{AccessKey, Caller, Frontend, Host, NamedBlobs, NamesAndS3};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::common::Process;
use crate::common::shell::Shell;
use crate::cycles::s3::{Ask, S3};

fn start() -> Shell {
    let directory = tempfile::tempdir().unwrap();
    let process = Process::start(&directory.path().join("data"), &["--admin", "none"]);
    std::fs::write(directory.path().join("file"), "content").unwrap();
    Shell { directory, process }
}

/// The classes of all buckets, as `ls --json` says.
fn classes(shell: &Shell) -> Vec<(String, Option<String>)> {
    let line = |line: &str| {
        let bucket: serde_json::Value = serde_json::from_str(line).unwrap();
        let class = bucket["durability"].as_str().map(str::to_owned);
        (bucket["name"].as_str().unwrap().to_owned(), class)
    };
    shell.root(&["ls", "--json"]).lines().map(line).collect()
}

#[test]
fn the_class_is_set_shown_and_kept() {
    let mut shell = start();
    shell.root(&["put", "file", "papers/a"]);
    shell.root(&["bucket", "papers", "--durability", "paranoid"]);
    // Before anything is in it.
    shell.root(&["bucket", "safe", "--durability", "durable"]);
    shell.root(&["put", "file", "usual/a"]);
    let class = |class: &str| Some(class.to_owned());
    let expected = [
        ("papers".to_owned(), class("paranoid")),
        ("safe".to_owned(), class("durable")),
        ("usual".to_owned(), None),
    ];
    assert_eq!(classes(&shell), expected);
    let text = shell.root(&["ls"]);
    assert!(text.contains("  paranoid  papers/") && text.contains("  default   usual/"), "{text}");
    shell.process.child.kill().unwrap();
    shell.process.child.wait().unwrap();
    shell.process = Process::start(&shell.path("data"), &["--admin", "none"]);
    assert_eq!(classes(&shell), expected);
    assert_eq!(shell.root(&["get", "papers/a", "-"]), "content");
    shell.root(&["bucket", "papers", "--durability", "default"]);
    assert_eq!(classes(&shell)[0], ("papers".to_owned(), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_and_what_cannot_be_is_said() {
    let shell = start();
    shell.root(&["put", "file", "papers/a"]);
    let text = shell.refused(2, "data/root-key", &["bucket", "papers", "--durability", "fast"]);
    assert!(text.contains("'durable' at least"), "{text}");
    let text = shell.refused(2, "data/root-key", &["bucket", "papers"]);
    assert!(text.contains("--durability"), "{text}");
    // Another program that asks for it.
    let settings =
        BucketSettings { bucket: "papers".to_owned(), durability: Some(Durability::Fast) };
    let refused = shell.process.client().set_bucket(settings).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::Invalid), "{refused}");
    shell.root(&["key", "create", "w", "--bucket", "papers=read,write", "--out", "w.key"]);
    let text = shell.refused(1, "w.key", &["bucket", "papers", "--durability", "paranoid"]);
    assert!(text.contains("right"), "{text}");
    let text = shell.refused(1, "w.key", &["bucket", "other", "--durability", "paranoid"]);
    assert!(text.contains("must not make buckets"), "{text}");
    assert_eq!(classes(&shell), [("papers".to_owned(), None)]);
}

/// Both frontends over a store that remembers at which class it was asked to store.
struct Remembering {
    store: Arc<MemoryStore>,
    names: Arc<dyn NamedBlobs>,
    s3: S3,
    _stop: watch::Sender<bool>,
    _directory: TempDir,
}

impl Remembering {
    async fn start(server: Durability) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(MemoryStore::default());
        let options = RouterOptions { durability: server, ..RouterOptions::default() };
        let (stop, stopping) = watch::channel(false);
        let key = AccessKey { access: "AB".to_owned(), secret: "s".repeat(40) };
        let host = Host {
            router: Router::new(store.clone(), options).unwrap(),
            data: directory.path().to_owned(),
            read_only: false,
            key: key.clone(),
            tls: None,
            sockets: Arc::default(),
            stopping,
        };
        let frontend = NamesAndS3 {
            listen: Some("127.0.0.1:0".to_owned()),
            options: S3Options { part_bytes_min: 1, ..S3Options::default() },
            collector: CollectorOptions::default(),
            abort_uploads_after: Duration::MAX,
        };
        let started = frontend.start(&host).await.unwrap();
        let s3 = S3::new(&started.endpoints[0].1, &key);
        let names = started.names.unwrap();
        Remembering { store, names, s3, _stop: stop, _directory: directory }
    }

    async fn set(&self, class: Option<Durability>) {
        let settings = BucketSettings { bucket: "papers".to_owned(), durability: class };
        self.names.set_bucket(&Caller::root(), settings).await.unwrap();
    }

    async fn ask(&self, ask: Ask) -> String {
        let answer = self.s3.ask(ask).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text()
    }

    /// The class that the one chunk is stored at which `work` has left.
    async fn class_of(&self, work: impl AsyncFnOnce()) -> Durability {
        let before = self.store.alive();
        work().await;
        let made: Vec<_> =
            self.store.alive().into_iter().filter(|id| !before.contains(id)).collect();
        assert_eq!(made.len(), 1);
        self.store.stored(made[0]).unwrap().0
    }

    async fn put(&self, asked: Option<Durability>) {
        let name = Name { bucket: "papers".to_owned(), key: "native".to_owned() };
        let options = PutOptions { durability: asked, ..PutOptions::default() };
        self.names.put(&Caller::root(), &name, source("native"), options).await.unwrap();
    }

    /// By S3: a put, a copy, a part and a copied part.
    async fn classes_by_s3(&self) -> Vec<Durability> {
        let object = || Ask::new("PUT", "/papers/object").body("by S3");
        let copy = || Ask::new("PUT", "/papers/copy").header("x-amz-copy-source", "/papers/object");
        let begun = self.ask(Ask::new("POST", "/papers/parts").query("uploads", "")).await;
        let upload = begun.split_once("<UploadId>").unwrap().1.split_once('<').unwrap().0;
        let part = |number: u32| {
            let ask = Ask::new("PUT", "/papers/parts").query("partNumber", number);
            ask.query("uploadId", upload)
        };
        let mut found = Vec::new();
        for ask in [
            object(),
            copy(),
            part(1).body("a part"),
            part(2).header("x-amz-copy-source", "/papers/object"),
        ] {
            found.push(self.class_of(async || drop(self.ask(ask).await)).await);
        }
        found
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_stored_at_the_class_of_their_bucket_by_both_protocols() {
    use Durability::{Durable, Fast, Paranoid};
    for (server, class, expected) in [
        (Durable, None, Durable),
        (Durable, Some(Paranoid), Paranoid),
        (Paranoid, None, Paranoid),
        (Paranoid, Some(Durable), Durable),
        // What has a name is durable.
        (Fast, None, Durable),
    ] {
        let both = Remembering::start(server).await;
        both.set(class).await;
        let what = format!("{server:?} server, {class:?} bucket");
        assert_eq!(both.classes_by_s3().await, [expected; 4], "{what}");
        assert_eq!(both.class_of(async || both.put(None).await).await, expected, "{what}");
        // Who asks for less gets what the bucket has, and who asks for more gets more.
        let least = class.unwrap_or(Durable);
        let asked = both.class_of(async || both.put(Some(Fast)).await).await;
        assert_eq!(asked, least, "{what}");
        let asked = both.class_of(async || both.put(Some(Paranoid)).await).await;
        assert_eq!(asked, Paranoid, "{what}");
    }
}
