//! The site's brokers, as `agent` is told of them.

use std::path::{Path, PathBuf};

use afterbay_edge_agent::{Publish, SequenceColumns};
use afterbay_edge_mqtt::{
    Access, Broker, Flags, Login, Options, PublishOptions, Tls, TlsFiles, Version, has, is_topic,
    is_topic_filter,
};
use afterbay_edge_plan::Scan;
use afterbay_values::size;
use clap::{Args, ValueEnum};

use super::{Failed, Result, failed};

/// A text of MQTT has so many bytes (1.5.3).
const TEXT_BYTES_MAX: usize = 65_535;

#[derive(Debug, Args)]
pub(crate) struct MqttArgs {
    /// The site's MQTT broker, whose messages are read instead of a file: one or more lines each; mqtts:// is TLS
    #[arg(long, value_name = "mqtt[s]://HOST:PORT", value_parser = Broker::parse, requires = "topic")]
    mqtt: Option<Broker>,
    /// What is subscribed to, with QoS 1; + and # are those of MQTT. May be given more than once
    #[arg(long, value_name = "FILTER", value_parser = topic, requires = "mqtt")]
    topic: Vec<String>,
    /// A message on this topic says that nothing more comes: the agent ends as at the end of a file
    #[arg(long, value_name = "TOPIC", value_parser = own_topic, requires = "mqtt")]
    end_topic: Option<String>,
    /// 3 is MQTT 3.1.1, for brokers that do not know MQTT 5
    #[arg(long, value_name = "VERSION", default_value = "5")]
    mqtt_version: VersionArg,
    /// The name of the session that the broker keeps; each agent needs its own [default: afterbay-SITE-STREAM]
    #[arg(long, value_name = "ID", value_parser = client_id, requires = "mqtt")]
    client_id: Option<String>,
    /// Also publish each row on this topic of the site's broker, as a JSON object, even while the gateway is away
    #[arg(long, value_name = "TOPIC", value_parser = own_topic)]
    publish: Option<String>,
    /// The broker for --publish, if not that of --mqtt; --mqtt-user, --mqtt-ca and the like apply to both
    #[arg(long, value_name = "mqtt[s]://HOST:PORT", value_parser = Broker::parse, requires = "publish")]
    publish_to: Option<Broker>,
    /// The client id of the connection that publishes [default: the other client id with -publish behind it]
    #[arg(long, value_name = "ID", value_parser = client_id, requires = "publish")]
    publish_client_id: Option<String>,
    /// Bytes of rows that may wait on the disk for the broker of --publish; beyond, the oldest rows are dropped and counted
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = size, requires = "publish")]
    publish_bytes: u64,
    /// Who connects to the broker
    #[arg(long, alias = "user", value_name = "NAME", value_parser = text, requires = "mqtt_password_file")]
    mqtt_user: Option<String>,
    /// The password of --mqtt-user: the first line of this file
    #[arg(long, alias = "password-file", value_name = "FILE", requires = "mqtt_user")]
    mqtt_password_file: Option<PathBuf>,
    /// The broker's certificate, or that of its authority, a PEM file; with mqtts://
    #[arg(long, value_name = "FILE")]
    mqtt_ca: Option<PathBuf>,
    /// The name in the broker's certificate, if not the host of its address
    #[arg(long, value_name = "NAME", requires = "mqtt_ca")]
    mqtt_server_name: Option<String>,
    /// A certificate of this agent, if the broker wants one, a PEM file
    #[arg(long, value_name = "FILE", requires = "mqtt_ca", requires = "mqtt_key")]
    mqtt_cert: Option<PathBuf>,
    /// Its key, a PEM file
    #[arg(long, value_name = "FILE", requires = "mqtt_cert")]
    mqtt_key: Option<PathBuf>,
    /// A column of whole numbers that grow with each row: a row whose number is not above the last one was here before, and is left
    /// out. QoS 1 may bring a message twice
    #[arg(long, value_name = "COLUMN", requires = "mqtt")]
    sequence: Option<String>,
    /// The column within whose values the numbers of --sequence grow, such as a sensor
    #[arg(long, value_name = "COLUMN", requires = "sequence")]
    by: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum VersionArg {
    #[value(name = "3")]
    V3,
    #[value(name = "5")]
    V5,
}

