//! `put`, `get` and `delete` of whole directories, into directories, and of buckets, as a person uses them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use afterbay_blob_client::{Client, Name, PutHead};
use afterbay_blob_router::source;
use afterbay_test_form::Wait;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::shell::Shell;
use crate::common::{Process, program};
use crate::cycles::s3::{Ask, S3};

const ROOT: &str = "data/root-key";

fn start() -> Shell {
    let directory = tempfile::tempdir().unwrap();
    let process = Process::start(&directory.path().join("data"), &["--admin", "none"]);
    fs::write(directory.path().join("file"), "content").unwrap();
    Shell { directory, process }
}

/// All files of a directory, by their paths in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

/// Objects of the lines that a command prints.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A directory of 42 files at several depths.
fn photos(shell: &Shell) -> BTreeMap<String, Vec<u8>> {
    for i in 0..40 {
        let folder = shell.path(&format!("photos/{}/{}", i % 3, i % 7));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{i} .jpg")), vec![i; usize::from(i) * 1000]).unwrap();
    }
    fs::write(shell.path("photos/empty"), "").unwrap();
    fs::write(shell.path("photos/café.part"), "é").unwrap();
    files(&shell.path("photos"))
}

#[test]
fn a_directory_goes_in_and_comes_back() {
    let shell = start();
    let photos = photos(&shell);
    let stored = shell.root(&["put", "photos", "papers/photos", "--recursive", "--jobs", "7"]);
    assert!(stored.starts_with("42 files stored, ") && stored.ends_with("KiB\n"), "{stored}");
    shell.root(&["put", "file", "papers/photosynthesis"]);
    let read = shell.root(&["get", "papers/photos", "copy/of/it", "-r"]);
    assert!(read.starts_with("42 files read, "), "{read}");
    assert_eq!(files(&shell.path("copy/of/it")), photos);
    // All of the bucket, over what is there.
    fs::create_dir_all(shell.path("all/photos")).unwrap();
    fs::write(shell.path("all/photos/empty"), "before").unwrap();
    let read = lines(&shell.root(&["get", "papers", "all", "-r", "--json"]));
    assert_eq!((read.len(), read[0]["done"].as_str()), (43, Some("read")));
    assert_eq!(files(&shell.path("all/photos")), photos);
    // What is below a directory is deleted, and what begins like it stays.
    assert_eq!(shell.root(&["delete", "papers/photos", "--recursive"]), "42 names deleted\n");
    let left = lines(&shell.root(&["ls", "papers", "--json"]));
    assert_eq!((left.len(), left[0]["name"].as_str()), (1, Some("papers/photosynthesis")));
    let none = shell.refused(1, ROOT, &["get", "papers/photos/", "other", "-r"]);
    assert!(none.contains("papers/photos/: there is nothing below it"), "{none}");
    let none = shell.refused(1, ROOT, &["delete", "papers/photos/", "-r"]);
    assert!(none.contains("nothing below it"), "{none}");
}

