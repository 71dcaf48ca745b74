//! The program `afterbay-edge`, as users start it.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod broker;
mod finals;
mod kill;
mod link;
mod merge;
mod mosquitto;
mod mqtt;
mod mqtts;
mod other;
mod publish;
mod relay;
mod sessions;
mod site;
mod strangers;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn plan(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../edge-plan/tests/plans/{name}.json"))
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_afterbay-edge"))
}

fn run(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn file(folder: &TempDir, name: &str, content: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn exec(plan: &Path, input: &Path) -> Command {
    let mut command = program();
    command.args(["exec", "--site", "dev1"]).arg("--plan").arg(plan).arg("--input").arg(input);
    command
}

/// Readings of two rooms, the last of them late; one of 9 degrees, which the job leaves out.
const READINGS: &str = r#"{"room":1,"temperature":20.5,"co2":400,"ts":"2026-01-01 00:00:01Z"}
{"room":1,"temperature":21.5,"co2":401.5,"ts":"2026-01-01 00:00:03Z"}
{"room":2,"temperature":9,"co2":800,"ts":"2026-01-01 00:00:04Z"}

{"room":2,"temperature":11,"co2":null,"ts":"2026-01-01 00:00:12.5Z"}
{"room":2,"temperature":12,"co2":6,"ts":"2026-01-01 00:00:09.5Z"}
"#;

const PARTS: &str = r#"{"watermark":1767225599000}
{"watermark":1767225601000}
{"watermark":1767225602000}
{"row":[1,42.0,2,2,401.5,1767225610000]}
{"row":[2,11.0,1,1,null,1767225620000]}
{"watermark":1767225610500}
{"row":[2,12.0,1,1,6.0,1767225610000]}
{"watermark":9223372036854775807}
"#;

#[test]
fn the_lower_half_runs_on_a_file_and_on_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "readings.ndjson", READINGS);
    let (code, out, err) = run(&mut exec(&plan("tumble"), &input));
    assert_eq!((code, out.as_str(), err.as_str()), (0, PARTS, ""));
    // What is not over stays: room 2's first reading is emitted at the end, behind the late one.
    let (code, out, _) = run(exec(&plan("tumble"), &input).args(["--flush", "over"]));
    let rows: Vec<&str> = out.lines().filter(|line| line.starts_with("{\"row\"")).collect();
    let expected = [
        r#"{"row":[1,42.0,2,2,401.5,1767225610000]}"#,
        r#"{"row":[2,11.0,1,1,null,1767225620000]}"#,
        r#"{"row":[2,12.0,1,1,6.0,1767225610000]}"#,
    ];
    assert_eq!((code, rows), (0, expected.to_vec()));
    assert!(
        out.find("1767225620000").unwrap() > out.find("{\"watermark\":1767225610500}").unwrap()
    );
    // The reference plan's table is CSV.
    let (code, out, err) = run(exec(&plan("lower"), &input).args(["--format", "json"]));
    assert_eq!((code, out.as_str(), err.as_str()), (0, PARTS, ""));
    let mut child = exec(&plan("tumble"), Path::new("-"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(READINGS.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), PARTS);
}

/// The job of a user whose table is a topic: the watermark is the source's, and the time is checked there.
#[test]
fn a_topic_s_job_runs_on_lines() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "readings.ndjson", READINGS);
    let (code, out, err) = run(&mut exec(&plan("kafka"), &input));
    assert_eq!((code, err.as_str()), (0, ""));
    let rows: Vec<&str> = out.lines().filter(|line| line.starts_with("{\"row\"")).collect();
    let expected = [
        r#"{"row":[1,2,42.0,2,1767225610000]}"#,
        r#"{"row":[2,1,9.0,1,1767225610000]}"#,
        r#"{"row":[2,1,11.0,1,1767225620000]}"#,
        r#"{"row":[2,1,12.0,1,1767225610000]}"#,
    ];
    assert_eq!(rows, expected);
    let input = file(&folder, "bad.ndjson", "{\"room\":1,\"temperature\":5}\n");
    let (code, _, err) = run(&mut exec(&plan("kafka"), &input));
    assert!(code == 1 && err.contains(":1: the time of events is null"), "{err}");
}

