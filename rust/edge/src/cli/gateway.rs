//! `gateway`.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use afterbay_edge_gateway::output::{FileOutput, Output};
use afterbay_edge_gateway::{Absent, Gateway, GatewayOptions, Partitions, RevokedSite};
use afterbay_edge_kafka::KafkaOutput;
use afterbay_edge_link::{Limits, server_config};
use afterbay_edge_monitor::{Answer, serve};
use afterbay_values::duration;
use clap::Args;
use serde_json::json;

use super::status::utc;
use super::{Failed, Result, on_end, say};

/// How often somebody looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// With a stream's name and `.large`, less than 249 bytes, which Kafka allows.
const PREFIX_BYTES_MAX: usize = 150;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay edge gateway --tls-cert server.pem --tls-key server-key.pem --keys keys --output rows\n  \
    afterbay edge gateway --listen 0.0.0.0:7490 --tls-cert server.pem --tls-key server-key.pem \\\n      \
    --keys keys --output rows --partitions 4 --absent 10m\n\n\
    A site is who has a key in the folder, NAME.key. A site that has not sent anything yet holds the others of its partition up.")]
pub(crate) struct GatewayArgs {
    /// Where sites connect; port 0 is any, and the first line of the output says which
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7490")]
    listen: String,
    /// The certificate, a PEM file
    #[arg(long, value_name = "FILE")]
    tls_cert: PathBuf,
    /// Its key, a PEM file
    #[arg(long, value_name = "FILE")]
    tls_key: PathBuf,
    /// The folder of the sites' keys, NAME.key each; read anew for each connection
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// Write rows into files: DIR/TOPIC/00000.ndjson, one for each partition
    #[arg(
        long,
        value_name = "DIR",
        required_unless_present = "bootstrap",
        conflicts_with = "bootstrap"
    )]
    output: Option<PathBuf>,
    /// Write rows into topics of Kafka, at these brokers; one gateway for each --topic-prefix
    #[arg(long, value_name = "HOST:PORT,…")]
    bootstrap: Option<String>,
    /// Partitions of a topic, or 'each': one for each site
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = partitions)]
    partitions: Partitions,
    /// What stands before the names of streams in those of topics
    #[arg(long, value_name = "PREFIX", default_value = "", value_parser = prefix)]
    topic_prefix: String,
    /// How long a site that is not connected holds the others up: 'wait', or a time, after which its rows go to TOPIC.late until it has
    /// caught up
    #[arg(long, value_name = "DURATION", default_value = "wait", value_parser = absent)]
    absent: Absent,
    /// Sites that are connected at once
    #[arg(long, value_name = "COUNT", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Connections at once that have not said yet who they are; if there are more, the oldest one of the address that has most ends
    #[arg(long, value_name = "COUNT", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    handshakes: u32,
    /// Address for monitoring (/status, /metrics, /healthz; no authentication), or 'none'
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7491")]
    admin: String,
    /// End when the standard input is at its end: for who starts it, holds that open, and may be killed
    #[arg(long)]
    while_stdin_open: bool,
}

fn partitions(text: &str) -> std::result::Result<Partitions, String> {
    const ALLOWED: u32 = 10_000;
    match text.parse() {
        _ if text == "each" => Ok(Partitions::Each),
        Ok(count @ 1..=ALLOWED) => Ok(Partitions::Count(count)),
        _ => Err(format!("1 to {ALLOWED}, or 'each', are allowed")),
    }
}

/// In a folder and in Kafka, a topic is one name.
fn prefix(text: &str) -> std::result::Result<String, String> {
    let known = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
    if text.len() > PREFIX_BYTES_MAX || !text.chars().all(known) {
        return Err(format!(
            "{PREFIX_BYTES_MAX} letters, digits, '-', '_' and '.' at most are allowed"
        ));
    }
    Ok(text.to_owned())
}

