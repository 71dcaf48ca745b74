//! `agent`.

use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use afterbay_edge_agent::{
    Agent, AgentError, AgentOptions, AgentStatus, Handle, Input, Link, LinkStatus, WhenFull,
};
use afterbay_edge_exec::{Settings, Waiting};
use afterbay_edge_link::{Limits, SiteKey, client_config, plain_frames, server_name};
use afterbay_edge_monitor::Answer;
use afterbay_edge_mqtt::BrokerLink;
use afterbay_edge_plan::{Rows, table_name};
use afterbay_values::{duration, size};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::mqtt::MqttArgs;
use super::select::{FlushArg, LowerArgs};
use super::{Failed, Result, failed, on_end, read_plan, say};

/// How often somebody looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
/// How often it is said that rows are bad, at most.
const BETWEEN: Duration = Duration::from_secs(10);

/// clap would write it in one line, whatever its width.
const USAGE: &str = "afterbay edge agent --site <NAME> --plan <FILE> --data <DIR> \\
                    (--input <FILE> | --mqtt <mqtt[s]://HOST:PORT> --topic <FILTER>) \\
                    --gateway <HOST:PORT> --key-file <FILE> --tls-roots <FILE> [OPTIONS]";

#[derive(Debug, Args)]
#[command(override_usage = USAGE, after_help = "Examples:\n  \
    afterbay edge agent --site dev1 --plan job.json --input readings.ndjson --follow \\\n      \
    --data /var/lib/edge --gateway gateway.example.org:7490 --key-file dev1.key \\\n      \
    --tls-roots server.pem\n  \
    afterbay edge agent --site dev1 --plan job.json --mqtt mqtt://localhost:1883 \\\n      \
    --topic 'sensors/+/temp' --data /var/lib/edge --gateway gateway.example.org:7490 \\\n      \
    --key-file dev1.key --tls-roots server.pem\n  \
    afterbay edge agent --site dev1 --plan job.json --mqtt mqtts://broker.site.example:8883 \\\n      \
    --mqtt-ca broker.pem --mqtt-user edge --mqtt-password-file password --topic 'sensors/#' \\\n      \
    --data /var/lib/edge --gateway gateway.example.org:7490 --key-file dev1.key \\\n      \
    --tls-roots server.pem\n  \
    afterbay edge agent --site dev1 --plan job.json --mqtt mqtt://localhost:1883 \\\n      \
    --topic 'sensors/+/temp' --publish rooms/averages --data /var/lib/edge \\\n      \
    --gateway gateway.example.org:7490 --key-file dev1.key --tls-roots server.pem\n  \
    tail -F readings.ndjson | afterbay edge agent --site dev1 --plan job.json --input - \\\n      \
    --data /var/lib/edge --gateway gateway.example.org:7490 --key-file dev1.key \\\n      \
    --tls-roots server.pem --when-full drop-oldest\n\n\
    It ends with code 0 when the input is at its end and the gateway has everything. Killed at any moment and started again \
    with the same --data, it goes on where it was; what a pipe had given since the last commit is lost then. A broker keeps \
    its messages until they are committed; the last of them may come twice then.")]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    lower: LowerArgs,
    /// The rows, one a line; - is the standard input
    #[arg(long, value_name = "FILE", required_unless_present = "mqtt", conflicts_with = "mqtt")]
    input: Option<PathBuf>,
    /// Wait for more at the end of the file, until there is a file FILE.end
    #[arg(long, conflicts_with = "mqtt")]
    follow: bool,
    #[command(flatten)]
    mqtt: MqttArgs,
    /// What is emitted when a slice is over: what is over, or everything, as Flink does, which are more rows
    #[arg(long, value_name = "WHAT", default_value = "over")]
    flush: FlushArg,
    /// The name of the stream, which is the gateway's topic [default: the table between the halves, edge_partials or edge_finals]
    #[arg(long, value_name = "NAME", value_parser = super::name)]
    stream: Option<String>,
    /// Folder for what is to be sent, and for what the run remembers
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Where the gateway is
    #[arg(long, value_name = "HOST:PORT")]
    gateway: String,
    /// The key of this site ('key create' makes it)
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// The gateway's certificate, or that of its authority, a PEM file
    #[arg(long, value_name = "FILE")]
    tls_roots: PathBuf,
    /// The name in the gateway's certificate, if not the host of --gateway
    #[arg(long, value_name = "NAME")]
    tls_server_name: Option<String>,
    /// Rows wait so long for others before they are written and sent
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration)]
    linger: Duration,
    /// Bytes that wait to be sent, on the disk
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    outbox_bytes: u64,
    /// What waits for longer is dropped, with --when-full drop-oldest
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = duration)]
    outbox_age: Duration,
    /// What happens when the outbox is full: hold reads no more input; drop-oldest drops what is oldest, and reports the gap; merge adds up
    /// parts of one key and slice while they wait, and then holds
    #[arg(long, value_name = "POLICY", default_value = "hold")]
    when_full: WhenFullArg,
    /// Frames that were acknowledged and that the gateway has not, as the agent has said when it refused the gateway: it goes on
    /// behind them, and they count as lost
    #[arg(long, value_name = "FROM..TO", value_parser = super::values::range)]
    accept_gap: Option<Range<u64>>,
    /// How rows go over the link: as columns with zstd, if the gateway knows them, or as lines of JSON
    #[arg(long, value_name = "CODEC", default_value = "columns")]
    codec: CodecArg,
    /// Address for monitoring (/status, /metrics, /healthz; no authentication), or 'none'
    #[arg(long, value_name = "HOST:PORT", default_value = "none")]
    admin: String,
    /// End when the standard input is at its end: for who starts it, holds that open, and may be killed
    #[arg(long)]
    while_stdin_open: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WhenFullArg {
    Hold,
    DropOldest,
    Merge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CodecArg {
    Columns,
    Plain,
}

pub(crate) fn run(args: AgentArgs) -> Result<()> {
    let done = |error: &dyn std::fmt::Display| Failed::Done(error.to_string());
    let is_pipe = args.input.as_ref().is_some_and(|input| input.as_os_str() == "-");
    if args.while_stdin_open && is_pipe {
        let what = "--while-stdin-open ends with the standard input, and --input - reads it: give one of them";
        return Err(Failed::Usage(what.to_owned()));
    }
    let ends = on_end(args.while_stdin_open)?;
    let (_, cut) = read_plan(&args.lower.plan, &args.lower.local)?;
    let (pipeline, scan) = args.lower.select(&cut)?;
    if matches!(args.when_full, WhenFullArg::Merge)
        && let Err(why) = Waiting::of(pipeline, 0)
    {
        return Err(Failed::Usage(AgentError::Merge(why).to_string()));
    }
    let (scan, sequence) = match args.mqtt.sequence(scan)? {
        Some((scan, columns)) => (scan, Some(columns)),
        None => (scan.clone(), None),
    };
    let reader = args.lower.reader(&scan)?;
    let stream = args.stream.clone().unwrap_or_else(|| table_name(&cut, pipeline));
    let settings = args.lower.settings(args.flush);
    // Where results are final, more groups change nothing of what comes out: a run may go on with more.
    let is_final = pipeline.rows() == Rows::Final;
    let counted = if is_final { Settings { groups_max: 0, ..settings } } else { settings };
    let fingerprint = fingerprint(&args.lower, &format!("{counted:?} {stream}"))?;
    let tls = client_config(&args.tls_roots).map_err(|error| done(&error))?;
    let tls = if args.codec == CodecArg::Plain { plain_frames(&tls) } else { tls };
    let link = Link {
        name: server_name(&args.gateway, args.tls_server_name.as_deref())
            .map_err(|error| done(&error))?,
        address: args.gateway,
        tls,
        key: SiteKey::read(&args.key_file).map_err(|error| done(&error))?,
        limits: Limits::default(),
    };
    let brokers = args.mqtt.brokers(&args.lower.site, &stream)?;
    let input = match (args.input, brokers.input) {
        (_, Some(mqtt)) => Input::Mqtt(Box::new(mqtt)),
        (Some(path), None) if !is_pipe => Input::File { path, follow: args.follow },
        _ => Input::Pipe,
    };
    let ends_by_message = brokers.end_topic.is_some();
    let options = AgentOptions {
        site: args.lower.site.clone(),
        stream,
        input,
        end_topic: brokers.end_topic,
        sequence,
        publish: brokers.publish,
        data: args.data,
        link,
        settings,
        fingerprint,
        linger: args.linger,
        outbox_bytes: args.outbox_bytes,
        outbox_age: args.outbox_age,
        when_full: match args.when_full {
            WhenFullArg::Hold => WhenFull::Hold,
            WhenFullArg::DropOldest => WhenFull::DropOldest,
            WhenFullArg::Merge => WhenFull::Merge,
        },
        accept_gap: args.accept_gap,
    };
    let agent = Agent::open(options).map_err(|error| done(&error))?;
    let handle = agent.handle();
    let (site, last) = (args.lower.site, handle.clone());
    let admin = admin(&args.admin, handle.clone())?;
    say(&json!({"admin": admin}))?;
    std::thread::spawn(move || {
        let mut told = Told::default();
        while !ends.load(Ordering::Acquire) {
            told.tell(&handle);
            std::thread::sleep(LOOK);
        }
        told.tell(&handle);
        handle.stop();
    });
    let is_done = agent.run(pipeline, &reader).map_err(|error| done(&error))?;
    let waiting = last.status().publish.map_or(0, |publish| publish.waiting);
    if is_done && ends_by_message {
        // Whoever has said that it is the end may want to know of all that came.
        say(&last.status().to_json())?;
    }
    if is_done && waiting > 0 {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "afterbay edge agent {site}: {waiting} rows are not published, since the broker has not taken them; started again with the same --data, the agent goes on with them"
        );
    }
    Ok(())
}