#[test]
fn csv_is_read_by_position() {
    let folder = tempfile::tempdir().unwrap();
    let csv = "a,1,20.5,400,2026-01-01 00:00:01Z\nb,2,30,\"5\",2026-01-01 00:00:02Z\r\n";
    let input = file(&folder, "readings.csv", csv);
    let (code, out, err) = run(&mut exec(&plan("lower"), &input));
    assert_eq!((code, err.as_str()), (0, ""));
    let rows: Vec<&str> = out.lines().filter(|line| line.starts_with("{\"row\"")).collect();
    let expected = [
        r#"{"row":[1,20.5,1,1,400.0,1767225610000]}"#,
        r#"{"row":[2,30.0,1,1,5.0,1767225610000]}"#,
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_bad_line_ends_it_with_file_and_line_or_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    for (line, what) in [
        ("{\"room\":\"x\"}", "column \"room\": \"x\" is no INT"),
        ("nonsense", "no JSON object"),
        ("{\"room\":1}", "the time of events is null"),
        ("{\"room\":1,\"ts\":\"yesterday\"}", "such as 2026-01-31 10:00:00.123Z"),
    ] {
        let input =
            file(&folder, "bad.ndjson", &READINGS.replacen("\n\n", &format!("\n{line}\n"), 1));
        let (code, _, err) = run(&mut exec(&plan("tumble"), &input));
        assert_eq!(code, 1, "{line}");
        let place = format!("afterbay edge: {}:4: ", input.display());
        assert!(err.starts_with(&place) && err.contains(what), "{err}");
        if line == "nonsense" {
            let (code, out, err) = run(exec(&plan("tumble"), &input).arg("--ignore-parse-errors"));
            assert_eq!((code, out.as_str(), err.as_str()), (0, PARTS, ""));
        }
    }
    let mut bytes = READINGS.as_bytes().to_vec();
    bytes.extend_from_slice(b"\xff\n");
    let input = folder.path().join("bytes.ndjson");
    std::fs::write(&input, bytes).unwrap();
    let (code, _, err) = run(&mut exec(&plan("tumble"), &input));
    assert!(code == 1 && err.contains(":7: this is not UTF-8"), "{err}");
}

#[test]
fn what_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "readings.ndjson", READINGS);
    let (code, _, err) = run(&mut exec(&plan("tumble"), &folder.path().join("none")));
    assert!(code == 1 && err.contains("none: No such file"), "{err}");
    let (code, _, err) = run(&mut exec(&folder.path().join("plan"), &input));
    assert!(code == 1 && err.contains("plan: No such file"), "{err}");
    let other = file(&folder, "plan.json", "{\"flinkVersion\":\"2.2\"}");
    let (code, _, err) = run(&mut exec(&other, &input));
    assert!(code == 1 && err.contains("flinkVersion is \"2.2\""), "{err}");
    let (code, _, err) = run(exec(&plan("tumble"), &input).args(["--table", "meter"]));
    assert!(code == 1 && err.contains("no table meter is read at a site, but sensor"), "{err}");
    let (code, _, err) = run(&mut exec(&plan("union"), &input));
    assert!(
        code == 1
            && err.contains("several tables are read: --table says which one, of sensor, csensor2"),
        "{err}"
    );
    let (code, _, err) = run(exec(&plan("union"), &input).args(["--table", "sensor"]));
    assert_eq!((code, err.as_str()), (0, ""));
    let same = std::fs::read_to_string(plan("union")).unwrap().replace("`csensor2`", "`sensor`");
    let same = file(&folder, "same.json", &same);
    let (code, _, err) = run(exec(&same, &input).args(["--table", "sensor"]));
    assert!(code == 1 && err.contains("table sensor is read 2 times"), "{err}");
    for arguments in [
        &["exec"][..],
        &["exec", "--site", "a b"],
        &["cat"],
        &["cut", "--plan", "x", "--table-option", "y"],
    ] {
        let (code, _, err) = run(program().args(arguments));
        assert_eq!(code, 2, "{arguments:?}: {err}");
    }
}

