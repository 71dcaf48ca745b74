//! `status`.

use std::fmt::Write;
use std::time::{Duration, Instant};

use afterbay_blob_client::Client;
use clap::Args;

use super::values::{counted, duration, show_bytes};
use super::{Common, Failed, print};
use crate::report::Report;

/// Arguments of `status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Measure request rates for so long
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration)]
    interval: Duration,
    #[command(flatten)]
    common: Common,
}

pub(crate) async fn run(args: StatusArgs) -> Result<(), Failed> {
    let client = args.common.server.client()?;
    if args.common.json {
        let json = client.status().await?;
        return print(&format!("{}\n", String::from_utf8_lossy(&json)));
    }
    let before = report(&client).await?;
    let began = Instant::now();
    tokio::time::sleep(args.interval).await;
    let after = report(&client).await?;
    print(&text_of(&before, &after, began.elapsed())?)
}

async fn report(client: &Client) -> Result<Report, Failed> {
    Ok(serde_json::from_slice(&client.status().await?)?)
}

fn text_of(before: &Report, after: &Report, between: Duration) -> Result<String, Failed> {
    let mut text = String::new();
    let seconds = between.as_secs_f64().max(0.001);
    writeln!(text, "version {}, running for {} s", after.version, after.uptime_s)?;
    let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
    let bytes = |now, then| show_bytes(rate(now, then) as u64);
    writeln!(
        text,
        "content  {}/s in, {}/s out",
        bytes(after.received_bytes, before.received_bytes),
        bytes(after.sent_bytes, before.sent_bytes)
    )?;
    for (operation, count) in &after.requests {
        let then = before.requests.get(operation).copied().unwrap_or(0);
        writeln!(text, "{operation:<9}{:.1}/s, {count} since the start", rate(*count, then))?;
    }
    if !after.s3.requests.is_empty() {
        writeln!(
            text,
            "S3       {}/s in, {}/s out",
            bytes(after.s3.received_bytes, before.s3.received_bytes),
            bytes(after.s3.sent_bytes, before.s3.sent_bytes)
        )?;
    }
    for (operation, count) in &after.s3.requests {
        let then = before.s3.requests.get(operation).copied().unwrap_or(0);
        writeln!(text, "  {operation:<23}{:.1}/s, {count} since the start", rate(*count, then))?;
    }
    if let Some(names) = &after.name_counts {
        writeln!(
            text,
            "names    {}, {}, {}, {}, {} to be deleted",
            counted(names.buckets, "bucket"),
            counted(names.objects, "object"),
            counted(names.uploads, "upload"),
            counted(names.keys, "key"),
            names.garbage
        )?;
        if let Some(reason) = &names.refuses_changes {
            writeln!(text, "  {reason}")?;
        }
    }
    for disk in &after.node.disks {
        if let Some(reason) = &disk.absent {
            let id = disk.id.as_ref().map(|id| format!(" (disk {id})")).unwrap_or_default();
            writeln!(text, "\ndisk {}{id}: not here\n  {reason}", disk.place)?;
            continue;
        }
        writeln!(
            text,
            "\ndisk {}: {} of {} available, {} reserved for blobs to come, room for {} of them",
            disk.place,
            show_bytes(disk.available_bytes),
            show_bytes(disk.total_bytes),
            show_bytes(disk.reserved_bytes()),
            show_bytes(disk.room_bytes)
        )?;
        writeln!(
            text,
            "  {:<16}  {:<11}  {:>10}  {:>10}  {:>9}  {:>8}  {:>12}",
            "partition", "state", "used", "capacity", "records", "segments", "writes/group"
        )?;
        for partition in &disk.partitions {
            let state = serde_json::to_value(partition.state)?;
            let per_group = partition.writes as f64 / partition.write_groups.max(1) as f64;
            writeln!(
                text,
                "  {:<16}  {:<11}  {:>10}  {:>10}  {:>9}  {:>8}  {per_group:>12.1}",
                partition.id,
                state.as_str().unwrap_or_default(),
                show_bytes(partition.used_bytes),
                show_bytes(partition.capacity_bytes),
                partition.records,
                partition.segments,
            )?;
            if let Some(reason) = &partition.reason {
                writeln!(text, "    {reason}")?;
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::NamesReport;

    fn report(puts: u64, received_bytes: u64, s3_gets: u64, s3_sent_bytes: u64) -> Report {
        let report = serde_json::json!({
            "version": "1",
            "uptime_s": 7,
            "names": false,
            "memory_free_bytes": 0,
            "node": { "disks": [] },
            "requests": { "put": puts },
            "received_bytes": received_bytes,
            "sent_bytes": 0,
            "s3": {
                "requests": { "GetObject": s3_gets },
                "received_bytes": 0,
                "sent_bytes": s3_sent_bytes,
            },
        });
        serde_json::from_value(report).unwrap()
    }

    fn lines(before: &Report, after: &Report, ms: u64) -> Vec<String> {
        let text = text_of(before, after, Duration::from_millis(ms)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn rates_are_those_of_the_time_between() {
        let (before, after) = (report(100, 1 << 20, 5, 0), report(130, 3 << 20, 6, 1 << 10));
        let expected = [
            "version 1, running for 7 s",
            "content  1.0 MiB/s in, 0 B/s out",
            "put      15.0/s, 130 since the start",
            "S3       0 B/s in, 512 B/s out",
            "  GetObject              0.5/s, 6 since the start",
        ];
        assert_eq!(lines(&before, &after, 2000), expected);
        assert!(lines(&before, &after, 500)[2].starts_with("put      60.0/s"));
    }

    #[test]
    fn one_is_not_several() {
        let mut report = report(0, 0, 0, 0);
        let names = NamesReport { buckets: 1, objects: 2, keys: 1, ..NamesReport::default() };
        report.name_counts = Some(names);
        let expected = "names    1 bucket, 2 objects, 0 uploads, 1 key, 0 to be deleted";
        assert_eq!(lines(&report, &report, 1000).last().unwrap(), expected);
    }

    #[test]
    fn what_is_new_counts_from_zero_and_a_restart_is_no_rate() {
        let mut before = report(100, 500, 0, 0);
        before.requests.clear();
        assert!(lines(&before, &report(8, 500, 0, 0), 2000)[2].starts_with("put      4.0/s, 8 "));
        let after_restart = lines(&report(100, 500, 9, 9), &report(3, 0, 0, 0), 1000);
        assert_eq!(after_restart[1], "content  0 B/s in, 0 B/s out");
        assert!(after_restart[2].starts_with("put      0.0/s, 3 "), "{after_restart:?}");
    }
}