fn absent(text: &str) -> std::result::Result<Absent, String> {
    if text == "wait" { Ok(Absent::Wait) } else { duration(text).map(Absent::Deadline) }
}

pub(crate) fn run(args: GatewayArgs) -> Result<()> {
    let done = |error: &dyn std::fmt::Display| Failed::Done(error.to_string());
    let ends = on_end(args.while_stdin_open)?;
    let tls = server_config(&args.tls_cert, &args.tls_key).map_err(|error| done(&error))?;
    let output = output(&args)?;
    let options = GatewayOptions {
        listen: args.listen,
        tls,
        keys: args.keys,
        partitions: args.partitions,
        absent: args.absent,
        limits: Limits::default(),
        connections_max: args.connections as usize,
        handshakes_max: args.handshakes as usize,
    };
    let gateway = Arc::new(Gateway::start(options, output).map_err(|error| done(&error))?);
    let admin = admin(&args.admin, gateway.clone())?;
    say(&json!({"listen": gateway.address().to_string(), "admin": admin}))?;
    let mut told = Told::default();
    while !ends.load(Ordering::Acquire) {
        if let Some(error) = gateway.failed() {
            return Err(done(&error));
        }
        told.look(&gateway);
        std::thread::sleep(LOOK);
    }
    gateway.stop();
    gateway.failed().map_or(Ok(()), |error| Err(done(&error)))
}

/// What the standard error was told of keys.
#[derive(Debug, Default)]
struct Told {
    error: Option<String>,
    revoked: Vec<RevokedSite>,
}

impl Told {
    /// Tells what is new.
    fn look(&mut self, gateway: &Gateway) {
        let error = gateway.key_error();
        if error != self.error {
            tell(error.as_deref().unwrap_or("keys can be read again"));
            self.error = error;
        }
        let revoked = gateway.revoked();
        if revoked != self.revoked {
            for new in revoked.iter().filter(|one| !self.revoked.contains(one)) {
                tell(&format!("{}: {new}", utc(new.since_ms)));
            }
            self.revoked = revoked;
        }
    }
}

/// Without a standard error there is nobody to tell.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "afterbay edge gateway: {text}");
}

fn output(args: &GatewayArgs) -> Result<Box<dyn Output>> {
    match (&args.output, &args.bootstrap) {
        (Some(folder), None) => {
            let output = FileOutput::open(folder, &args.topic_prefix);
            Ok(Box::new(output.map_err(|error| Failed::Done(error.to_string()))?))
        }
        (None, Some(bootstrap)) => {
            let partitions = match args.partitions {
                Partitions::Count(count) => count,
                Partitions::Each => {
                    let what = "--partitions each is for files: a topic's partitions are counted before sites come; give --partitions COUNT";
                    return Err(Failed::Usage(what.to_owned()));
                }
            };
            Ok(Box::new(KafkaOutput::new(bootstrap, &args.topic_prefix, partitions)))
        }
        _ => Err(Failed::Usage("one of --output and --bootstrap is needed".to_owned())),
    }
}

fn admin(address: &str, gateway: Arc<Gateway>) -> Result<Option<String>> {
    let answer = move |path: &str| {
        let status = gateway.status();
        match path {
            "/status" => Some(super::status::json(&status.to_json())),
            "/metrics" => Some(super::status::metrics(status.to_prometheus())),
            "/healthz" => {
                let body = status.error.unwrap_or_else(|| "ok".to_owned()) + "\n";
                Some(Answer { content_type: "text/plain", body })
            }
            _ => None,
        }
    };
    listen(address, answer)
}

/// Listens for monitoring, unless it is not wanted.
pub(super) fn listen(
    address: &str,
    answer: impl Fn(&str) -> Option<Answer> + Send + 'static,
) -> Result<Option<String>> {
    if address == "none" {
        return Ok(None);
    }
    let bound = serve(address, answer)
        .map_err(|error| Failed::Done(format!("cannot listen on {address}: {error}")))?;
    Ok(Some(bound.to_string()))
}
