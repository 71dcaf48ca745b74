//! `status`.

use std::fmt::Write;
use std::time::{Duration, Instant};

use afterbay_blob_client::Client;
use clap::Args;

use super::values::{duration, show_bytes};
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
            "names    {} buckets, {} objects, {} uploads, {} keys, {} to be deleted",
            names.buckets, names.objects, names.uploads, names.keys, names.garbage
        )?;
        if let Some(reason) = &names.refuses_changes {
            writeln!(text, "  {reason}")?;
        }
    }
    for disk in &after.node.disks {
        writeln!(
            text,
            "\ndisk {}: {} of {} available, room for {} of new blobs",
            disk.place,
            show_bytes(disk.available_bytes),
            show_bytes(disk.total_bytes),
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
