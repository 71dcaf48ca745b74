//! `net status` and `net demote`, of connections that libraries tell of.

use std::os::fd::OwnedFd;
use std::path::Path;

use afterbay_net_proto::{Flow, MESSAGE_BYTES_MAX, Message, Reason, Record, Transport};
use afterbay_net_shm::passing;
use afterbay_test_form::PATIENCE;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::Net;

/// What a program's library says to the agent, by hand: this process is the program.
struct Library(OwnedFd);

impl Library {
    fn of(agent: &Path) -> Library {
        let socket =
            socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .unwrap();
        connect(&socket, &SocketAddrUnix::new(agent.join("agent.sock")).unwrap()).unwrap();
        let library = Library(socket);
        library.say(&Message::Hello { group: "shop".parse().unwrap() });
        assert_eq!(library.hear(), Some(Message::Welcome));
        library.say(&Message::Serve);
        library
    }

    fn say(&self, message: &Message) {
        passing::send(&self.0, &message.encode(), &[]).unwrap();
    }

    fn hear(&self) -> Option<Message> {
        let mut bytes = [0; MESSAGE_BYTES_MAX];
        let (length, _) = passing::receive(&self.0, &mut bytes).ok()?;
        Message::decode(&bytes[..length], 0).ok()
    }

    /// Answers until the agent is gone, with these connections, which go back when they are told to, if they do. Of the questions, it
    /// answers those that it is to, counted from 0.
    fn serve(self, mut records: Vec<Record>, goes_back: bool, answers: fn(u32) -> bool) {
        let mut questions = 0..;
        while let Some(message) = self.hear() {
            match message {
                Message::Report { .. } if !questions.next().is_some_and(answers) => {}
                Message::Report { reference } => {
                    for record in records.iter().copied() {
                        self.say(&Message::Record { reference, record });
                    }
                    self.say(&Message::Reported { reference });
                }
                Message::GoBack { connection } if goes_back => {
                    let meant =
                        |record: &&mut Record| connection == 0 || record.connection == connection;
                    for record in records.iter_mut().filter(meant) {
                        record.out.transport = Transport::Tcp;
                        record.input.transport = Transport::Tcp;
                        record.reason = Some(Reason::Asked);
                    }
                }
                _ => {}
            }
        }
    }
}

fn record(connection: u64) -> Record {
    let flow = Flow { transport: Transport::Ring, tcp_bytes: 100, ring_bytes: 9900 };
    Record {
        connection,
        descriptor: 5,
        local: format!("10.0.0.1:{connection}").parse().unwrap(),
        peer: "10.0.0.2:2000".parse().unwrap(),
        out: flow,
        input: flow,
        waits: 3,
        reason: None,
    }
}

/// With an agent and a program with these connections.
fn with(records: Vec<Record>, goes_back: bool, look: impl FnOnce(&Net)) {
    with_answers(records, goes_back, |_| true, look);
}

/// As [`with`], and the program answers only some questions.
fn with_answers(
    records: Vec<Record>,
    goes_back: bool,
    answers: fn(u32) -> bool,
    look: impl FnOnce(&Net),
) {
    let net = Net::new();
    assert_eq!(net.run(&["agent"]).code, Some(0));
    let library = Library::of(&net.directory());
    std::thread::scope(|scope| {
        let serving = scope.spawn(move || library.serve(records, goes_back, answers));
        look(&net);
        // The agent's end ends it.
        drop(net);
        serving.join().unwrap();
    });
}

fn json(net: &Net) -> serde_json::Value {
    let said = net.run(&["status", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn status_has_what_programs_say() {
    let stays = Record { reason: Some(Reason::NoOffer), ..record(8) };
    with(vec![record(7), stays], true, |net| {
        let report = json(net);
        let process = std::process::id();
        assert_eq!((&report["programs"], &report["silent"]), (&1.into(), &0.into()));
        assert_eq!(
            (&report["ring_bytes"], &report["tcp_bytes"]),
            (&(4 * 9900).into(), &400.into())
        );
        let connection = &report["connections"][0];
        assert_eq!(connection["id"], format!("{process}/7"));
        assert_eq!(connection["process"], process);
        assert_eq!(connection["local"], "10.0.0.1:7");
        assert_eq!(connection["out"]["transport"], "ring");
        assert_eq!(connection["reason"], serde_json::Value::Null);
        let text = net.run(&["status"]).out;
        assert!(text.contains("\n  nobody offered rings: "), "{text}");
        assert!(text.contains(&format!("{process}/7 ")), "{text}");
    });
}

#[test]
fn connections_go_back_when_somebody_wants_it() {
    with(vec![record(7), record(8)], true, |net| {
        let process = std::process::id();
        let said = net.run(&["demote", &format!("{process}/8")]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.out.starts_with("1 connection of "), "{said:?}");
        let of = |at: usize| json(net)["connections"][at]["out"]["transport"].clone();
        assert_eq!((of(0), of(1)), ("ring".into(), "tcp".into()));
        assert!(net.run(&["demote", &process.to_string()]).out.starts_with("2 connections of "));
        assert_eq!(of(0), "tcp");
        assert_eq!(json(net)["connections"][0]["reason"], "somebody asked for it");
    });
}

#[test]
fn what_cannot_go_back_is_told() {
    with(vec![record(7)], false, |net| {
        let process = std::process::id();
        net.run(&["demote", "--timeout", "0", &process.to_string()])
            .failed(1, "1 connection not on TCP yet");
        net.run(&["demote", &format!("{process}/9")]).failed(1, "knows no connection 9 of program");
        net.run(&["demote", "1"])
            .failed(1, "knows no program 1 with connections; 'afterbay net status' lists");
        net.run(&["demote", "all"])
            .failed(2, "neither a process id (4711) nor a connection (4711/3)");
    });
}

/// It may be stopped, with its connections in memory.
#[test]
fn a_program_that_says_nothing_is_not_on_tcp_yet() {
    let process = std::process::id().to_string();
    let demote = |net: &Net, timeout: &str| {
        net.run(&["demote", "--patience", "1", "--timeout", timeout, &process])
    };
    with_answers(
        vec![record(7)],
        false,
        |question| question == 0,
        |net| demote(net, "0").failed(1, " not on TCP yet: it is told"),
    );
    // What it says later counts.
    with_answers(
        vec![record(7), record(8)],
        true,
        |question| question > 0,
        |net| {
            let said = demote(net, &PATIENCE.as_secs().to_string());
            assert!(said.out.starts_with("2 connections of "), "{said:?}");
        },
    );
}

#[test]
fn without_an_agent_it_is_said_what_to_do() {
    let net = Net::new();
    for arguments in [&["status"][..], &["status", "--json"], &["demote", "1"]] {
        net.run(arguments).failed(1, "no agent runs in");
        net.run(arguments).failed(1, "'afterbay net run -- PROGRAM' starts one");
    }
}