#[test]
fn what_is_no_file_is_named_and_what_fails_does_not_stop_the_rest() {
    let shell = start();
    let folder = shell.path("mixed");
    fs::create_dir_all(folder.join("below")).unwrap();
    fs::write(folder.join("below/good"), "good").unwrap();
    fs::write(folder.join(OsStr::from_bytes(b"caf\xe9")), "latin").unwrap();
    symlink("..", folder.join("below/up")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
    let output = shell.run_as(ROOT, &["put", "mixed", "papers/", "--recursive"]);
    let (text, error) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!((output.status.code(), &*text), (Some(1), "1 file stored, 4 B\n"), "{error}");
    assert!(
        error.contains("skipped mixed/below/up: a link to a directory that it is in"),
        "{error}"
    );
    assert!(error.contains("skipped mixed/socket: a socket"), "{error}");
    assert!(
        error.contains("1 of 2 files failed:\n  mixed/caf\u{fffd}: its name is not UTF-8"),
        "{error}"
    );
    let said = shell.run_as(ROOT, &["put", "mixed", "papers", "-r", "--json"]);
    let said = lines(&String::from_utf8(said.stdout).unwrap());
    let with = |name: &str| said.iter().filter(|line| !line[name].is_null()).count();
    assert_eq!((said.len(), with("skipped"), with("error"), with("id")), (4, 2, 1, 1));
}

/// Puts objects that no directory has, as another program can.
async fn put_keys(client: &Client, keys: &[&str]) {
    for key in keys {
        let name = Some(Name { bucket: "papers".to_owned(), key: (*key).to_owned() });
        let head = PutHead { name, ..PutHead::default() };
        client.put(head, source(key.to_string())).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_no_paths_are_refused_by_name() {
    let shell = start();
    let client = shell.process.client();
    let bad = ["../escaped", "/absolute", "a//b", "x/../../y", "nul\0", "./here", "content/"];
    put_keys(&client, &bad).await;
    put_keys(&client, &["good", "a/good"]).await;
    // In the place of a directory, as consoles of S3 make it.
    let name = Some(Name { bucket: "papers".to_owned(), key: "marker/".to_owned() });
    client.put(PutHead { name, ..PutHead::default() }, source("")).await.unwrap();
    let text = shell.refused(1, ROOT, &["get", "papers", "copy", "--recursive", "--jobs", "1"]);
    assert!(text.contains("7 of 9 files failed:") && text.contains("and 2 more"), "{text}");
    assert!(text.contains("papers/../escaped: '..'"), "{text}");
    let found: Vec<_> = files(&shell.path("copy")).into_keys().collect();
    assert_eq!(found, ["a/good", "good"]);
    let beside = fs::read_dir(shell.directory.path()).unwrap().count();
    assert_eq!(beside, 3, "nothing is beside the directory: data, file, copy");
    let said = shell.run_as(ROOT, &["get", "papers", "copy", "-r", "--json"]);
    let said = lines(&String::from_utf8(said.stdout).unwrap());
    let mut refused: Vec<_> = said
        .iter()
        .filter(|line| line["error"].is_string())
        .map(|line| line["name"].as_str().unwrap().strip_prefix("papers/").unwrap())
        .collect();
    refused.sort_unstable();
    let mut bad = bad.to_vec();
    bad.sort_unstable();
    assert_eq!(refused, bad);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_and_one_below_it_do_not_fit_into_one_directory() {
    let shell = start();
    put_keys(&shell.process.client(), &["a", "a.txt", "a/b", "c"]).await;
    let text = shell.refused(1, ROOT, &["get", "papers", "copy", "--recursive", "--jobs", "1"]);
    assert!(text.contains("1 of 4 files failed:\n  papers/a/b: "), "{text}");
    assert!(text.contains("copy/a is a file, and no directory"), "{text}");
    assert_eq!(files(&shell.path("copy")).len(), 3);
    fs::remove_file(shell.path("copy/a")).unwrap();
    fs::create_dir(shell.path("copy/a")).unwrap();
    let text = shell.refused(1, ROOT, &["get", "papers", "copy", "--recursive"]);
    assert!(text.contains("1 of 4 files failed:\n  papers/a: "), "{text}");
    assert!(text.contains("copy/a is a directory, and no file"), "{text}");
    assert_eq!(files(&shell.path("copy")).len(), 3, "no part of a file is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_get_into_a_directory_has_the_name_of_the_key() {
    let shell = start();
    shell.root(&["put", "file", "papers/2026/report.pdf"]);
    let id = shell.root(&["put", "file", "--no-name"]);
    fs::create_dir(shell.path("there")).unwrap();
    for (target, to, file) in [
        ("papers/2026/report.pdf", ".", "report.pdf"),
        ("papers/2026/report.pdf", "there", "there/report.pdf"),
        ("papers/2026/report.pdf", "new/one/", "new/one/report.pdf"),
        (id.trim(), "there/", &*format!("there/{}", id.trim())),
    ] {
        shell.root(&["get", target, to]);
        assert_eq!(fs::read(shell.path(file)).unwrap(), b"content", "{file}");
        fs::remove_file(shell.path(file)).unwrap();
    }
    let got = shell.root(&["get", "papers/2026/report.pdf", "there", "--json"]);
    assert_eq!(lines(&got)[0]["file"], "there/report.pdf");
    put_keys(&shell.process.client(), &["x/", "x/.."]).await;
    for key in ["papers/x/", "papers/x/.."] {
        let text = shell.refused(2, ROOT, &["get", key, "there"]);
        assert!(text.contains(key) && text.contains("give a file"), "{text}");
        shell.root(&["get", key, "by-itself"]);
    }
    fs::create_dir(shell.path("there/2026")).unwrap();
    put_keys(&shell.process.client(), &["2026"]).await;
    let text = shell.refused(1, ROOT, &["get", "papers/2026", "there"]);
    assert!(text.contains("there/2026 is a directory"), "{text}");
}

#[test]
fn a_get_takes_no_file_of_somebody_else() {
    let shell = start();
    shell.root(&["put", "file", "papers/report"]);
    fs::write(shell.path("copy.part"), "mine").unwrap();
    fs::write(shell.path("linked"), "before").unwrap();
    symlink("linked", shell.path("link")).unwrap();
    let long = "n".repeat(255);
    for to in ["copy", "link", &long] {
        shell.root(&["get", "papers/report", to]);
        assert_eq!(fs::read(shell.path(to)).unwrap(), b"content");
    }
    assert_eq!(fs::read(shell.path("copy.part")).unwrap(), b"mine");
    assert!(shell.path("link").is_symlink(), "what it leads to was written");
    shell.root(&["get", "papers/report", "/dev/null"]);
    let left = fs::read_dir(shell.directory.path()).unwrap().count();
    assert_eq!(left, 7, "data, file, copy.part, linked, link and two copies");
}

#[test]
fn wrong_usage_says_what_to_do() {
    let shell = start();
    shell.root(&["put", "file", "papers/a"]);
    fs::create_dir(shell.path("folder")).unwrap();
    for (arguments, part) in [
        (&["put", "folder", "papers/"][..], "--recursive stores its files"),
        (&["put", "folder", "--no-name"], "--recursive"),
        (&["put", "file", "papers/", "-r"], "leave --recursive out"),
        (&["put", "folder", "papers/", "-r", "--ttl", "1h"], "does not expire"),
        (&["get", "papers", "folder"], "needs --recursive"),
        (&["get", "papers", "-", "-r"], "needs a directory"),
        (&["get", "papers", "file", "-r"], "file is no directory"),
        (&["delete", "papers"], "needs --recursive"),
        (&["delete", "papers/a", "--bucket", "papers"], "--bucket"),
        (&["delete"], "TARGETS"),
    ] {
        let text = shell.refused(2, ROOT, arguments);
        assert!(text.contains(part), "{arguments:?}: {text}");
    }
    let missing = shell.refused(1, ROOT, &["get", "nobucket", "copy", "-r"]);
    assert!(missing.contains("there is no bucket 'nobucket'"), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn buckets_are_deleted_when_they_are_empty_or_with_all_that_is_in_them() {
    let shell = start();
    shell.root(&["put", "file", "papers/a"]);
    shell.root(&["put", "file", "papers/b/c"]);
    let text = shell.refused(1, ROOT, &["delete", "--bucket", "papers"]);
    assert!(text.contains("has objects") && text.contains("'delete papers --recursive'"), "{text}");
    shell.root(&["key", "create", "w", "--bucket", "papers=read,write", "--out", "w.key"]);
    assert_eq!(shell.root(&["delete", "papers", "-r"]), "2 names deleted\n");
    let text = shell.refused(1, "w.key", &["delete", "--bucket", "papers"]);
    assert!(text.contains("right"), "{text}");
    // Also with an upload that is open, as by S3.
    let s3 = S3::new(shell.process.s3.as_deref().unwrap(), &shell.process.key);
    let begun = s3.ask(Ask::new("POST", "/papers/parts").query("uploads", "")).await.unwrap();
    assert_eq!(begun.status, 200);
    let done = shell.root(&["delete", "--bucket", "papers", "--json"]);
    assert_eq!(lines(&done)[0]["done"], "deleted");
    assert_eq!(shell.root(&["ls"]), "");
    let text = shell.refused(1, ROOT, &["delete", "--bucket", "papers"]);
    assert!(text.contains("there is no bucket 'papers'"), "{text}");
    shell.root(&["put", "file", "papers/a"]);
    assert_eq!(shell.root(&["delete", "--bucket", "papers", "--recursive"]), "1 name deleted\n");
    assert_eq!(shell.root(&["ls"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_says_whose_content_it_took() {
    let shell = start();
    let put = lines(&shell.root(&["put", "file", "papers/a", "--json"]));
    let id = put[0]["id"].as_str().unwrap();
    assert_eq!(shell.root(&["delete", "papers/a"]), format!("{id}  papers/a\n"));
    assert_eq!(shell.root(&["get", id, "-"]), "content");
    // The way back that the guide has.
    shell.root(&["get", id, "back"]);
    shell.root(&["put", "back", "papers/a"]);
    assert_eq!(shell.root(&["get", "papers/a", "-"]), "content");
    shell.root(&["delete", id]);
    assert_eq!(shell.root(&["get", "papers/a", "-"]), "content");
    shell.root(&["delete", "papers/a"]);
    let text = shell.refused(1, ROOT, &["delete", "papers/a"]);
    assert!(text.contains("papers/a: no such name"), "{text}");
    // One that was overwritten.
    shell.root(&["put", "file", "papers/a"]);
    let put = lines(&shell.root(&["put", "file", "papers/a", "--json"]));
    let deleted = lines(&shell.root(&["delete", "papers/a", "--json"]));
    assert_eq!((&deleted[0]["id"], deleted[0]["done"].as_str()), (&put[0]["id"], Some("deleted")));
    let put = lines(&shell.root(&["put", "file", "papers/b", "--json"]));
    let deleted = lines(&shell.root(&["delete", "papers", "--recursive", "--json"]));
    assert_eq!((&deleted[0]["id"], deleted[0]["name"].as_str()), (&put[0]["id"], Some("papers/b")));
    // Uploaded in parts: no id has all of it.
    let s3 = S3::new(shell.process.s3.as_deref().unwrap(), &shell.process.key);
    let ask = async |ask: Ask| {
        let answer = s3.ask(ask).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text()
    };
    let begun = ask(Ask::new("POST", "/papers/parts").query("uploads", "")).await;
    let upload = begun.split_once("<UploadId>").unwrap().1.split_once('<').unwrap().0;
    let part = Ask::new("PUT", "/papers/parts").query("partNumber", 1).query("uploadId", upload);
    ask(part.body("a part")).await;
    let listed = ask(Ask::new("GET", "/papers/parts").query("uploadId", upload)).await;
    let etag = listed.split_once("<ETag>").unwrap().1.split_once('<').unwrap().0;
    let all = format!(
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{etag}</ETag></Part></CompleteMultipartUpload>"
    );
    ask(Ask::new("POST", "/papers/parts").query("uploadId", upload).body(all)).await;
    assert_eq!(shell.root(&["delete", "papers/parts"]), "-  papers/parts\n");
    // By its id, there is nothing new to say.
    let id = shell.root(&["put", "file", "--no-name"]);
    assert_eq!(shell.root(&["delete", id.trim()]), "");
}

/// A port that hands on what a server answers up to so many bytes, and then nothing any more.
fn ends_in_the_middle(server: &str, most: usize) -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = server.to_owned();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for client in listener.incoming() {
            let (mut client, mut server) =
                (client.unwrap(), std::net::TcpStream::connect(&server).unwrap());
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            held.push((client.try_clone().unwrap(), server.try_clone().unwrap()));
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            std::thread::spawn(move || {
                let mut left = most;
                let mut buffer = vec![0; 1 << 16];
                while left > 0 {
                    let count = server.read(&mut buffer).unwrap_or(0).min(left);
                    if count == 0 || client.write_all(&buffer[..count]).is_err() {
                        return;
                    }
                    left -= count;
                }
            });
        }
    });
    address
}

#[test]
fn a_get_that_is_interrupted_leaves_no_part() {
    let shell = start();
    fs::create_dir(shell.path("in")).unwrap();
    for name in ["a", "b"] {
        fs::write(shell.path("in").join(name), vec![7; 4_000_000]).unwrap();
    }
    shell.root(&["put", "in", "papers", "-r"]);
    let address = ends_in_the_middle(&shell.process.address, 1_000_000);
    for (arguments, signal, code) in [
        (&["get", "papers/a", "out/a"][..], Signal::INT, 130),
        (&["get", "papers", "out", "-r"], Signal::TERM, 143),
    ] {
        let mut child = program()
            .args(arguments)
            .env("AFTERBAY_BLOB_SERVER", &address)
            .env("AFTERBAY_BLOB_KEY_FILE", shell.path(ROOT))
            .current_dir(shell.directory.path())
            .spawn()
            .unwrap();
        let parts = || fs::read_dir(shell.path("out")).map_or(0, Iterator::count);
        Wait::block("all files are begun", || parts() == if code == 130 { 1 } else { 2 });
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(parts(), 0);
    }
}
