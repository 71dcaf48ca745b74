//! `scrub`.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use afterbay_blob_client::Client;
use afterbay_blob_node::ScrubCommand;
use afterbay_blob_store::PartitionId;
use clap::Args;

use super::cluster_scrub::How;
use super::values::{counted, partition, show_bytes, show_time, size};
use super::{Common, Failed, cluster_scrub, print};
use crate::node::{RepairReport, ScrubFinding, ScrubReport, ScrubState};

/// How often the server is asked how far it is.
pub(super) const PERIOD: Duration = Duration::from_millis(250);

const GOES_ON: &str =
    "; the scrub goes on in the server: 'scrub --status' shows it, 'scrub --stop' ends it";

/// Arguments of `scrub`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay blob scrub                              (until its end, with progress)\n  \
    afterbay blob scrub --rate 100MiB --background\n  \
    afterbay blob scrub --status\n  \
    afterbay blob scrub --cluster demo/map.toml      (all nodes of a cluster)\n\
    The server reads everything from its disks, all of them at the same time, while it serves. One machine changes nothing. The node of a \
    cluster fetches what is damaged from the other replicas and writes it again; that is called repaired only when it has been read once \
    more from the disk.\n\
    One scrub runs at a time: if one runs already, this command joins it, and is refused if it asks for more than that \
    one reads. Ctrl-C ends the command, not the scrub. A server that is started \
    again does not go on with its scrub.\n\
    Needs the root key; --cluster needs cluster-key beside the map instead.\n\
    Exit codes: 0 everything is whole, in a cluster perhaps after repairs (with --status: so far); 1 something is damaged, or not \
    everything could be verified; 130 and 143 ended by Ctrl-C and SIGTERM.")]
pub(crate) struct ScrubArgs {
    /// Bytes to read in a second, of each disk
    #[arg(long, value_name = "SIZE", default_value = "32MiB", value_parser = size)]
    rate: u64,
    /// Only this partition: its number in the map, or the 16 digits before the '-' of an id
    #[arg(long, value_name = "PARTITION", value_parser = partition)]
    partition: Option<u64>,
    /// Scrub all nodes of this map at the same time, at their addresses in it, not at --server; cluster-key is beside it
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Start it, and do not wait for its end
    #[arg(long)]
    background: bool,
    /// Show the scrub that runs, or the last one since the start of the server
    #[arg(long, conflicts_with_all = ["background", "stop", "rate", "partition"])]
    status: bool,
    /// Stop the scrub that runs
    #[arg(long, conflicts_with_all = ["background", "rate", "partition"])]
    stop: bool,
    #[command(flatten)]
    common: Common,
}

impl ScrubArgs {
    fn command(&self) -> ScrubCommand {
        match (self.status, self.stop) {
            (true, _) => ScrubCommand::Status,
            (_, true) => ScrubCommand::Stop,
            _ => ScrubCommand::Start { bytes_per_s: self.rate, partition: self.partition },
        }
    }

    /// What goes on in the server if this command is ended.
    pub(crate) fn left(&self) -> &'static str {
        if self.status || self.stop { "" } else { GOES_ON }
    }
}

pub(crate) async fn run(args: ScrubArgs) -> Result<(), Failed> {
    if let Some(map) = &args.cluster {
        let how = How { json: args.common.json, quiet: args.common.quiet, waits: !args.background };
        return cluster_scrub::run(map, &args.command(), how).await;
    }
    let client = args.common.server.client()?;
    if args.status {
        return end(&args.common, &parse(&client.scrub_status().await?)?);
    }
    if args.stop {
        return stop(&args.common, &client).await;
    }
    let partition = args.partition.map(PartitionId);
    let started = parse(&client.start_scrub(args.rate, partition).await?)?;
    if started.joined && !args.common.quiet {
        note_running("", &started);
    }
    if args.background {
        return end(&args.common, &started);
    }
    let watched = watch(&client, started, args.common.quiet).await?;
    end(&args.common, &watched)
}

