//! What `status` says: connections as people and programs read them.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::net::SocketAddr;

use afterbay_net_agent::Status;
use afterbay_net_proto::{Flow, Record, Transport};
use afterbay_values::{counted, show_bytes};
use serde::Serialize;

/// All of it.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    agent: AgentReport,
    /// Programs that run with the library.
    programs: u32,
    /// Programs that did not answer: stopped, or too busy.
    pub(crate) silent: u32,
    /// Of all connections, each byte counted once where it was written.
    tcp_bytes: u64,
    ring_bytes: u64,
    pub(crate) connections: Vec<Connection>,
}

#[derive(Debug, Serialize)]
struct AgentReport {
    directory: String,
    process: i32,
}

/// A connection, as one of its programs has it: of two programs with the library, each has one.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Connection {
    /// What `demote` takes.
    id: String,
    pub(crate) process: u32,
    pub(crate) program: String,
    #[serde(skip)]
    pub(crate) number: u64,
    descriptor: i32,
    local: SocketAddr,
    peer: SocketAddr,
    /// The other end's `id`, if it has the library.
    other_end: Option<String>,
    pub(crate) out: Direction,
    pub(crate) r#in: Direction,
    /// How often a thread waited for the rings.
    waits: u64,
    /// Why not both directions are in rings.
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Direction {
    pub(crate) transport: &'static str,
    pub(crate) tcp_bytes: u64,
    pub(crate) ring_bytes: u64,
}

impl Direction {
    fn of(flow: &Flow) -> Self {
        let transport = match flow.transport {
            Transport::Tcp => "tcp",
            Transport::Ring => "ring",
        };
        Direction { transport, tcp_bytes: flow.tcp_bytes, ring_bytes: flow.ring_bytes }
    }
}

impl Connection {
    fn of(process: u32, program: &str, record: &Record, other_end: Option<String>) -> Self {
        Connection {
            id: id(process, record),
            process,
            program: program.to_owned(),
            number: record.connection,
            descriptor: record.descriptor,
            local: record.local,
            peer: record.peer,
            other_end,
            out: Direction::of(&record.out),
            r#in: Direction::of(&record.input),
            waits: record.waits,
            reason: record.reason.map(|reason| reason.to_string()),
        }
    }

