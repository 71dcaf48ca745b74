//! What an edge-cloud application is made of: app files, plans of Flink, lines of a source.

use afterbay_edge_app::App;
use afterbay_edge_exec::{Output, Reader, Run, Settings};
use afterbay_edge_outbox::{Outbox, Settings as OutboxSettings};
use afterbay_edge_plan::{Cut, Operator, Plan, Value, cut, cut_with_local, halves};
use afterbay_edge_wire::Frame;

use crate::outcome;

/// Plans of Flink 2.3.0.
const PLANS: [&str; 5] = [
    include_str!("../../edge-plan/tests/plans/lower.json"),
    include_str!("../../edge-plan/tests/plans/tumble.json"),
    include_str!("../../edge-plan/tests/plans/attached.json"),
    include_str!("../../edge-plan/tests/plans/functions.json"),
    include_str!("../../edge-plan/tests/plans/project.json"),
];

pub(crate) fn plan_seeds() -> Vec<Vec<u8>> {
    PLANS.iter().map(|plan| plan.as_bytes().to_vec()).collect()
}

/// A plan is refused, or cut; then both halves are plans, and the lower one runs what the whole would.
pub(crate) fn plan(bytes: &[u8]) -> String {
    let plan = match Plan::parse(&String::from_utf8_lossy(bytes)) {
        Ok(plan) => plan,
        // Numbers and names in messages are without end.
        Err(error) => return error.to_string().chars().take(24).collect(),
    };
    let cut_whole = cut(&plan);
    let halves = halves(&plan, &cut_whole, &[]);
    assert!(Plan::parse(&halves.upper.to_string()).is_ok());
    let lower = Plan::parse(&halves.lower.to_string()).map(|lower| cut(&lower).pipelines);
    assert_eq!(lower, Ok(cut_whole.pipelines.clone()));
    of_one_site(&plan, &cut_whole);
    let nodes: usize = cut_whole.pipelines.iter().map(|pipeline| pipeline.nodes.len()).sum();
    format!("ok {nodes}")
}

/// The same where every column is local to a site.
fn of_one_site(plan: &Plan, cut: &Cut) {
    let columns = cut.pipelines.iter().flat_map(|pipeline| match &pipeline.nodes[0].operator {
        Operator::Scan(scan) => scan.columns.clone(),
        _ => Vec::new(),
    });
    let columns: Vec<String> = columns.map(|column| column.name).collect();
    let Ok(cut) = cut_with_local(plan, &columns) else { return };
    let halves = halves(plan, &cut, &[]);
    assert!(Plan::parse(&halves.upper.to_string()).is_ok());
    let lower = Plan::parse(&halves.lower.to_string());
    let lower = lower.and_then(|lower| cut_with_local(&lower, &columns));
    assert_eq!(lower.map(|lower| lower.pipelines), Ok(cut.pipelines));
}

/// Which plan, then a line.
pub(crate) fn line_seeds() -> Vec<Vec<u8>> {
    let json =
        r#"{"device":"a","room":1,"temperature":20.5,"co2":null,"ts":"2026-01-01 00:00:01Z"}"#;
    let csv = "a,1,20.5,400,2026-01-01 00:00:01Z";
    [(0, csv), (1, json), (3, json), (4, json)]
        .into_iter()
        .map(|(plan, line): (u8, &str)| [&[plan][..], line.as_bytes()].concat())
        .collect()
}

#[derive(Default)]
struct Count {
    rows: usize,
    watermark: i64,
}

impl Output for Count {
    fn row(&mut self, _: &[Value]) {
        self.rows += 1;
    }

    fn watermark(&mut self, millis: i64) {
        assert!(millis > self.watermark);
        self.watermark = millis;
    }
}

/// A line is refused, or goes through the whole lower half.
pub(crate) fn line(bytes: &[u8]) -> String {
    let Some((&which, line)) = bytes.split_first() else { return "empty".to_owned() };
    let text = PLANS[usize::from(which) % PLANS.len()];
    let Ok(plan) = Plan::parse(text) else { return "no plan".to_owned() };
    let cut = cut(&plan);
    let pipeline = &cut.pipelines[0];
    let Operator::Scan(scan) = &pipeline.nodes[0].operator else { return "no scan".to_owned() };
    let Ok(reader) = Reader::new(scan, None, None) else { return "no reader".to_owned() };
    let row = match reader.read(&String::from_utf8_lossy(line)) {
        Ok(Some(row)) => row,
        Ok(None) => return "blank".to_owned(),
        Err(error) => return error.to_string().chars().take(14).collect(),
    };
    assert_eq!(row.len(), scan.projection.len());
    let (mut run, mut count) = (Run::new(pipeline, Settings::default()), Count::default());
    if let Err(error) = run.push(&row, &mut count) {
        return error.to_string().chars().take(14).collect();
    }
    let finished = run.finish(&mut count);
    assert_eq!(finished, Ok(()));
    assert!(count.rows <= 1 && run.groups() == 0);
    format!("ok {}", count.rows)
}

