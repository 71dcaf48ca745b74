//! Which connections there are, and the wish that they go back: questions that libraries answer.

use std::os::fd::OwnedFd;
use std::time::Duration;

use afterbay_net_agent::Status;
use afterbay_net_proto::{Flow, MESSAGE_BYTES_MAX, Message, Reason, Record, Transport};
use afterbay_net_shm::passing;
use afterbay_test_form::PATIENCE;

use crate::agent::{Running, name, raw};

/// What a library says to its agent, by hand.
struct Library(OwnedFd);

impl Library {
    fn of(agent: &Running) -> Self {
        let library = Library(raw(&agent.path()));
        library.say(Message::Hello { group: name() });
        assert_eq!(library.hear(), Message::Welcome);
        library.say(Message::Serve);
        library
    }

    fn say(&self, message: Message) {
        passing::send(&self.0, &message.encode(), &[]).unwrap();
    }

    fn hear(&self) -> Message {
        let mut bytes = [0; MESSAGE_BYTES_MAX];
        let (length, _) = passing::receive(&self.0, &mut bytes).unwrap();
        Message::decode(&bytes[..length], 0).unwrap()
    }

    fn hear_question(&self) -> u64 {
        let Message::Report { reference } = self.hear() else { panic!("a question") };
        reference
    }
}

fn record(connection: u64) -> Record {
    let flow = Flow { transport: Transport::Ring, tcp_bytes: 10, ring_bytes: 1 << 40 };
    Record {
        connection,
        descriptor: 5,
        local: "10.0.0.1:1000".parse().unwrap(),
        peer: "10.0.0.2:2000".parse().unwrap(),
        out: flow,
        input: Flow { transport: Transport::Tcp, ..flow },
        waits: 3,
        reason: Some(Reason::Unused),
    }
}

/// Asks, while libraries answer as they are told to.
fn ask(agent: &Running, patience: Duration, answer: impl FnOnce()) -> Status {
    let mut asker = agent.client();
    std::thread::scope(|scope| {
        let asking = scope.spawn(move || asker.status(patience).unwrap());
        answer();
        asking.join().unwrap()
    })
}

#[test]
fn libraries_say_which_connections_there_are() {
    let agent = Running::start();
    let (first, second) = (Library::of(&agent), Library::of(&agent));
    let pid = std::process::id();
    // More than a socket has room for, so that the agent waits for who asked.
    const CONNECTIONS: u64 = 3000;
    let status = ask(&agent, PATIENCE, || {
        let (question, other) = (first.hear_question(), second.hear_question());
        assert_eq!(question, other);
        for connection in 1..=CONNECTIONS {
            first.say(Message::Record { reference: question, record: record(connection) });
        }
        // What nobody asked for is nobody's.
        second.say(Message::Record { reference: question + 1, record: record(77) });
        second.say(Message::Reported { reference: question });
        second.say(Message::Record { reference: question, record: record(78) });
        first.say(Message::Reported { reference: question });
    });
    let connections = (1..=CONNECTIONS).map(|connection| (pid, record(connection))).collect();
    assert_eq!(status, Status { connections, programs: 2, silent: 0 });
}

#[test]
fn who_is_gone_or_says_nothing_is_not_waited_for() {
    let agent = Running::start();
    let (first, second) = (Library::of(&agent), Library::of(&agent));
    let status = ask(&agent, PATIENCE, || {
        let question = first.hear_question();
        second.hear_question();
        first.say(Message::Record { reference: question, record: record(1) });
        drop((first, second));
    });
    assert_eq!((status.connections.len(), status.programs, status.silent), (1, 2, 0));
    let third = Library::of(&agent);
    let status = ask(&agent, Duration::from_millis(50), || {
        third.hear_question();
    });
    assert_eq!((status.programs, status.silent), (1, 1));
}

#[test]
fn the_wish_to_go_back_reaches_the_program() {
    let agent = Running::start();
    let library = Library::of(&agent);
    let mut asker = agent.client();
    let pid = std::process::id();
    for (of, connection, told) in [(pid, 7, 1), (0, 0, 1), (pid + 1, 7, 0)] {
        assert_eq!(asker.demote(of, connection).unwrap(), told);
        if told > 0 {
            assert_eq!(library.hear(), Message::GoBack { connection });
        }
    }
}