    /// Whether nothing of it goes through memory.
    pub(crate) fn is_on_tcp(&self) -> bool {
        [&self.out, &self.r#in].iter().all(|direction| direction.transport == "tcp")
    }
}

fn id(process: u32, record: &Record) -> String {
    format!("{process}/{}", record.connection)
}

impl Report {
    pub(crate) fn new(directory: String, process: i32, status: &Status) -> Self {
        let mut names = HashMap::new();
        let mut ends: HashMap<_, Vec<_>> = HashMap::new();
        for (process, record) in &status.connections {
            names.entry(*process).or_insert_with(|| name_of(*process));
            ends.entry((record.local, record.peer)).or_default().push(id(*process, record));
        }
        let connections = status.connections.iter().map(|(process, record)| {
            // Two network namespaces may have the same addresses.
            let other_end = match ends.get(&(record.peer, record.local)).map(Vec::as_slice) {
                Some([other]) => Some(other.clone()),
                _ => None,
            };
            Connection::of(*process, &names[process], record, other_end)
        });
        let connections: Vec<_> = connections.collect();
        let sum = |of: fn(&Direction) -> u64| {
            let written = connections.iter().map(|connection| of(&connection.out)).sum::<u64>();
            // What the other end has written, if it does not say so itself.
            let alone = connections.iter().filter(|connection| connection.other_end.is_none());
            written + alone.map(|connection| of(&connection.r#in)).sum::<u64>()
        };
        Report {
            agent: AgentReport { directory, process },
            programs: status.programs,
            silent: status.silent,
            tcp_bytes: sum(|direction| direction.tcp_bytes),
            ring_bytes: sum(|direction| direction.ring_bytes),
            connections,
        }
    }

    /// For people: a line for each end, and why it is on TCP.
    pub(crate) fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        writeln!(text, "agent {} in {}", self.agent.process, self.agent.directory)?;
        writeln!(
            text,
            "{} with {}; {} written through memory, {} by TCP",
            counted(self.programs.into(), "program"),
            counted(self.connections.len() as u64, "end of a connection")
                .replace("end of a connections", "ends of connections"),
            show_bytes(self.ring_bytes),
            show_bytes(self.tcp_bytes)
        )?;
        if self.silent > 0 {
            let programs = counted(self.silent.into(), "program");
            writeln!(
                text,
                "{programs} did not answer (stopped, or too busy); what they have is not here"
            )?;
        }
        if self.connections.is_empty() {
            return Ok(text);
        }
        let head = [
            "CONNECTION",
            "PROGRAM",
            "OWN ADDRESS",
            "OTHER END",
            "OUT",
            "MEMORY",
            "TCP",
            "IN",
            "MEMORY",
            "TCP",
            "WAITS",
        ];
        let rows: Vec<_> = self.connections.iter().map(Connection::row).collect();
        let widths: Vec<_> = (0..head.len())
            .map(|column| {
                rows.iter().map(|row| row[column].len()).max().unwrap_or(0).max(head[column].len())
            })
            .collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells = cells.zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        writeln!(text, "\n{}", line(&mut head.into_iter()))?;
        for (row, connection) in rows.iter().zip(&self.connections) {
            writeln!(text, "{}", line(&mut row.iter().map(String::as_str)))?;
            if let Some(reason) = &connection.reason {
                writeln!(text, "  {reason}")?;
            }
        }
        Ok(text)
    }
}

impl Connection {
    fn row(&self) -> [String; 11] {
        let Connection { out, r#in: input, .. } = self;
        [
            self.id.clone(),
            self.program.clone(),
            self.local.to_string(),
            self.peer.to_string(),
            out.transport.to_owned(),
            show_bytes(out.ring_bytes),
            show_bytes(out.tcp_bytes),
            input.transport.to_owned(),
            show_bytes(input.ring_bytes),
            show_bytes(input.tcp_bytes),
            self.waits.to_string(),
        ]
    }
}

/// What a process calls itself, if this process may see it.
fn name_of(process: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{process}/comm"));
    name.map_or_else(|_| "?".to_owned(), |name| name.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use afterbay_net_proto::Reason;

    use super::*;

    fn record(connection: u64, local: &str, peer: &str) -> Record {
        let flow = |ring_bytes| Flow { transport: Transport::Ring, tcp_bytes: 10, ring_bytes };
        Record {
            connection,
            descriptor: 5,
            local: local.parse().unwrap(),
            peer: peer.parse().unwrap(),
            out: flow(4096),
            input: Flow { transport: Transport::Tcp, ..flow(100) },
            waits: 3,
            reason: Some(Reason::Unused),
        }
    }

    fn report(connections: Vec<(u32, Record)>) -> Report {
        Report::new("/run/x".to_owned(), 77, &Status { connections, programs: 2, silent: 1 })
    }

    #[test]
    fn both_ends_know_of_each_other_and_bytes_are_counted_once() {
        let own = std::process::id();
        let (one, other) = ("10.0.0.1:1000", "10.0.0.2:2000");
        let report = report(vec![
            (own, record(1, one, other)),
            (own, record(2, other, one)),
            (4_000_000_000, record(9, one, "10.0.0.3:1")),
        ]);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["connections"][0]["other_end"], format!("{own}/2"));
        assert_eq!(json["connections"][1]["other_end"], format!("{own}/1"));
        assert_eq!(json["connections"][2]["other_end"], serde_json::Value::Null);
        assert_eq!(json["connections"][2]["program"], "?");
        assert_ne!(json["connections"][0]["program"], "?");
        assert_eq!(json["ring_bytes"], 4096 * 3 + 100);
        assert_eq!(json["tcp_bytes"], 10 * 4);
        assert_eq!(json["connections"][0]["in"]["transport"], "tcp");
    }

    #[test]
    fn ends_that_look_alike_are_not_brought_together() {
        let (one, other) = ("10.0.0.1:1000", "10.0.0.2:2000");
        let report = report(vec![
            (1, record(1, one, other)),
            (2, record(1, other, one)),
            (3, record(1, other, one)),
        ]);
        assert!(report.connections[0].other_end.is_none());
    }

    #[test]
    fn people_read_a_table() {
        let text = report(vec![(1, record(1, "[::1]:1000", "[::1]:2000"))]).text().unwrap();
        assert!(
            text.starts_with("agent 77 in /run/x\n2 programs with 1 end of a connection; "),
            "{text}"
        );
        assert!(text.contains("1 program did not answer"), "{text}");
        assert!(text.contains("  nothing was written since"), "{text}");
        let lines: Vec<_> = text
            .lines()
            .filter(|line| line.contains("[::1]:1000") || line.starts_with("CONN"))
            .collect();
        assert_eq!(lines[0].find("OTHER END"), lines[1].find("[::1]:2000"), "{text}");
        assert!(report(Vec::new()).text().unwrap().contains("with 0 ends of connections"));
    }

    #[test]
    fn bytes_are_shown_short() {
        let shown = [0, 1023, 1024, 1536, (1 << 20) - 1, 1 << 20, 5 << 40].map(show_bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "1.0 MiB", "5.0 TiB"]);
    }
}