pub(crate) fn app_seeds() -> Vec<Vec<u8>> {
    vec![include_bytes!("../../../spec/vectors/edge-app/traffic.toml").to_vec()]
}

/// An app file is refused, with a line that it has, or its services are all somewhere.
pub(crate) fn app(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match App::parse(&text) {
        Ok(app) => {
            for connection in &app.connections {
                assert!(app.services.contains_key(&connection.from));
                assert!(app.services.contains_key(&connection.to));
            }
            format!("ok {}", app.services.len())
        }
        Err(errors) => {
            let lines = 1 + text.matches('\n').count();
            assert!(errors.0.iter().all(|error| (1..=lines).contains(&error.line)));
            errors.0.first().map_or(String::new(), |error| error.what.chars().take(16).collect())
        }
    }
}

pub(crate) fn frame_seeds() -> Vec<Vec<u8>> {
    let frame = |payload: &'static [u8]| Frame {
        site: "dev1".into(),
        stream: "jams".into(),
        epoch: 1,
        sequence: 2,
        watermark: 3,
        payload: payload.into(),
    };
    let plain = [&b"[1,2.5]\n"[..], b""].into_iter().filter_map(|rows| frame(rows).encode().ok());
    let rows: &[u8] =
        b"[1,-2.5,\"a\",null]\n[2,2.5,\"b\",1]\n[3,2.5,\"a\",1]\n7\n[4,2.5,\"a\",1]\n[5,2.5,\"a\",1]\n9\n";
    plain.chain(frame(rows).encode_columns().ok()).collect()
}

/// As the bytes are, and with the checksum that they should have.
pub(crate) fn frame(bytes: &[u8]) -> String {
    let mut repaired = bytes.to_vec();
    if let Some(checksum) = repaired.get_mut(8..12) {
        checksum.fill(0);
        let right = crc_fast::crc32_iscsi(&repaired).to_be_bytes();
        repaired[8..12].copy_from_slice(&right);
    }
    for bytes in [bytes, &repaired] {
        if let Ok(frame) = Frame::decode(bytes) {
            let columns = frame.encode_columns().unwrap_or_default();
            assert_eq!(Frame::decode(&columns).as_ref(), Ok(&frame));
            if bytes[5] == 0 {
                assert_eq!(frame.encode().as_deref(), Ok(bytes));
            }
        }
    }
    outcome(Frame::decode(&repaired)).chars().take(20).collect()
}

/// The only file of an outbox, as it is and torn.
pub(crate) fn outbox_seeds() -> Vec<Vec<u8>> {
    let record = |position: u64, payload: &[u8]| {
        let mut bytes = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes().to_vec();
        let covered = [&position.to_be_bytes()[..], payload].concat();
        bytes.extend_from_slice(&crc_fast::crc32_iscsi(&covered).to_be_bytes());
        [bytes, covered].concat()
    };
    let two = [record(0, b"first"), record(1, b"second")].concat();
    let torn = two[..two.len() - 3].to_vec();
    vec![two, torn]
}

/// What is opened can be read, written, and opened again with the same entries.
pub(crate) fn outbox(bytes: &[u8]) -> String {
    let Ok(folder) = tempfile::tempdir() else { return "no folder".to_owned() };
    let path = folder.path().join("00000000000000000000.log");
    if std::fs::write(path, bytes).is_err() {
        return "no file".to_owned();
    }
    let entries = |outbox: &Outbox| {
        let mut entries = Vec::new();
        let read = outbox.read(0, |position, payload| {
            entries.push((position, payload));
            true
        });
        assert!(read.is_ok(), "what was opened is read");
        entries
    };
    let mut outbox = match Outbox::open(folder.path(), OutboxSettings::default()) {
        Ok(outbox) => outbox,
        Err(error) => return error.to_string().chars().rev().take(20).collect(),
    };
    let mut before = entries(&outbox);
    let cut = outbox.cut_bytes();
    if let Ok(position) = outbox.append(b"more") {
        before.push((position, b"more".to_vec()));
    }
    drop(outbox);
    let again = Outbox::open(folder.path(), OutboxSettings::default());
    let found = again.map(|outbox| (entries(&outbox), outbox.cut_bytes()));
    assert_eq!(found.map_err(|error| error.to_string()), Ok((before.clone(), 0)));
    format!("ok {} {}", before.len(), cut > 0)
}
