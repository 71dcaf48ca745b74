//! Results that are final at a site: `--local` of the verbs.

use afterbay_test_form::Wait;
use serde_json::Value;

use crate::site::{Process, TUMBLE_FINAL, World, append, readings};
use crate::{READINGS, exec, file, plan, program, run};

const FINALS: &str = r#"{"watermark":1767225599000}
{"watermark":1767225601000}
{"watermark":1767225602000}
{"row":["2026-01-01 00:00:00","2026-01-01 00:00:10",1,21.0,2,401.5]}
{"watermark":1767225610500}
{"row":["2026-01-01 00:00:10","2026-01-01 00:00:20",2,11.0,1,null]}
{"watermark":9223372036854775807}
"#;

#[test]
fn a_local_column_makes_results_final() {
    let folder = tempfile::tempdir().unwrap();
    let (lower, upper) = (folder.path().join("lower.json"), folder.path().join("upper.json"));
    let mut command = program();
    command.args(["cut", "--local", "room", "--plan"]).arg(plan("tumble"));
    command.arg("--lower").arg(&lower).arg("--upper").arg(&upper);
    let (code, out, err) = run(&mut command);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("its aggregates, final, by key and window (window_start, "), "{out}");
    let (_, out, _) = run(command.arg("--json"));
    let cut: Value = serde_json::from_str(&out).unwrap();
    let pipeline = &cut["pipelines"][0];
    assert_eq!((&pipeline["rows"], &pipeline["table"]), (&"final".into(), &"edge_finals".into()));
    let input = file(&folder, "readings.ndjson", READINGS);
    for plan in [&plan("tumble"), &lower] {
        let (code, out, err) = run(exec(plan, &input).args(["--local", "sensor.room"]));
        assert_eq!((code, out.as_str()), (0, FINALS), "{err}");
        assert_eq!(err, "afterbay edge: 1 late rows were dropped, as Flink drops them\n");
    }
    // Not a word of it would be another cut, and rows that the upper half does not read.
    let (code, out, err) = run(&mut exec(&lower, &input));
    assert!(code == 1 && out.is_empty() && err.contains("--local has to say"), "{err}");
}

#[test]
fn a_local_column_that_is_none_is_named() {
    for (local, what) in [
        ("rom", "no table has a column rom: sensor has device, room,"),
        ("room,rom", "no table has a column rom"),
    ] {
        let mut command = program();
        command.args(["cut", "--local", local, "--plan"]).arg(plan("tumble"));
        let (code, _, err) = run(&mut command);
        assert!(code == 1 && err.contains(what), "{err}");
    }
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "null.ndjson", &READINGS.replacen("\"room\":2", "\"room\":null", 2));
    let (code, _, err) = run(exec(&plan("tumble"), &input).args(["--local", "room"]));
    assert!(code == 1 && err.contains("null.ndjson:5: room is null"), "{err}");
}

/// Late rows are counted, since nobody else sees them.
#[test]
fn an_agent_sends_final_rows_and_counts_late_ones() {
    let local = &["--local", "room"];
    let world = World { local, ..World::new("tumble", &["dev1"]) };
    world.write("dev1", &readings(0, 2000, 1));
    let _gateway = world.gateway(&[]);
    let input = world.input("dev1");
    let (_, _, said) = run(exec(&plan("tumble"), &input).args(local));
    let is_counted = |agent: &Process| {
        let late = &agent.status()["lateRows"];
        said == format!("afterbay edge: {late} late rows were dropped, as Flink drops them\n")
    };
    let agent = world.agent("dev1", &["--follow"]);
    Wait::block("late rows are counted", || is_counted(&agent));
    assert!(agent.status_text().contains("rows, dropped as Flink drops them"));
    let bytes = std::fs::metadata(&input).unwrap().len();
    Wait::block("all is committed", || agent.status()["inputBytes"] == bytes);
    agent.terminate();
    // It is in the state, and no row is read again.
    let agent = world.agent("dev1", &["--follow"]);
    Wait::block("what was counted before is known", || is_counted(&agent));
    append(&input, &readings(2000, 100, 2));
    std::fs::write(world.path("dev1.ndjson.end"), "").unwrap();
    let (code, error) = agent.end();
    assert_eq!(code, 0, "{error}");
    assert_eq!(world.rows("edge_finals")["dev1"], world.expected("dev1", &TUMBLE_FINAL));
    // What was saved is of these columns.
    let other = World { local: &["--local", "room,temperature"], ..world };
    let (code, _, error) = run(&mut other.agent_command("dev1"));
    assert!(code == 1 && error.contains("it is of another plan"), "{error}");
}

/// No row is left out for it, and a larger limit goes on where the smaller one ended.
#[test]
fn more_groups_than_there_may_be_end_an_agent() {
    let local = &["--local", "room"];
    let world = World { local, ..World::new("tumble", &["dev1"]) };
    world.write("dev1", &readings(0, 300, 1));
    let _gateway = world.gateway(&[]);
    let (code, error) = world.agent("dev1", &["--groups-max", "3"]).end();
    assert!(code == 1 && error.contains("larger --groups-max"), "{error}");
    let (code, error) = world.agent("dev1", &[]).end();
    assert_eq!(code, 0, "{error}");
    assert_eq!(world.rows("edge_finals")["dev1"], world.expected("dev1", &TUMBLE_FINAL));
}
