//! What an agent and its programs do, for Prometheus: one page, made when it is asked for.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use afterbay_net_agent::{AgentClient, Counters, Status};
use afterbay_net_proto::{Reason, Transport};

/// A program that takes longer is left out.
const PATIENCE: Duration = Duration::from_secs(2);
/// From a client's connection to the last byte for it. One that takes longer is let go.
const DEADLINE: Duration = Duration::from_secs(5);
/// Clients that are served at once. One that is too many is told so.
const CLIENTS_MAX: usize = 16;
/// How long nobody is accepted after there was no descriptor, or no thread, for it.
const REST: Duration = Duration::from_millis(100);
/// Bytes of a question.
const HEAD_BYTES_MAX: u64 = 16 << 10;

/// Serves the page at an address, each client by a thread of its own, so that none waits for another, as long as this process
/// lives. The address, with its port.
pub(crate) fn serve(
    address: SocketAddr,
    agent: PathBuf,
    counters: Arc<Counters>,
) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    let page = Arc::new(Page { agent, counters });
    let accepts = move || {
        for client in listener.incoming() {
            let served = client.and_then(|client| begin(client, &page));
            if served.is_err() {
                thread::sleep(REST);
            }
        }
    };
    thread::Builder::new().name("metrics".to_owned()).spawn(accepts)?;
    Ok(address)
}

/// What there is to show.
#[derive(Debug)]
struct Page {
    agent: PathBuf,
    counters: Arc<Counters>,
}

/// Serves a client on a thread, which has the page as long as it does.
fn begin(client: TcpStream, page: &Arc<Page>) -> io::Result<()> {
    let mut client = Limited { client, end: Instant::now() + DEADLINE };
    // This one, and those of the clients.
    if Arc::strong_count(page) > CLIENTS_MAX {
        client.client.set_nonblocking(true)?;
        let _ = say(&mut client, "503 Service Unavailable", "too many ask at once\n");
        return Ok(());
    }
    let page = page.clone();
    let serves = move || {
        // One that goes away does not matter.
        let _ = answer(&mut client, &page.agent, &page.counters);
    };
    thread::Builder::new().name("metrics".to_owned()).spawn(serves).map(drop)
}

/// A client until its time is over.
#[derive(Debug)]
struct Limited {
    client: TcpStream,
    end: Instant,
}

impl Limited {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Limited {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.client.set_read_timeout(self.left()?)?;
        self.client.read(bytes)
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.client.set_write_timeout(self.left()?)?;
        self.client.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.client.flush()
    }
}

fn answer(client: &mut Limited, agent: &Path, counters: &Counters) -> io::Result<()> {
    let mut head = BufReader::new(client.take(HEAD_BYTES_MAX)).lines();
    let first = head.next().transpose()?.unwrap_or_default();
    while head.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let mut words = first.split(' ');
    let (status, page) = match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics")) => match look(agent) {
            Some(status) => ("200 OK", page(counters, &status)),
            None => ("503 Service Unavailable", "the agent does not answer\n".to_owned()),
        },
        _ => ("404 Not Found", "the page is /metrics\n".to_owned()),
    };
    say(client, status, &page)
}

fn say(client: &mut Limited, status: &str, page: &str) -> io::Result<()> {
    let length = page.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}"
    )
}

fn look(agent: &Path) -> Option<Status> {
    let group = "default".parse().ok()?;
    AgentClient::connect(agent, &group).ok()?.status(PATIENCE).ok()
}

/// A kind of lines of the page.
struct Metric<'a> {
    name: &'a str,
    kind: &'a str,
    help: &'a str,
}

fn put(page: &mut String, metric: &Metric<'_>, values: impl IntoIterator<Item = (String, u64)>) {
    let Metric { name, kind, help } = metric;
    let _ = writeln!(page, "# HELP afterbay_net_{name} {help}\n# TYPE afterbay_net_{name} {kind}");
    for (labels, value) in values {
        let _ = writeln!(page, "afterbay_net_{name}{labels} {value}");
    }
}