async fn stop(common: &Common, client: &Client) -> Result<(), Failed> {
    let stopped = parse(&client.stop_scrub().await?)?;
    if !stopped.is_running() {
        return Err("no scrub runs".into());
    }
    let stopped = watch(client, stopped, true).await?;
    show(common, &stopped)
}

fn parse(json: &[u8]) -> Result<ScrubReport, Failed> {
    Ok(serde_json::from_slice(json)?)
}

/// Waits for the end of a scrub.
async fn watch(
    client: &Client,
    mut report: ScrubReport,
    quiet: bool,
) -> Result<ScrubReport, Failed> {
    let line = !quiet && std::io::stderr().is_terminal();
    let (joined, began_ms) = (report.joined, report.began_ms);
    let (began, from) = (Instant::now(), report.verified_bytes);
    while report.is_running() {
        if line {
            let read = report.verified_bytes.saturating_sub(from);
            let _ =
                write!(std::io::stderr(), "\r\x1b[K{}", progress(&report, read, began.elapsed()));
        }
        tokio::time::sleep(PERIOD).await;
        report = parse(&client.scrub_status().await?)?;
        if report.began_ms != began_ms {
            return Err("the scrub is gone: the server was started again; start another one".into());
        }
    }
    if line {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    Ok(ScrubReport { joined, ..report })
}

/// How far it is, after `read` bytes in this time.
fn progress(report: &ScrubReport, read: u64, elapsed: Duration) -> String {
    let total = report.total_bytes.max(report.verified_bytes).max(1);
    let percent = (u128::from(report.verified_bytes) * 100 / u128::from(total)) as usize;
    let rate = read as f64 / elapsed.as_secs_f64().max(0.001);
    let left = (total - report.verified_bytes) as f64 / rate.max(1.0);
    let found = report.found.all();
    let mut text = format!(
        "scrub [{}{}] {percent:3} %  {} of {}  {}/s",
        "=".repeat(percent / 5),
        " ".repeat(20 - percent / 5),
        show_bytes(report.verified_bytes),
        show_bytes(report.total_bytes),
        show_bytes(rate as u64),
    );
    if read > 0 {
        text += &format!("  {} left", show_duration(left as u64));
    }
    if found > 0 {
        text += &format!("  {found} damaged");
    }
    if let Some(repair) = &report.repair {
        text += &shown_repairs(repair);
    }
    text
}

/// How far the repairs are, beside what was found.
fn shown_repairs(repair: &RepairReport) -> String {
    let (open, repaired) = (repair.open_blobs, repair.repaired_blobs);
    if open + repaired == 0 {
        return String::new();
    }
    format!("  {} to repair, {repaired} repaired", counted(open, "blob"))
}

/// `45 s`, `12 min`, `3 h 20 min`.
fn show_duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Tells who asked for a scrub that one runs already, `place` says where.
pub(super) fn note_running(place: &str, report: &ScrubReport) {
    let (rate, since) = (show_bytes(report.bytes_per_s), show_time(report.began_ms));
    // Without a standard error there is nobody to tell.
    let _ = writeln!(
        std::io::stderr(),
        "afterbay blob: {place}a scrub runs already, since {since}, at {rate}/s"
    );
}

fn show(common: &Common, report: &ScrubReport) -> Result<(), Failed> {
    if common.json {
        print(&format!("{}\n", serde_json::to_string(report)?))
    } else {
        print(&text_of(report)?)
    }
}

/// Shows it; an error if something is wrong with what is stored, or was not verified.
fn end(common: &Common, report: &ScrubReport) -> Result<(), Failed> {
    show(common, report)?;
    match verdict(report) {
        None => Ok(()),
        Some(reason) => Err(reason.into()),
    }
}

/// What is wrong.
pub(super) fn verdict(report: &ScrubReport) -> Option<String> {
    let mut reasons = Vec::new();
    let found = report.found.all();
    match &report.repair {
        Some(repair) => reasons.extend(not_repaired(repair)),
        None if found > 0 => {
            let live = report.found.live;
            reasons
                .push(format!("damaged places: {found}; {live} of them in blobs that can be read"));
        }
        None => {}
    }
    if !report.unfinished.is_empty() {
        reasons.push(format!("not everything could be verified: {}", report.unfinished.join("; ")));
    }
    if report.state == ScrubState::Stopped {
        reasons.push("the scrub was stopped before its end".to_owned());
    }
    Some(reasons.join("; ")).filter(|reasons| !reasons.is_empty())
}

/// What is damaged still.
fn not_repaired(repair: &RepairReport) -> Vec<String> {
    let mut reasons = Vec::new();
    if repair.left_blobs > 0 {
        reasons.push(format!(
            "{} could not be repaired: no other replica that can be reached has them whole; what others have later is fetched by itself",
            counted(repair.left_blobs, "damaged blob")
        ));
    }
    if repair.places_left > 0 {
        reasons.push(format!(
            "{} of which nobody knows whose they were could not be compared with all other replicas",
            counted(repair.places_left, "damaged place")
        ));
    }
    let spare = repair.spare.saturating_sub(repair.mended);
    if spare > 0 {
        reasons.push(format!(
            "{} with damage in what is there twice (an index or the header of a segment); blobs can be read, and compaction writes \
             it anew",
            counted(spare, "file")
        ));
    }
    reasons
}

pub(super) fn text_of(report: &ScrubReport) -> Result<String, Failed> {
    let mut text = String::new();
    let state = match report.state {
        ScrubState::Never => return Ok("no scrub since the start of the server\n".to_owned()),
        ScrubState::Running => "runs",
        ScrubState::Stopping => "stops",
        ScrubState::Stopped => "stopped",
        ScrubState::Completed => "completed",
    };
    writeln!(text, "scrub      {state}, {}/s of each disk", show_bytes(report.bytes_per_s))?;
    writeln!(text, "began      {}", show_time(report.began_ms))?;
    if let Some(ended_ms) = report.ended_ms {
        writeln!(text, "ended      {}", show_time(ended_ms))?;
    }
    let total = report.total_bytes.max(report.verified_bytes);
    writeln!(text, "verified   {} of {}", show_bytes(report.verified_bytes), show_bytes(total))?;
    let found = report.found;
    writeln!(
        text,
        "damaged    {} live (of blobs that can be read), {} garbage (deleted or expired), {} spare (there twice, or computed again)",
        found.live, found.garbage, found.spare
    )?;
    if found.unreadable > 0 {
        writeln!(text, "           {} of these cannot be read", found.unreadable)?;
    }
    if let Some(repair) = &report.repair {
        writeln!(
            text,
            "repaired   {} of {}, read once more; {} not repaired, {} deleted or expired",
            repair.repaired_blobs,
            counted(repair.damaged_blobs, "damaged blob"),
            repair.left_blobs,
            repair.garbage_blobs
        )?;
        if repair.places + repair.spare > 0 {
            writeln!(
                text,
                "           {} of unknown blobs, {} of them compared with all replicas; {} of {} with spare data mended",
                counted(repair.places, "place"),
                repair.places - repair.places_left.min(repair.places),
                repair.mended,
                counted(repair.spare, "file")
            )?;
        }
        writeln!(text, "replicas   {} of {} are done", repair.replicas_done, repair.replicas)?;
    }
    for what in &report.unfinished {
        writeln!(text, "not verified: {what}")?;
    }
    if !report.findings.is_empty() {
        table(&mut text, &report.findings)?;
    }
    let more = found.all().saturating_sub(report.findings.len() as u64);
    if more > 0 {
        writeln!(text, "and {more} more, which are in the server's log")?;
    }
    Ok(text)
}

fn table(text: &mut String, findings: &[ScrubFinding]) -> Result<(), Failed> {
    writeln!(
        text,
        "\n{:<10}  {:<7}  {:<49}  {:>10}  {:>9}  file, and what is wrong",
        "flaw", "harm", "blob", "offset", "length"
    )?;
    for finding in findings {
        writeln!(
            text,
            "{:<10}  {:<7}  {:<49}  {:>10}  {:>9}  {}: {}",
            finding.flaw,
            finding.harm,
            finding.blob.as_deref().unwrap_or("-"),
            finding.offset,
            finding.length,
            finding.file,
            finding.what
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::ScrubCounts;

    #[test]
    fn what_was_repaired_is_no_error() {
        let mut report = report();
        report.found.live = 3;
        let repair = RepairReport {
            replicas: 2,
            replicas_done: 2,
            damaged_blobs: 3,
            repaired_blobs: 3,
            places: 1,
            spare: 1,
            mended: 1,
            ..RepairReport::default()
        };
        report.repair = Some(repair.clone());
        assert_eq!(verdict(&report), None);
        let text = text_of(&report).unwrap();
        assert!(
            text.contains("repaired   3 of 3 damaged blobs, read once more; 0 not repaired"),
            "{text}"
        );
        assert!(text.contains("1 place of unknown blobs, 1 of them compared"), "{text}");
        for (change, says) in [
            (
                RepairReport { left_blobs: 1, ..repair.clone() },
                "1 damaged blob could not be repaired",
            ),
            (RepairReport { places_left: 1, ..repair.clone() }, "could not be compared"),
            (
                RepairReport { mended: 0, ..repair.clone() },
                "1 file with damage in what is there twice",
            ),
        ] {
            report.repair = Some(change);
            let verdict = verdict(&report).unwrap();
            assert!(verdict.contains(says), "{verdict}");
        }
        let open = RepairReport { open_blobs: 4, ..repair };
        assert_eq!(shown_repairs(&open), "  4 blobs to repair, 3 repaired");
    }

    fn report() -> ScrubReport {
        ScrubReport {
            state: ScrubState::Completed,
            bytes_per_s: 32 << 20,
            ended_ms: Some(1000),
            verified_bytes: 1 << 20,
            total_bytes: 4 << 20,
            ..ScrubReport::default()
        }
    }

    #[test]
    fn how_far_it_is() {
        let mut report = report();
        let text = progress(&report, 1 << 20, Duration::from_secs(2));
        let expected =
            "scrub [=====               ]  25 %  1.0 MiB of 4.0 MiB  512.0 KiB/s  6 s left";
        assert_eq!(text, expected);
        report.found.live = 2;
        report.verified_bytes = 5 << 20;
        let text = progress(&report, 0, Duration::ZERO);
        assert!(text.contains("100 %") && text.ends_with("0 B/s  2 damaged"), "{text}");
        let texts = [119, 7199, 12_000].map(show_duration);
        assert_eq!(texts, ["119 s", "119 min", "3 h 20 min"]);
    }

    #[test]
    fn what_was_found_is_an_error() {
        assert_eq!(verdict(&report()), None);
        assert_eq!(verdict(&ScrubReport::default()), None);
        let says = |change: fn(&mut ScrubReport)| {
            let mut report = report();
            change(&mut report);
            verdict(&report).unwrap()
        };
        let counts = ScrubCounts { live: 1, garbage: 2, spare: 3, unreadable: 1 };
        assert!(says(|report| report.found.spare = 1).contains("damaged places: 1; 0 of them"));
        assert!(says(|report| report.unfinished.push("disk x".to_owned())).contains("disk x"));
        assert!(says(|report| report.state = ScrubState::Stopped).contains("stopped"));
        let finding = ScrubFinding {
            file: "/data/1.log".to_owned(),
            offset: 7,
            length: 9,
            flaw: "damaged".to_owned(),
            harm: "live".to_owned(),
            what: "body: checksum mismatch".to_owned(),
            blob: None,
        };
        let findings = vec![finding];
        let text = text_of(&ScrubReport { found: counts, findings, ..report() }).unwrap();
        assert!(text.contains("/data/1.log: body: checksum mismatch"), "{text}");
        assert!(
            text.contains("1 of these cannot be read") && text.contains("and 5 more"),
            "{text}"
        );
    }
}
