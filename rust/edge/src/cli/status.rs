//! `status`: of an agent or a gateway.

use std::fmt::Write as _;
use std::io::Write as _;

use afterbay_edge_monitor::{Answer, get};
use afterbay_edge_plan::{MILLIS_PER_DAY, date_of};
use clap::Args;
use serde_json::Value as Json;

use super::{Failed, Result, unwritten};

/// What a watermark is when the input has ended.
const END: i64 = i64::MAX;

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The address for monitoring of an agent or a gateway
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7491")]
    at: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// An answer of JSON.
pub(super) fn json(value: &Json) -> Answer {
    Answer { content_type: "application/json", body: format!("{value}\n") }
}

/// An answer for Prometheus.
pub(super) fn metrics(body: String) -> Answer {
    Answer { content_type: "text/plain; version=0.0.4", body }
}

pub(crate) fn run(args: &StatusArgs) -> Result<()> {
    let place = |error: &dyn std::fmt::Display| {
        Failed::Done(format!(
            "{}: {error}; --at says where it is, and its --admin where it listens",
            args.at
        ))
    };
    let body = get(&args.at, "/status").map_err(|error| place(&error))?;
    let status: Json = serde_json::from_str(&body).map_err(|error| place(&error))?;
    let text = if args.json { body } else { to_text(&status) };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(unwritten)
}

fn to_text(status: &Json) -> String {
    if status["kind"] == "agent" { agent(status) } else { gateway(status) }
}

fn agent(status: &Json) -> String {
    let number = |key: &str| status[key].as_i64().unwrap_or(0);
    let mut text = format!("site {}  stream {}\n", word(&status["site"]), word(&status["stream"]));
    let link = match status["linkUp"].as_bool() {
        Some(true) => "connected".to_owned(),
        _ => format!("not connected: {}", word(&status["linkError"])),
    };
    let end = if status["finished"] == true { ", at its end" } else { "" };
    // Writing into a string does not fail.
    let _ = writeln!(text, "  link       {link}");
    let _ = writeln!(text, "  input      {} bytes{end}", number("inputBytes"));
    text.push_str(&messages(&status["mqtt"]));
    text.push_str(&published(&status["publish"]));
    let _ = writeln!(text, "  rows       {}", number("rows"));
    let _ = writeln!(text, "  watermark  {}", watermark(&status["watermark"]));
    let _ = writeln!(
        text,
        "  frames     {} of epoch {}, {} acknowledged",
        number("next"),
        number("epoch"),
        number("acknowledged")
    );
    let age = status["outboxAgeSeconds"].as_f64();
    let age = age.map_or(String::new(), |age| format!(", the oldest for {age:.0} s"));
    let _ = writeln!(
        text,
        "  outbox     {} of {} bytes{age}",
        number("outboxBytes"),
        number("outboxBytesMax")
    );
    if number("gaps") > 0 {
        let _ = writeln!(
            text,
            "  dropped    {} rows in {} gaps",
            number("droppedRows"),
            number("gaps")
        );
    }
    if number("mergedRows") > 0 || number("waitingRows") > 0 {
        let _ = writeln!(
            text,
            "  merged     {} rows into others of their key and slice, {} wait for more",
            number("mergedRows"),
            number("waitingRows")
        );
    }
    if number("lateRows") > 0 {
        let _ =
            writeln!(text, "  late       {} rows, dropped as Flink drops them", number("lateRows"));
    }
    if let Some(held) = status["held"].as_str() {
        let _ = writeln!(text, "  held       {held}");
    }
    text
}

/// Of the site's broker, if there is one.
fn messages(mqtt: &Json) -> String {
    if mqtt.is_null() {
        return String::new();
    }
    let broker = word(&mqtt["broker"]);
    let link = match mqtt["brokerUp"].as_bool() {
        Some(true) => "connected".to_owned(),
        _ => format!("not connected: {}", word(&mqtt["brokerError"])),
    };
    let unread = mqtt["notReadSeconds"].as_f64();
    let unread = unread.map_or(String::new(), |time| format!(", not read for {time:.0} s"));
    let mut text = format!(
        "  broker     {broker}  {link}{unread}\n  messages   {}, {} sent again, {} unacknowledged\n",
        mqtt["messages"], mqtt["sentAgain"], mqtt["unacknowledged"]
    );
    if mqtt["otherTopics"].as_u64() > Some(0) {
        let (count, last) = (&mqtt["otherTopics"], word(&mqtt["lastOtherTopic"]));
        let _ = writeln!(
            text,
            "  others     {count} messages that no --topic asks for, left out, the last one of {last}"
        );
    }
    if mqtt["qos0"] != 0 {
        let _ = writeln!(text, "  unsafe     {} messages with QoS 0", mqtt["qos0"]);
    }
    if mqtt["repeatedRows"] != 0 {
        let _ = writeln!(text, "  repeated   {} rows, left out", mqtt["repeatedRows"]);
    }
    if mqtt["badRows"] != 0 {
        let (count, last) = (&mqtt["badRows"], word(&mqtt["lastBadRow"]));
        let _ = writeln!(text, "  bad rows   {count}, the last one: {last}");
    }
    text
}