fn page(counters: &Counters, status: &Status) -> String {
    let mut page = String::new();
    let gauge = |name, help| Metric { name, kind: "gauge", help };
    let counter = |name, help| Metric { name, kind: "counter", help };
    let one = |value: u64| [(String::new(), value)];
    let offers = counter("offers_total", "Connections for which rings were offered");
    put(&mut page, &offers, one(counters.offers()));
    let pairs = counter("pairs_total", "Connections whose two ends were brought together");
    put(&mut page, &pairs, one(counters.pairs()));
    let refused = counter("refusals_total", "Offers and claims that were refused, and why");
    let label = |reason: Reason| format!("{{reason=\"{}\"}}", Name(reason));
    let refusals = Reason::ALL.into_iter().map(|reason| (label(reason), counters.refused(reason)));
    put(&mut page, &refused, refusals.filter(|(_, count)| *count > 0));
    let programs = gauge("programs", "Programs that have or had connections");
    put(&mut page, &programs, one(status.programs.into()));
    let silent =
        gauge("programs_silent", "Programs that do not answer: what they have is not here");
    put(&mut page, &silent, one(status.silent.into()));
    let ends = gauge("ends", "Ends of open connections, by what they write to and read from");
    put(&mut page, &ends, ends_of(status));
    let bytes = gauge("open_bytes", "Bytes that went through the connections that are open");
    put(&mut page, &bytes, bytes_of(status));
    let waits = gauge("open_waits", "How often threads waited for the rings that are open");
    put(&mut page, &waits, one(status.connections.iter().map(|(_, record)| record.waits).sum()));
    page
}

fn name_of(transport: Transport) -> &'static str {
    match transport {
        Transport::Ring => "memory",
        Transport::Tcp => "tcp",
    }
}

fn ends_of(status: &Status) -> BTreeMap<String, u64> {
    let mut ends = BTreeMap::new();
    for (_, record) in &status.connections {
        let reason = record.reason.map_or(String::new(), |reason| Name(reason).to_string());
        let (out, input) = (name_of(record.out.transport), name_of(record.input.transport));
        let labels = format!("{{out=\"{out}\",in=\"{input}\",reason=\"{reason}\"}}");
        *ends.entry(labels).or_default() += 1;
    }
    ends
}

fn bytes_of(status: &Status) -> BTreeMap<String, u64> {
    let mut bytes = BTreeMap::new();
    for (_, record) in &status.connections {
        for (direction, flow) in [("out", record.out), ("in", record.input)] {
            for (transport, count) in [("memory", flow.ring_bytes), ("tcp", flow.tcp_bytes)] {
                let labels = format!("{{direction=\"{direction}\",transport=\"{transport}\"}}");
                *bytes.entry(labels).or_default() += count;
            }
        }
    }
    bytes
}

/// A reason in a label: `no_offer`.
struct Name(Reason);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, letter) in format!("{:?}", self.0).char_indices() {
            if at > 0 && letter.is_ascii_uppercase() {
                f.write_char('_')?;
            }
            f.write_char(letter.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use afterbay_net_proto::{Flow, Record};

    use super::*;

    #[test]
    fn ends_and_bytes_are_added_up() {
        let flow = |transport, ring_bytes| Flow { transport, tcp_bytes: 5, ring_bytes };
        let end = |transport, reason| Record {
            connection: 1,
            descriptor: 3,
            local: "10.0.0.1:1".parse().unwrap(),
            peer: "10.0.0.2:2".parse().unwrap(),
            out: flow(transport, 100),
            input: flow(transport, 7),
            waits: 3,
            reason,
        };
        let memory = (1, end(Transport::Ring, None));
        let tcp = (1, end(Transport::Tcp, Some(Reason::NoOffer)));
        let connections = vec![memory, memory, tcp];
        let status = Status { connections, programs: 2, silent: 1 };
        let said = page(&Counters::default(), &status);
        for line in [
            "# TYPE afterbay_net_ends gauge",
            "afterbay_net_ends{out=\"memory\",in=\"memory\",reason=\"\"} 2",
            "afterbay_net_ends{out=\"tcp\",in=\"tcp\",reason=\"no_offer\"} 1",
            "afterbay_net_open_bytes{direction=\"out\",transport=\"memory\"} 300",
            "afterbay_net_open_bytes{direction=\"in\",transport=\"tcp\"} 15",
            "afterbay_net_open_waits 9",
            "afterbay_net_programs_silent 1",
        ] {
            assert!(said.lines().any(|said| said == line), "no {line}:\n{said}");
        }
    }
}