#[test]
fn a_cut_is_shown_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let (lower, upper) = (folder.path().join("lower.json"), folder.path().join("upper.json"));
    let (code, out, err) = run(program()
        .args(["cut", "--json", "--plan"])
        .arg(plan("tumble"))
        .arg("--lower")
        .arg(&lower)
        .arg("--upper")
        .arg(&upper)
        .args(["--table-option", "connector=kafka", "--table-option", "topic=a=b"]));
    assert_eq!((code, err.as_str()), (0, ""));
    let cut: Value = serde_json::from_str(&out).unwrap();
    let locations: Vec<&str> = cut["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["location"].as_str().unwrap())
        .collect();
    assert_eq!(locations, ["edge", "edge", "edge", "edge", "cloud", "cloud", "cloud", "cloud"]);
    assert_eq!(cut["pipelines"][0]["rows"], "partial");
    assert_eq!(cut["pipelines"][0]["table"], "edge_partials");
    assert_eq!(
        cut["pipelines"][0]["columns"][1],
        serde_json::json!({"name": "sum$0", "type": "DOUBLE"})
    );
    let read = |path: &Path| -> Value {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let options = &read(&upper)["nodes"][0]["scanTableSource"]["table"]["resolvedTable"]["options"];
    assert_eq!(*options, serde_json::json!({"connector": "kafka", "topic": "a=b"}));
    // The lower half is a plan that runs.
    let input = file(&folder, "readings.ndjson", READINGS);
    let (code, out, _) = run(&mut exec(&lower, &input));
    assert_eq!((code, out.as_str()), (0, PARTS));
}

#[test]
fn the_text_says_why() {
    let (code, out, _) = run(program().args(["cut", "--plan"]).arg(plan("distinct")));
    assert_eq!(code, 0);
    assert!(
        out.contains("why: aggCalls[0].distinct: DISTINCT needs the set of all values"),
        "{out}"
    );
    assert!(out.contains("columns of its rows (device, ts)"), "{out}");
}

#[test]
fn the_text_says_what_a_watermark_of_flink_s_needs() {
    let understood = std::fs::read_to_string(plan("tumble")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let other = file(&folder, "other.json", &understood.replace("\"$-$1\"", "\"$UNHEARD_OF$1\""));
    for (plan, says) in [(plan("tumble"), false), (other, true)] {
        let (code, out, err) = run(program().args(["cut", "--plan"]).arg(plan));
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(out.contains("as many tasks as there are partitions"), says, "{out}");
    }
}

#[test]
fn an_app_file_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/edge-app/traffic.toml");
    let (code, out, err) = run(program().arg("app").arg(&example));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("edge *  view valid <- reports\n"), "{out}");
    let (code, out, _) = run(program().args(["app", "--json"]).arg(&example));
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["services"][1]["local"][0]), (0, &"district".into()));
    assert_eq!(json["connections"][1]["whenFull"], "hold");
    let wrong = std::fs::read_to_string(&example).unwrap().replace("\"cloud main\"", "\"moon\"");
    let wrong = file(&folder, "app.toml", &wrong);
    let (code, out, err) = run(program().arg("app").arg(&wrong));
    assert_eq!((code, out.as_str()), (2, ""));
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines.len(), 2, "{err}");
    let place =
        format!("afterbay edge: {}:45: jams is at \"moon\": edge *, edge NAME", wrong.display());
    assert!(lines[0].starts_with(&place), "{err}");
}

/// Who reads has enough: no message, no panic.
#[test]
fn a_closed_output_is_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let line = READINGS.lines().next().unwrap();
    let lines: String = (0..100_000).map(|_| format!("{line}\n")).collect();
    let input = file(&folder, "many.ndjson", &lines);
    let mut child = exec(&plan("project"), &input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