/// Of all that says what comes out of the input: a saved state is of no use for anything else.
fn fingerprint(lower: &LowerArgs, settings: &str) -> Result<u32> {
    let text = std::fs::read_to_string(&lower.plan).map_err(|error| failed(&lower.plan, error))?;
    let plan: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| failed(&lower.plan, error))?;
    let of = format!("{plan} {settings} {} {}", lower.site, lower.said());
    Ok(crc_fast::crc32_iscsi(of.as_bytes()))
}

/// What the standard error has been told.
#[derive(Default)]
struct Told {
    links: Option<String>,
    bad_rows: u64,
    /// When it was told of bad rows.
    at: Option<Instant>,
    /// Whether it was told that messages are of other topics.
    others: bool,
    /// Rows that are not published, dropped and refused; those that were dropped before this process began are known.
    unpublished: Option<(u64, u64)>,
    /// When it was told of them.
    unpublished_at: Option<Instant>,
}

impl Told {
    /// Says when the link, the disk or the broker has changed, and which rows were bad.
    fn tell(&mut self, handle: &Handle) {
        let status = handle.status();
        let mut text = match &status.link {
            LinkStatus::Up => "connected".to_owned(),
            LinkStatus::Down(why) => format!("not connected: {why}"),
        };
        if let Some(held) = &status.held {
            text = format!("{text}; nothing is read: {held}");
        }
        if let Some(messages) = &status.messages {
            let broker = &messages.broker;
            text = match &broker.link {
                BrokerLink::Up => format!("{text}; reads from {}", broker.broker),
                BrokerLink::Down(why) => {
                    format!("{text}; does not read from {}: {why}", broker.broker)
                }
            };
        }
        if let Some(publish) = &status.publish {
            let publisher = &publish.publisher;
            text = match &publisher.link {
                BrokerLink::Up => {
                    format!("{text}; publishes to {} at {}", publisher.topic, publisher.broker)
                }
                BrokerLink::Down(why) => {
                    format!("{text}; does not publish to {}: {why}", publisher.broker)
                }
            };
            if let Some(error) = &publish.error {
                text = format!("{text}; rows to be published: {error}");
            }
        }
        if self.links.as_ref() != Some(&text) {
            // Without a standard error there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "afterbay edge agent {}: {text}", status.site);
            self.links = Some(text);
        }
        self.tell_of_rows(&status);
        self.tell_of_others(&status);
        self.tell_of_unpublished(&status);
    }