impl MqttArgs {
    /// Which columns say whether a row was here before, and how lines are read then.
    pub(crate) fn sequence(&self, scan: &Scan) -> Result<Option<(Scan, SequenceColumns)>> {
        let Some(sequence) = &self.sequence else { return Ok(None) };
        let columns = SequenceColumns::of(scan, sequence, self.by.as_deref());
        columns.map(Some).map_err(|error| Failed::Usage(format!("--sequence: {error}")))
    }

    /// What is asked for of brokers.
    pub(crate) fn brokers(mut self, site: &str, stream: &str) -> Result<Brokers> {
        if let Some(end) = &self.end_topic {
            self.is_of_no_rows(end)?;
            self.topic.push(end.clone());
        }
        only_once(&self.topic)?;
        let (reads_from, topic) = (self.mqtt.take(), self.publish.take());
        let publishes_to = topic.as_ref().and(self.publish_to.take().or(reads_from.clone()));
        if let Some(topic) = topic.as_ref() {
            if publishes_to.is_none() {
                return usage(format!(
                    "--publish {topic} needs a broker: give --publish-to mqtt://HOST:PORT"
                ));
            }
            self.is_no_loop(topic, reads_from == publishes_to)?;
        }
        let flag_of = |broker: &Broker| {
            if reads_from.as_ref() == Some(broker) { "--mqtt" } else { "--publish-to" }
        };
        let brokers: Vec<(Broker, &'static str)> = reads_from
            .iter()
            .chain(publishes_to.iter().filter(|broker| reads_from.as_ref() != Some(*broker)))
            .map(|broker| (broker.clone(), flag_of(broker)))
            .collect();
        self.is_right_for(&brokers)?;
        let login = self.login()?;
        let topics = std::mem::take(&mut self.topic);
        let id = self.client_id.take().unwrap_or_else(|| format!("afterbay-{site}-{stream}"));
        let own_id = self.publish_client_id.take().unwrap_or_else(|| format!("{id}-publish"));
        let input = reads_from.map(|broker| {
            let flags = Flags { broker: "--mqtt", client_id: "--client-id", topic: "--topic" };
            let access = self.access(broker, id.clone(), login.clone(), flags)?;
            Ok::<_, Failed>(Options { access, topics })
        });
        let publish = topic.zip(publishes_to).map(|(topic, broker)| {
            if own_id == id && input.is_some() {
                return usage(format!(
                    "--publish-client-id {own_id} is the client id of the session that is read: two clients with one name take the connection from each other"
                ));
            }
            let flag = brokers.iter().find(|(one, _)| *one == broker).map_or("--mqtt", |one| one.1);
            let flags = Flags { broker: flag, client_id: "--publish-client-id", topic: "--publish" };
            let access = self.access(broker, own_id, login.clone(), flags)?;
            Ok(Publish { to: PublishOptions { access, topic }, bytes: self.publish_bytes })
        });
        Ok(Brokers {
            input: input.transpose()?,
            end_topic: self.end_topic,
            publish: publish.transpose()?,
        })
    }

    /// A row on it would be taken for the end.
    fn is_of_no_rows(&self, end: &str) -> Result<()> {
        match self.topic.iter().find(|filter| has(filter, end)) {
            None => Ok(()),
            Some(filter) => usage(format!(
                "--end-topic {end}: messages there come by --topic {filter} too, and each would be the end; give another topic"
            )),
        }
    }

    /// What the agent publishes must not come back to it. Another address may be of the same broker, or of one that passes
    /// messages on to it.
    fn is_no_loop(&self, topic: &str, is_same_broker: bool) -> Result<()> {
        if self.end_topic.as_deref() == Some(topic) {
            return usage(format!(
                "--publish {topic} is the topic of --end-topic, too: the first row there would be the end; give another topic"
            ));
        }
        match self.topic.iter().find(|filter| has(filter, topic)) {
            None => Ok(()),
            Some(filter) if is_same_broker => usage(format!(
                "--publish {topic}: what is published there comes in by --topic {filter} again; give another topic"
            )),
            Some(filter) => usage(format!(
                "--publish {topic}: if messages at --publish-to reach the broker of --mqtt, what is published there comes in by --topic {filter} again; give another topic"
            )),
        }
    }

    /// Options for TLS and users need a broker that they are for; a password is not to go where anybody can read it, if it goes
    /// behind a certificate elsewhere.
    fn is_right_for(&self, brokers: &[(Broker, &str)]) -> Result<()> {
        let Some((first, flag)) = brokers.first() else {
            let given =
                [("--mqtt-user", self.mqtt_user.is_some()), ("--mqtt-ca", self.mqtt_ca.is_some())];
            return match given.iter().find(|(_, is_given)| *is_given) {
                None => Ok(()),
                Some((name, _)) => usage(format!(
                    "{name} is for a broker: give --mqtt, or --publish with --publish-to"
                )),
            };
        };
        let plain = brokers.iter().find(|(broker, _)| !broker.is_tls);
        let tls = brokers.iter().find(|(broker, _)| broker.is_tls);
        match (tls, plain) {
            (None, _) if self.mqtt_ca.is_some() => usage(format!(
                "{flag} {first} is without TLS, and --mqtt-ca is for TLS: give {flag} mqtts://"
            )),
            (Some((broker, flag)), _) if self.mqtt_ca.is_none() => usage(format!(
                "{flag} {broker} needs --mqtt-ca FILE: its certificate, or that of its authority"
            )),
            (Some((broker, _)), Some((other, flag))) if self.mqtt_user.is_some() => usage(format!(
                "{flag} {other} is without TLS, and {broker} is not: the password of --mqtt-user would go there for anybody to read; give {flag} mqtts://"
            )),
            _ => Ok(()),
        }
    }

    fn login(&self) -> Result<Option<Login>> {
        match (&self.mqtt_user, &self.mqtt_password_file) {
            (Some(user), Some(file)) => {
                Ok(Some(Login { user: user.clone(), password: password(file)? }))
            }
            _ => Ok(None),
        }
    }

    fn access(
        &self,
        broker: Broker,
        client_id: String,
        login: Option<Login>,
        flags: Flags,
    ) -> Result<Access> {
        let roots = self.mqtt_ca.as_ref().filter(|_| broker.is_tls);
        let tls = roots.map(|roots| {
            let own = self.mqtt_cert.clone().zip(self.mqtt_key.clone());
            let (roots, server_name) = (roots.clone(), self.mqtt_server_name.clone());
            let opened = Tls::open(TlsFiles { roots, own, server_name }, &broker, flags.broker);
            opened.map_err(|error| Failed::Done(format!("{broker}: {error}")))
        });
        let version = match self.mqtt_version {
            VersionArg::V3 => Version::V3,
            VersionArg::V5 => Version::V5,
        };
        Ok(Access { tls: tls.transpose()?, broker, version, client_id, login, flags })
    }
}

/// What is read from a broker, and what is published on one.
#[derive(Debug)]
pub(crate) struct Brokers {
    pub(crate) input: Option<Options>,
    /// Where a message says that nothing more is read.
    pub(crate) end_topic: Option<String>,
    pub(crate) publish: Option<Publish>,
}

fn usage<T>(what: String) -> Result<T> {
    Err(Failed::Usage(what))
}

fn password(file: &Path) -> Result<String> {
    let text = std::fs::read_to_string(file).map_err(|error| failed(file, error))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => {
            text_of(line).map(str::to_owned).map_err(|error| failed(file, error))
        }
        _ => Err(failed(file, "its first line is to be the password, and there is none")),
    }
}

