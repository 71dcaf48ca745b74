//! Agents: one for a place, however many ask; ended, killed, and refused.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::{Child, Command, Stdio};

use afterbay_test_form::Wait;
use rustix::process::{Signal, geteuid};

use crate::{Net, end};

/// Processes of agents in this directory.
fn agents(net: &Net) -> HashSet<i32> {
    let of = |entry: fs::DirEntry| {
        let process: i32 = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let words: Vec<_> = line.split('\0').collect();
        let directory = net.directory();
        let is = words.contains(&"--foreground") && words.contains(&directory.to_str()?);
        is.then_some(process)
    };
    fs::read_dir("/proc").unwrap().filter_map(|entry| of(entry.ok()?)).collect()
}

#[test]
fn many_starts_at_once_make_one_agent() {
    let net = Net::new();
    let running: Vec<_> = (0..12).map(|_| net.command(&["run", "true"]).spawn().unwrap()).collect();
    for mut program in running {
        assert!(program.wait().unwrap().success());
    }
    assert_eq!(agents(&net), HashSet::from([net.agent().unwrap()]));
    assert_eq!(fs::metadata(net.directory()).unwrap().mode() & 0o7777, 0o700);
}

#[test]
fn an_agent_holds_nothing_of_who_started_it() {
    let net = Net::new();
    let mut program = net
        .command(&["run", "true"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The pipes end with the program.
    let mut text = String::new();
    program.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    program.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(program.wait().unwrap().success());
    assert_eq!(text, "");
    let agent = net.agent().unwrap();
    let read = |name: &str| fs::read_link(format!("/proc/{agent}/{name}")).unwrap();
    assert_eq!(read("cwd").to_str(), Some("/"));
    assert_eq!(read("fd/0").to_str(), Some("/dev/null"));
    assert_eq!(read("fd/1").to_str(), Some("/dev/null"));
    assert_eq!(read("fd/2"), net.directory().join("agent.log"));
    // It leads a session without a terminal.
    let stat = fs::read_to_string(format!("/proc/{agent}/stat")).unwrap();
    let after_name: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    assert_eq!((after_name[3], after_name[4]), (agent.to_string().as_str(), "0"));
}

#[test]
fn a_killed_agent_is_replaced() {
    let net = Net::new();
    assert_eq!(net.run(&["agent"]).code, Some(0));
    let first = net.agent().unwrap();
    end(first, Signal::KILL);
    Wait::block("the agent is dead", || net.agent().is_none());
    assert!(net.directory().join("agent.sock").exists());
    net.run(&["status"]).failed(1, "no agent runs in");
    assert_eq!(net.run(&["run", "true"]).code, Some(0));
    assert_ne!(net.agent().unwrap(), first);
}

#[test]
fn an_agent_holds_no_file_that_its_starter_had_open() {
    let net = Net::new();
    let kept = net.folder.path().join("kept");
    let script = "exec 9>\"$1\"; shift; exec \"$@\"";
    let run = net.command(&["run", "true"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(&kept).arg(run.get_program()).args(run.get_args());
    for (name, value) in run.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        shell.env(name, value);
    }
    assert!(shell.status().unwrap().success());
    let agent = net.agent().unwrap();
    let open = fs::read_dir(format!("/proc/{agent}/fd")).unwrap();
    let open: Vec<_> = open.filter_map(|fd| fs::read_link(fd.unwrap().path()).ok()).collect();
    assert!(kept.exists() && !open.contains(&kept), "{open:?}");
}

fn in_foreground(net: &Net) -> Child {
    let mut command = net.command(&["agent", "--foreground"]);
    let agent = command.stderr(Stdio::piped()).spawn().unwrap();
    Wait::block("the agent listens", || net.agent().is_some());
    agent
}

#[test]
fn an_agent_ends_when_it_is_told_to() {
    let net = Net::new();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut agent = in_foreground(&net);
        assert_eq!(net.agent(), Some(agent.id().cast_signed()));
        end(agent.id().cast_signed(), signal);
        assert!(agent.wait().unwrap().success());
        let mut logs = String::new();
        agent.stderr.take().unwrap().read_to_string(&mut logs).unwrap();
        assert!(logs.contains("listening") && logs.contains("ended"), "{logs}");
        assert!(!net.directory().join("agent.sock").exists());
    }
}

#[test]
fn a_place_has_one_agent() {
    let net = Net::new();
    let mut agent = in_foreground(&net);
    let refused =
        format!("an agent runs in {} already: process {}", net.directory().display(), agent.id());
    net.run(&["agent"]).failed(1, &refused);
    net.run(&["agent", "--foreground"]).failed(1, &refused);
    assert_eq!(net.run(&["run", "true"]).code, Some(0));
    end(agent.id().cast_signed(), Signal::TERM);
    assert!(agent.wait().unwrap().success());
}

#[test]
fn a_place_of_somebody_else_is_refused() {
    let net = Net::new();
    fs::create_dir(net.directory()).unwrap();
    fs::set_permissions(net.directory(), fs::Permissions::from_mode(0o770)).unwrap();
    let open = format!(
        "is open to other users (mode 0770); chmod 0700 '{}' closes it",
        net.directory().display()
    );
    for (arguments, code) in [
        (&["run", "true"][..], 125),
        (&["status"], 1),
        (&["agent"], 1),
        (&["agent", "--foreground"], 1),
    ] {
        net.run(arguments).failed(code, &open);
    }
    if geteuid().is_root() {
        fs::set_permissions(net.directory(), fs::Permissions::from_mode(0o700)).unwrap();
        chown(net.directory(), Some(12_345), None).unwrap();
        net.run(&["run", "true"])
            .failed(125, "belongs to user 12345, and this process is user 0's");
    } else {
        net.run(&["run", "--agent", "/etc", "true"]).failed(125, "belongs to user 0");
    }
    fs::remove_dir(net.directory()).unwrap();
    std::os::unix::fs::symlink("/tmp", net.directory()).unwrap();
    net.run(&["run", "true"]).failed(125, "is no directory");
    fs::remove_file(net.directory()).unwrap();
    assert!(agents(&net).is_empty());
}

#[test]
fn a_place_whose_name_is_too_long_is_refused() {
    let net = Net::new();
    let long = net.folder.path().join("x".repeat(100));
    net.run(&["run", "--agent", long.to_str().unwrap(), "true"]).failed(125, "at most 107 bytes");
}

/// A whole answer: a client is let go after five seconds, and is told after two that the agent does not answer.
fn page(address: &str, path: &str) -> String {
    let wait = Wait::until("there is a page");
    loop {
        let said = asked(address, path);
        match said {
            Ok(said) if is_whole(&said) && !said.starts_with("HTTP/1.1 503 ") => return said,
            said => wait.check(said),
        }
    }
}

fn is_whole(said: &str) -> bool {
    let Some((head, page)) = said.split_once("\r\n\r\n") else { return false };
    let mut lines = head.lines();
    lines.any(|line| line.strip_prefix("Content-Length: ") == Some(&page.len().to_string()))
}

fn asked(address: &str, path: &str) -> std::io::Result<String> {
    use std::io::Write;
    let mut client = TcpStream::connect(address)?;
    write!(client, "GET {path} HTTP/1.1\r\nHost: here\r\n\r\n")?;
    hear(client)
}

fn hear(mut client: TcpStream) -> std::io::Result<String> {
    let mut said = String::new();
    client.read_to_string(&mut said)?;
    Ok(said)
}

/// An agent with metrics, and their address.
fn with_metrics(net: &Net) -> (Child, String) {
    let mut command = net.command(&["agent", "--foreground", "--metrics", "127.0.0.1:0"]);
    let mut agent = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut logs = BufReader::new(agent.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("metrics") {
        line.clear();
        assert!(logs.read_line(&mut line).unwrap() > 0, "it has ended");
    }
    // Whatever more it says.
    std::thread::spawn(move || std::io::copy(&mut logs, &mut std::io::sink()));
    let (_, port) = line.rsplit_once(':').unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    Wait::block("the agent listens", || net.agent().is_some());
    (agent, format!("127.0.0.1:{port}"))
}

#[test]
fn metrics_are_what_prometheus_reads() {
    let net = Net::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = net.run(&["agent", "--metrics", &address]);
    refused.failed(1, &format!("--metrics {address}: "));
    let (mut agent, address) = with_metrics(&net);
    let said = page(&address, "/metrics");
    assert!(said.starts_with("HTTP/1.1 200 OK\r\n"), "{said}");
    let (_, lines) = said.split_once("\r\n\r\n").unwrap();
    let values: Vec<_> = lines.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(values.contains(&"afterbay_net_offers_total 0"), "{values:?}");
    assert!(values.contains(&"afterbay_net_programs 0"), "{values:?}");
    assert!(page(&address, "/other").starts_with("HTTP/1.1 404 "));
    end(agent.id().cast_signed(), Signal::TERM);
    assert!(agent.wait().unwrap().success());
}

/// Clients that say nothing, or say it slowly, are in nobody's way, and are let go.
#[test]
fn metrics_wait_for_nobody() {
    use std::io::Write;
    let net = Net::new();
    let (mut agent, address) = with_metrics(&net);
    let slow = || {
        let mut client = TcpStream::connect(&address).unwrap();
        client.write_all(b"G").unwrap();
        client
    };
    let is_page = |said: std::io::Result<String>| {
        said.is_ok_and(|said| said.starts_with("HTTP/1.1 200 OK\r\n"))
    };
    // On a busy machine, the slow one may be let go before it goes on.
    Wait::block("one is answered while another one has said a letter", || {
        let mut slow = slow();
        let is_answered = is_page(asked(&address, "/metrics"));
        let goes_on = slow.write_all(b"ET /metrics HTTP/1.1\r\n\r\n");
        is_answered && is_page(goes_on.and_then(|()| hear(slow)))
    });
    // More than are served at once.
    let clients: Vec<_> = (0..20).map(|_| slow()).collect();
    Wait::block("those that are let go have made room", || is_page(asked(&address, "/metrics")));
    for mut client in clients {
        // Nothing, or that it is one too many.
        let mut said = Vec::new();
        let _ = client.read_to_end(&mut said);
        assert!(said.is_empty() || said.starts_with(b"HTTP/1.1 503 "), "{said:?}");
    }
    end(agent.id().cast_signed(), Signal::TERM);
    assert!(agent.wait().unwrap().success());
}