    fn tell_of_unpublished(&mut self, status: &AgentStatus) {
        let Some(publish) = &status.publish else { return };
        let (dropped, refused) = (publish.dropped, publish.publisher.refused);
        let was_told = self.unpublished.get_or_insert((dropped, 0));
        let is_soon = self.unpublished_at.is_some_and(|at| at.elapsed() < BETWEEN);
        if is_soon || (dropped, refused) == *was_told {
            return;
        }
        *was_told = (dropped, refused);
        self.unpublished_at = Some(Instant::now());
        let why = publish.publisher.last_refused.as_deref();
        let why = why.map(|why| format!(", the last one: {why}")).unwrap_or_default();
        let _ = writeln!(
            std::io::stderr(),
            "afterbay edge agent {}: of the rows to be published, {dropped} were dropped, since the broker or the disk did not take them in time, and {refused} were refused by it{why}; the gateway gets them",
            status.site
        );
    }

    fn tell_of_rows(&mut self, status: &AgentStatus) {
        let Some(messages) = &status.messages else { return };
        let is_soon = self.at.is_some_and(|at| at.elapsed() < BETWEEN);
        if messages.bad_rows > self.bad_rows && !is_soon {
            let (count, last) = (messages.bad_rows, messages.last_bad_row.as_deref());
            let _ = writeln!(
                std::io::stderr(),
                "afterbay edge agent {}: {count} bad rows were left out, the last one is {}",
                status.site,
                last.unwrap_or("not known")
            );
            (self.bad_rows, self.at) = (count, Some(Instant::now()));
        }
    }

    fn tell_of_others(&mut self, status: &AgentStatus) {
        let other = status.messages.as_ref().and_then(|it| it.broker.last_other.as_ref());
        if let Some(topic) = other
            && !self.others
        {
            let _ = writeln!(
                std::io::stderr(),
                "afterbay edge agent {}: messages such as of {topic} are left out: no --topic asks for them, and the session has them from before; the status counts them",
                status.site
            );
            self.others = true;
        }
    }
}

fn admin(address: &str, handle: Handle) -> Result<Option<String>> {
    let answer = move |path: &str| {
        let status = handle.status();
        match path {
            "/status" => Some(super::status::json(&status.to_json())),
            "/metrics" => Some(super::status::metrics(status.to_prometheus())),
            "/healthz" => Some(Answer { content_type: "text/plain", body: "ok\n".to_owned() }),
            _ => None,
        }
    };
    super::gateway::listen(address, answer)
}