fn only_once(topics: &[String]) -> Result<()> {
    let Some((all, part)) = afterbay_edge_mqtt::covered(topics) else { return Ok(()) };
    Err(Failed::Usage(format!(
        "--topic {part}: its messages come by --topic {all} too, and a broker may send them once for each; leave one of the two out"
    )))
}

fn topic(text: &str) -> std::result::Result<String, String> {
    if !is_topic_filter(text_of(text)?) {
        return Err(
            "+ stands for a whole level, and # for all that follow, as in sensors/+/temp or sensors/#"
                .to_owned(),
        );
    }
    Ok(text.to_owned())
}

fn own_topic(text: &str) -> std::result::Result<String, String> {
    if !is_topic(text_of(text)?) {
        return Err(
            "one topic is needed, such as rooms/averages: no + and #, and no $ at its beginning, which are the broker's own"
                .to_owned(),
        );
    }
    Ok(text.to_owned())
}

fn client_id(text: &str) -> std::result::Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("control characters are not allowed".to_owned());
    }
    self::text(text)
}

fn text(text: &str) -> std::result::Result<String, String> {
    text_of(text).map(str::to_owned)
}

fn text_of(text: &str) -> std::result::Result<&str, String> {
    if text.is_empty() || text.len() > TEXT_BYTES_MAX {
        return Err(format!("1 to {TEXT_BYTES_MAX} bytes are allowed"));
    }
    Ok(text)
}
