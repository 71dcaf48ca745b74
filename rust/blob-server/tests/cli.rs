//! The program from start to end, as a person uses it.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

use afterbay_blob_server::AccessKey;
use afterbay_test_form::Wait;

use crate::common::{Process, content, program};
use crate::cycles::s3::{Ask, S3};

struct Shell {
    directory: tempfile::TempDir,
    process: Process,
}

impl Shell {
    fn new(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let process = Process::start(&directory.path().join("data"), arguments);
        Shell { directory, process }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn run_with(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = program()
            .args(arguments)
            .env("AFTERBAY_BLOB_SERVER", &self.process.address)
            .env("AFTERBAY_BLOB_KEY_FILE", self.path("data/root-key"))
            .current_dir(self.directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Who does not read it has a reason.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// The standard output; fails with the standard error if the exit code is another one.
    fn run(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run_with(arguments, b"");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        if code == 0 { String::from_utf8(output.stdout).unwrap() } else { error.into_owned() }
    }
}

#[test]
fn files_and_pipes() {
    let shell = Shell::new(&["--admin", "none"]);
    let large = content(1, 9_000_000);
    std::fs::write(shell.path("large"), &large).unwrap();
    let id = shell.run(0, &["put", "large", "--no-name", "--meta", "colour=green", "--ttl", "1h"]);
    let id = id.trim();
    shell.run(0, &["get", id, "copy"]);
    assert!(std::fs::read(shell.path("copy")).unwrap() == large);
    assert!(!shell.path("copy.part").exists());
    let piped = shell.run_with(&["get", id], b"");
    assert!(piped.status.success() && piped.stdout == large);
    let part = shell.run_with(&["get", "--range", "5000000-5000009", id, "-"], b"");
    assert_eq!(part.stdout, large[5_000_000..5_000_010]);
    let last = shell.run_with(&["get", "--range", "-3", id, "-"], b"");
    assert_eq!(last.stdout, large[large.len() - 3..]);
    let stat = shell.run(0, &["stat", id]);
    assert!(stat.contains("9000000") && stat.contains("colour: green"), "{stat}");
    let stat: serde_json::Value =
        serde_json::from_str(&shell.run(0, &["stat", id, "--json"])).unwrap();
    assert_eq!(
        (stat["bytes"].as_u64(), stat["meta"]["colour"].as_str()),
        (Some(9_000_000), Some("green"))
    );
    assert!(stat["expires"].is_string());
    let piped = shell.run_with(&["put", "-", "--no-name", "--json"], b"from a pipe");
    let piped: serde_json::Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!(piped["bytes"], 11);
    assert_eq!(shell.run(0, &["get", piped["id"].as_str().unwrap(), "-"]), "from a pipe");
    shell.run(0, &["delete", id]);
    let gone = shell.run(1, &["get", id, "copy2"]);
    assert!(gone.contains("deleted"), "{gone}");
    assert!(!shell.path("copy2").exists() && !shell.path("copy2.part").exists());
    shell.run(0, &["undelete", id]);
    assert!(shell.run(1, &["undelete", id]).contains("not deleted"));
    shell.run(0, &["get", id, "copy"]);
    let status = shell.run(0, &["status", "--interval", "10ms"]);
    assert!(status.contains("read-write") && status.contains("put"), "{status}");
    let status: serde_json::Value =
        serde_json::from_str(&shell.run(0, &["status", "--json"])).unwrap();
    assert_eq!(status["node"]["disks"][0]["partitions"][0]["state"], "read-write");
}

#[test]
fn names() {
    let mut shell = Shell::new(&["--admin", "none"]);
    let content = content(3, 5_000_000);
    std::fs::write(shell.path("report.pdf"), &content).unwrap();
    let put =
        ["put", "report.pdf", "papers/2026/", "--content-type", "application/pdf", "--meta", "a=b"];
    assert_eq!(shell.run(0, &put), "papers/2026/report.pdf\n");
    shell.run_with(&["put", "-", "papers/note"], b"short");
    assert!(shell.run_with(&["get", "papers/2026/report.pdf"], b"").stdout == content);
    assert_eq!(shell.run(0, &["get", "papers/note", "-"]), "short");
    assert_eq!(shell.run(0, &["get", "--range", "1-2", "papers/note", "-"]), "ho");
    let stat = shell.run(0, &["stat", "papers/2026/report.pdf"]);
    assert!(stat.contains("application/pdf") && stat.contains("a: b"), "{stat}");
    assert!(shell.run(0, &["ls"]).contains("papers/"));
    let listed = |shell: &Shell, target: &str| -> Vec<String> {
        let lines = shell.run(0, &["ls", target, "--json"]);
        let name =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["name"].clone();
        lines.lines().map(|line| name(line).as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(&shell, "papers"), ["papers/2026/report.pdf", "papers/note"]);
    assert_eq!(listed(&shell, "papers/2"), ["papers/2026/report.pdf"]);
    shell.run_with(&["put", "-", "papers/note"], b"another");
    shell.run(0, &["delete", "papers/2026/report.pdf"]);
    assert!(shell.run(1, &["get", "papers/2026/report.pdf", "-"]).contains("no such name"));
    assert!(shell.run(1, &["ls", "nobucket"]).contains("nobucket"));
    assert!(shell.run(1, &["put", "report.pdf", "Bad_Bucket/x"]).contains("lower-case"));
    let expires = shell.run(2, &["put", "report.pdf", "papers/x", "--ttl", "1h"]);
    assert!(expires.contains("does not expire: ") && expires.contains("--no-name"), "{expires}");
    // S3 has the same names, and wants a signature.
    let s3 = shell.process.s3.clone().unwrap();
    assert!(http(&format!("{s3}/papers/note")).contains("403"));
    shell.process.child.kill().unwrap();
    shell.process.child.wait().unwrap();
    let data = shell.path("data");
    shell.process = Process::start(&data, &["--admin", "none"]);
    assert_eq!(shell.run(0, &["get", "papers/note", "-"]), "another");
    assert_eq!(listed(&shell, "papers"), ["papers/note"]);
}

/// What the help of 'undelete' says about names.
#[test]
fn the_content_of_a_deleted_name_comes_back_by_its_id() {
    let mut shell = Shell::new(&["--admin", "none", "--garbage-delay", "1h"]);
    shell.run_with(&["put", "-", "papers/note"], b"precious");
    let stat: serde_json::Value =
        serde_json::from_str(&shell.run(0, &["stat", "papers/note", "--json"])).unwrap();
    let id = stat["id"].as_str().unwrap();
    shell.run(0, &["delete", "papers/note"]);
    assert_eq!(shell.run(0, &["get", id, "-"]), "precious", "nobody has collected it yet");
    // Also if an id stands before it: nothing is done then.
    let refused = shell.run(2, &["undelete", id, "papers/note"]);
    assert!(refused.contains("papers/note: a name cannot be undeleted"), "{refused}");
    assert!(refused.contains("'undelete ID'"), "{refused}");
    shell.process.terminate();
    shell.process.child.wait().unwrap();
    let data = shell.path("data");
    shell.process = Process::start(&data, &["--admin", "none", "--garbage-delay", "1ms"]);
    Wait::block("it is collected", || !shell.run_with(&["stat", id], b"").status.success());
    shell.run(0, &["undelete", id]);
    assert_eq!(shell.run(0, &["get", id, "-"]), "precious");
}

#[test]
fn wrong_usage_and_failures_have_exit_codes_of_their_own() {
    let shell = Shell::new(&["--admin", "none"]);
    for arguments in [
        &["put"][..],
        &["put", "x"],
        &["put", "x", "noslash"],
        &["get", "neither"],
        &["get", "--range", "x", "a/b", "-"],
        &["fly"],
        &["serve"],
        &["serve", "--data", "x", "--connections", "0"],
        &["serve", "--data", "x", "--writable-partitions", "0"],
        &["serve", "--data", "x", "--segment-size", "8GiB"],
    ] {
        shell.run(2, arguments);
    }
    assert!(shell.run(1, &["put", "nofile", "--no-name"]).contains("nofile"));
    assert!(shell.run(2, &["put", ".", "--no-name"]).contains("--recursive"));
    let unknown = "00000000000000ab-0123456789abcdef0123456789abcdef";
    assert!(shell.run(1, &["get", unknown, "-"]).contains("else the id is wrong"));
    let nobody = shell.run(1, &["stat", unknown, "--server", "127.0.0.1:1"]);
    assert!(nobody.contains("blob serve"), "{nobody}");
    let output = program().args(["status"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--key-file"));
    let help = shell.run(0, &["put", "--help"]);
    assert!(help.contains("Examples:"), "{help}");
}

#[test]
fn a_server_starts_once_says_what_it_made_and_stops_when_asked() {
    // Whoever runs a server already has the default ports; tests use none of them.
    let _of_another =
        [7480, 7481, 7482].map(|port| std::net::TcpListener::bind(("127.0.0.1", port)));
    let mut shell = Shell::new(&[]);
    let mode = std::fs::metadata(shell.path("data/root-key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = Process::command(&shell.path("data"), &[]).output().unwrap();
    let error = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1), "{error}");
    assert!(error.contains("in use by another server"), "{error}");
    let id = shell.run_with(&["put", "-", "--no-name"], b"kept");
    let id = String::from_utf8(id.stdout).unwrap();
    let metrics = http(shell.process.admin.as_deref().unwrap());
    for name in [
        "afterbay_blob_requests_total{operation=\"put\",result=\"ok\"} 1",
        "afterbay_blob_request_seconds_bucket",
        "afterbay_blob_write_groups_total",
        "afterbay_blob_disk_available_bytes",
    ] {
        assert!(metrics.contains(name), "{name} is missing in {metrics}");
    }
    let health = shell.process.admin.as_deref().unwrap().replace("/metrics", "/healthz");
    assert!(http(&health).ends_with("ok\n"));
    shell.process.terminate();
    assert_eq!(shell.process.child.wait().unwrap().code(), Some(0));
    let data = shell.path("data");
    shell.process = Process::start(&data, &["--admin", "none"]);
    assert_eq!(shell.run(0, &["get", id.trim(), "-"]), "kept");
}

/// All that is logged, at the finest level, while keys are made and used, rightly and wrongly, by both protocols.
fn log_of(format: &str) -> (String, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let (data, log) = (directory.path().join("data"), directory.path().join("log"));
    let arguments = ["--admin", "none", "--log-format", format];
    let mut command = Process::command(&data, &arguments);
    command.env("RUST_LOG", "trace").stderr(std::fs::File::create(&log).unwrap());
    let mut process = Process::wait(&data, &mut command);
    let run = |arguments: &[&str], secret: Option<&str>| {
        let mut command = program();
        command.args(arguments).env("AFTERBAY_BLOB_SERVER", &process.address);
        match secret {
            None => command.env("AFTERBAY_BLOB_KEY_FILE", data.join("root-key")),
            Some(secret) => command
                .env("AFTERBAY_BLOB_ACCESS_KEY", &process.key.access)
                .env("AFTERBAY_BLOB_SECRET_KEY", secret),
        };
        command.output().unwrap()
    };
    let made = run(&["key", "create", "ann", "--bucket", "papers=read,write", "--json"], None);
    let made: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    let user = AccessKey { access: text("access_key"), secret: text("secret_key") };
    // Not the log itself, which grows while it is put.
    let file = directory.path().join("file");
    std::fs::copy(&log, &file).unwrap();
    assert!(run(&["put", file.to_str().unwrap(), "papers/log"], None).status.success());
    assert!(!run(&["ls"], Some("a-wrong-secret-of-the-right-length")).status.success());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let endpoint = process.s3.as_ref().unwrap();
        let status =
            async |key: &AccessKey, ask: Ask| S3::new(endpoint, key).ask(ask).await.unwrap().status;
        assert_eq!(status(&user, Ask::new("PUT", "/papers/a").body("content")).await, 200);
        assert_eq!(status(&process.key, Ask::new("GET", "/papers/a")).await, 200);
        assert_eq!(status(&user, Ask::new("GET", "/papers/none")).await, 404);
        let wrong = AccessKey { secret: process.key.secret.clone(), ..user.clone() };
        assert_eq!(status(&wrong, Ask::new("GET", "/papers/a")).await, 403);
    });
    process.terminate();
    assert_eq!(process.child.wait().unwrap().code(), Some(0));
    let secrets = vec![user.secret, process.key.secret.clone()];
    (std::fs::read_to_string(log).unwrap(), secrets)
}

#[test]
fn a_log_in_json_is_one_object_a_line() {
    let (log, secrets) = log_of("json");
    let mut messages = Vec::new();
    for line in log.lines() {
        let object: serde_json::Value =
            serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let text = |name: &str| object[name].as_str().unwrap_or_else(|| panic!("{name}: {line}"));
        let time = text("timestamp");
        assert!(time.len() >= 20 && time.contains('T') && time.ends_with('Z'), "{line}");
        assert!(["TRACE", "DEBUG", "INFO", "WARN", "ERROR"].contains(&text("level")), "{line}");
        assert!(!text("target").is_empty(), "{line}");
        // Some of the libraries' lines have fields alone.
        if text("target").starts_with("afterbay_") {
            assert!(!text("message").is_empty(), "{line}");
            messages.push((text("level").to_owned(), text("message").to_owned(), object.clone()));
        }
    }
    let find = |level: &str, part: &str| {
        let found = messages.iter().find(|(l, message, _)| l == level && message.contains(part));
        &found.unwrap_or_else(|| panic!("{level}, {part}")).2
    };
    find("INFO", "shut down");
    find("WARN", "could not prove");
    let answered = find("DEBUG", "answered");
    for field in ["id", "operation", "status"] {
        assert!(!answered[field].is_null(), "{field}: {answered}");
    }
    for secret in secrets {
        assert!(!log.contains(&secret));
    }
}

#[test]
fn secrets_are_not_logged() {
    let (log, secrets) = log_of("text");
    assert!(log.contains("could not prove") && log.contains("TRACE"));
    for secret in secrets {
        assert!(!log.contains(&secret));
    }
}

/// What a URL answers, with the head.
pub(crate) fn http(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    answer
}
