//! Agents and a gateway as processes, in a folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use afterbay_test_form::Wait;
use serde_json::Value;
use tempfile::TempDir;

use crate::relay::Relay;
use crate::{plan, program, run};

/// A folder with keys, a certificate, and a link.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) relay: Relay,
    pub(crate) plan: PathBuf,
    /// Columns that are local to a site, as arguments.
    pub(crate) local: &'static [&'static str],
}

/// A process that says where it listens.
pub(crate) struct Process {
    pub(crate) child: Child,
    /// Its first line.
    pub(crate) said: Value,
    /// What it says afterwards.
    pub(crate) out: Option<BufReader<ChildStdout>>,
    /// What it says on the standard error, which a thread reads to its end.
    told: Arc<Mutex<String>>,
    reads: Option<JoinHandle<()>>,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let told = Arc::<Mutex<String>>::default();
        let mine = told.clone();
        let reads = std::thread::spawn(move || {
            let mut line = String::new();
            while err.read_line(&mut line).unwrap() > 0 {
                mine.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        out.read_line(&mut line).unwrap();
        if line.is_empty() {
            reads.join().unwrap();
            panic!("{command:?}: {:?} {}", child.wait(), told.lock().unwrap());
        }
        let said = serde_json::from_str(&line).unwrap();
        Self { child, said, out: Some(out), told, reads: Some(reads) }
    }

    /// Waits until it has said this on the standard error: it looks now and then what there is to say, and what is over by then
    /// is not said.
    pub(crate) fn tells(&self, what: &str) {
        let wait = Wait::until("it says what there is to say");
        loop {
            let told = self.told.lock().unwrap().clone();
            if told.contains(what) {
                return;
            }
            wait.check((what, told));
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end: the code, and what it has said on the standard error.
    pub(crate) fn end(mut self) -> (i32, String) {
        Wait::block("the process ends", || self.has_ended());
        self.reads.take().unwrap().join().unwrap();
        let error = std::mem::take(&mut *self.told.lock().unwrap());
        (self.child.wait().unwrap().code().unwrap_or(-1), error)
    }

    /// Ends it as a service manager does, with code 0: what it has said on the standard error.
    pub(crate) fn terminate(self) -> String {
        self.signal("-TERM");
        let (code, error) = self.end();
        assert_eq!(code, 0, "{error}");
        error
    }

    /// Sends a signal: `-STOP`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// The most memory that it has had, KiB.
    pub(crate) fn memory(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse().ok()
    }

    /// What it says of itself, for programs.
    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.asked(&["--json"])).unwrap()
    }

    /// What it says of itself, for people.
    pub(crate) fn status_text(&self) -> String {
        self.asked(&[])
    }

    /// What it says of itself, for Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let wait = Wait::until("it says how it is");
        loop {
            let at = self.said["admin"].as_str().unwrap();
            match afterbay_edge_monitor::get(at, "/metrics") {
                Ok(metrics) => return metrics,
                Err(error) => wait.check(error),
            }
        }
    }

    /// The command waits some seconds for an answer, which a slow disk may take longer than.
    fn asked(&self, arguments: &[&str]) -> String {
        let wait = Wait::until("it says how it is");
        loop {
            let at = self.said["admin"].as_str().unwrap();
            let (code, out, err) = run(program().arg("status").args(arguments).args(["--at", at]));
            if code == 0 {
                assert_eq!(err, "");
                return out;
            }
            wait.check(err);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Most have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl World {
    pub(crate) fn new(plan_name: &str, sites: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self { folder, relay: Relay::start(), plan: plan(plan_name), local: &[] };
        std::fs::create_dir(world.path("keys")).unwrap();
        let (code, _, err) = run(program()
            .args(["certificate", "--cert"])
            .arg(world.path("server.pem"))
            .arg("--key")
            .arg(world.path("server-key.pem")));
        assert_eq!((code, err.as_str()), (0, ""));
        sites.iter().for_each(|site| world.key(site));
        world
    }

    pub(crate) fn key(&self, site: &str) {
        let (code, _, err) = run(program()
            .args(["key", "create", site, "--out"])
            .arg(self.path(&format!("keys/{site}.key"))));
        assert_eq!((code, err.as_str()), (0, ""));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn gateway_command(&self) -> Command {
        let mut command = program();
        command.args(["gateway", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]);
        command.arg("--tls-cert").arg(self.path("server.pem"));
        command.arg("--tls-key").arg(self.path("server-key.pem"));
        command.arg("--keys").arg(self.path("keys")).arg("--output").arg(self.path("out"));
        command
    }

    /// Starts a gateway, to which the link leads from now on.
    pub(crate) fn gateway(&self, arguments: &[&str]) -> Process {
        let process = Process::start(self.gateway_command().args(arguments));
        self.relay.to(process.said["listen"].as_str().unwrap().parse().unwrap());
        process
    }

    pub(crate) fn agent_command(&self, site: &str) -> Command {
        let mut command = program();
        command.args(["agent", "--site", site, "--linger", "20ms", "--admin", "127.0.0.1:0"]);
        command.arg("--plan").arg(&self.plan).arg("--input").arg(self.input(site)).args(self.local);
        command.arg("--data").arg(self.path(&format!("data-{site}")));
        command.args(["--gateway", &self.relay.address.to_string()]);
        command.args(["--tls-server-name", "localhost"]);
        command.arg("--tls-roots").arg(self.path("server.pem"));
        command.arg("--key-file").arg(self.path(&format!("keys/{site}.key")));
        command
    }

    pub(crate) fn agent(&self, site: &str, arguments: &[&str]) -> Process {
        Process::start(self.agent_command(site).args(arguments))
    }

    pub(crate) fn input(&self, site: &str) -> PathBuf {
        self.path(&format!("{site}.ndjson"))
    }

    pub(crate) fn write(&self, site: &str, lines: &str) {
        std::fs::write(self.input(site), lines).unwrap();
    }

    /// Rows that a site's lower half gives for the whole input, as the gateway writes them, but for the watermark.
    pub(crate) fn expected(&self, site: &str, columns: &[&str]) -> Vec<String> {
        self.expected_with(site, columns, &["--flush", "over"])
    }

    /// The same, of a run with these arguments.
    pub(crate) fn expected_with(
        &self,
        site: &str,
        columns: &[&str],
        arguments: &[&str],
    ) -> Vec<String> {
        let (code, out, err) = run(program()
            .args(["exec", "--site", site, "--plan"])
            .arg(&self.plan)
            .arg("--input")
            .arg(self.input(site))
            .args(self.local)
            .args(arguments));
        assert!(code == 0 && (err.is_empty() || err.contains("late rows were dropped")), "{err}");
        let rows = out.lines().filter_map(|line| line.strip_prefix("{\"row\":"));
        let rows = rows.map(|row| {
            let values: Vec<&serde_json::value::RawValue> =
                serde_json::from_str(row.strip_suffix('}').unwrap()).unwrap();
            let mut text = String::new();
            for (column, value) in columns.iter().zip(values) {
                write!(text, "\"{column}\":{value},").unwrap();
            }
            text
        });
        rows.collect()
    }

    /// What is committed of a topic's partition, and the file's length.
    pub(crate) fn committed(&self, topic: &str) -> (String, usize) {
        let path = self.path(&format!("out/{topic}/00000.ndjson"));
        // The file is read after it: it has what is committed, and perhaps more.
        let Ok(told) = std::fs::read_to_string(path.with_extension("committed")) else {
            return Default::default();
        };
        let mut text = std::fs::read_to_string(&path).unwrap();
        let length = text.len();
        let committed: usize = told.trim_end().parse().unwrap();
        assert!(committed <= length, "{committed} of {length} bytes are committed");
        text.truncate(committed);
        (text, length)
    }

    /// Rows of a topic's partition by site, without our columns, and checks of watermarks. Nothing stays there
    /// uncommitted.
    pub(crate) fn rows(&self, topic: &str) -> BTreeMap<String, Vec<String>> {
        let wait = Wait::until("all of the file is committed");
        let text = loop {
            let (text, length) = self.committed(topic);
            if !text.is_empty() && text.len() == length {
                break text;
            }
            wait.check((text.len(), length));
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut before = 0;
        for line in text.lines() {
            let json: Value = serde_json::from_str(line).unwrap();
            let watermark = json["edge_watermark"].as_i64().unwrap();
            assert!(watermark >= before, "{line}");
            before = watermark;
            if json["edge_row"] == true {
                let own = line.find("\"edge_site\"").unwrap();
                let site = json["edge_site"].as_str().unwrap();
                rows.entry(site.to_owned()).or_default().push(line[1..own].to_owned());
            }
        }
        rows
    }
}

/// Where the columns of the plan `tumble` are.
pub(crate) const TUMBLE: [&str; 6] =
    ["room", "sum$0", "count$1", "count1$2", "max$3", "$slice_end"];

/// Where they are if rooms are local to a site.
pub(crate) const TUMBLE_FINAL: [&str; 6] =
    ["window_start", "window_end", "room", "EXPR$3", "EXPR$4", "EXPR$5"];

/// Readings of ten rooms, some of them late, one a second.
pub(crate) fn readings(from: u64, count: u64, seed: u64) -> String {
    let mut text = String::new();
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    for second in from..from + count {
        let time = second.saturating_sub(next(8));
        let (day, hour) = (1 + time / 86_400, time / 3600 % 24);
        let (minute, second) = (time / 60 % 60, time % 60);
        writeln!(
            text,
            "{{\"room\":{},\"temperature\":{}.{},\"co2\":{},\"ts\":\"2026-01-{day:02} {hour:02}:{minute:02}:{second:02}Z\"}}",
            next(10),
            5 + next(30),
            next(10),
            300 + next(900)
        )
        .unwrap();
    }
    text
}

pub(crate) fn append(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}