/// Of rows on the site's own broker, if they are published.
fn published(publish: &Json) -> String {
    if publish.is_null() {
        return String::new();
    }
    let link = match publish["brokerUp"].as_bool() {
        Some(true) => "connected".to_owned(),
        _ => format!("not connected: {}", word(&publish["brokerError"])),
    };
    let silent = publish["silentSeconds"].as_f64().filter(|seconds| *seconds >= 1.0);
    let silent = silent.map_or(String::new(), |time| format!(", no answer for {time:.0} s"));
    let mut text = format!(
        "  publish    {} at {}  {link}{silent}\n  published  {} rows, {} sent again, {} waiting in {} of {} bytes\n",
        word(&publish["topic"]),
        word(&publish["broker"]),
        publish["rows"],
        publish["sentAgain"],
        publish["waitingRows"],
        publish["bytes"],
        publish["bytesMax"]
    );
    if publish["droppedRows"] != 0 {
        let _ = writeln!(text, "  not there  {} rows, dropped", publish["droppedRows"]);
    }
    if publish["refusedRows"] != 0 {
        let (count, last) = (&publish["refusedRows"], word(&publish["lastRefusedRow"]));
        let _ = writeln!(text, "  refused    {count} rows, the last one: {last}");
    }
    if let Some(error) = publish["error"].as_str() {
        let _ = writeln!(text, "  not kept   {error}");
    }
    text
}

fn gateway(status: &Json) -> String {
    let mut text =
        format!("{} connections, {} commits\n", status["connections"], status["commits"]);
    if let Some(error) = status["error"].as_str() {
        let _ = writeln!(text, "output: {error}");
    }
    if let Some(error) = status["keyError"].as_str() {
        let _ = writeln!(text, "keys: {error}");
    }
    for revoked in array(&status["revoked"]) {
        let since = revoked["sinceMs"].as_u64().map_or_else(|| "?".to_owned(), utc);
        let _ = writeln!(text, "keys: since {since}: {}", word(&revoked["text"]));
    }
    for stream in array(&status["streams"]) {
        let _ = writeln!(text, "stream {}", word(&stream["stream"]));
        if let Some(why) = stream["held"].as_str() {
            let _ = writeln!(text, "  held: {why}");
        }
        for partition in array(&stream["partitions"]) {
            let (number, at) = (&partition["partition"], watermark(&partition["watermark"]));
            let _ = writeln!(text, "  partition {number}  watermark {at}");
        }
        for site in array(&stream["sites"]) {
            let is = if site["connected"] == true { "connected" } else { "away" };
            let excluded = if site["excluded"] == true { ", excluded" } else { "" };
            let _ = writeln!(
                text,
                "  site {}  {is}{excluded}  partition {}  next {}  watermark {}  rows {}  late {}  large {}  gaps {} ({} rows)",
                word(&site["site"]),
                site["partition"],
                site["next"],
                watermark(&site["watermark"]),
                site["rows"],
                site["lateRows"],
                site["largeRows"],
                site["gaps"],
                site["lostRows"]
            );
        }
    }
    text
}

fn array(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn word(value: &Json) -> &str {
    value.as_str().unwrap_or("?")
}

/// ms since 1970 as people read them.
pub(super) fn utc(millis: u64) -> String {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    let (year, month, day) = date_of(millis / MILLIS_PER_DAY);
    let second = millis % MILLIS_PER_DAY / 1000;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

fn watermark(value: &Json) -> String {
    match value.as_i64() {
        Some(END) => "at the end".to_owned(),
        Some(0) | None => "none".to_owned(),
        Some(millis) => format!("{millis} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_in_utc() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(1_767_230_940_999), "2026-01-01 01:29:00 UTC");
    }
}
