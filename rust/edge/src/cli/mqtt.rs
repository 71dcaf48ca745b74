//! The site's broker, as `agent` is told of it.

use std::path::{Path, PathBuf};

use afterbay_edge_agent::SequenceColumns;
use afterbay_edge_mqtt::{Broker, Login, Options, Tls, TlsFiles, Version, is_topic_filter};
use afterbay_edge_plan::Scan;
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
    /// 3 is MQTT 3.1.1, for brokers that do not know MQTT 5
    #[arg(long, value_name = "VERSION", default_value = "5")]
    mqtt_version: VersionArg,
    /// The name of the session that the broker keeps; each agent needs its own [default: afterbay-SITE-STREAM]
    #[arg(long, value_name = "ID", value_parser = client_id, requires = "mqtt")]
    client_id: Option<String>,
    /// Who connects to the broker
    #[arg(long, alias = "user", value_name = "NAME", value_parser = text, requires = "mqtt", requires = "mqtt_password_file")]
    mqtt_user: Option<String>,
    /// The password of --mqtt-user: the first line of this file
    #[arg(long, alias = "password-file", value_name = "FILE", requires = "mqtt_user")]
    mqtt_password_file: Option<PathBuf>,
    /// The broker's certificate, or that of its authority, a PEM file; with mqtts://
    #[arg(long, value_name = "FILE", requires = "mqtt")]
    mqtt_ca: Option<PathBuf>,
    /// The name in the broker's certificate, if not the host of --mqtt
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

    /// What is asked for, if messages are.
    pub(crate) fn options(self, site: &str, stream: &str) -> Result<Option<Options>> {
        only_once(&self.topic)?;
        let Some(broker) = self.mqtt else { return Ok(None) };
        let login = match (self.mqtt_user, self.mqtt_password_file) {
            (Some(user), Some(file)) => Some(Login { user, password: password(&file)? }),
            _ => None,
        };
        let tls = match (broker.is_tls, self.mqtt_ca) {
            (true, Some(roots)) => {
                let own = self.mqtt_cert.zip(self.mqtt_key);
                let files = TlsFiles { roots, own, server_name: self.mqtt_server_name };
                let opened = Tls::open(files, &broker);
                Some(opened.map_err(|error| Failed::Done(format!("{broker}: {error}")))?)
            }
            (true, None) => {
                let what = "needs --mqtt-ca FILE: its certificate, or that of its authority";
                return Err(Failed::Usage(format!("--mqtt {broker} {what}")));
            }
            (false, Some(_)) => {
                let what = "is without TLS, and --mqtt-ca is for TLS: give --mqtt mqtts://";
                return Err(Failed::Usage(format!("--mqtt {broker} {what}")));
            }
            (false, None) => None,
        };
        Ok(Some(Options {
            broker,
            tls,
            topics: self.topic,
            version: match self.mqtt_version {
                VersionArg::V3 => Version::V3,
                VersionArg::V5 => Version::V5,
            },
            client_id: self.client_id.unwrap_or_else(|| format!("afterbay-{site}-{stream}")),
            login,
        }))
    }
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
