//! The store by itself.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::time::{SystemTime, UNIX_EPOCH};

use afterbay_edge_link::{Limits, SiteKey};
use afterbay_edge_plan::Value;
use afterbay_test_form::{PATIENCE, Wait};

use super::*;
use crate::gathered::{Gathered, Taken};
use crate::options::{Input, Link};

fn options(folder: &Path) -> AgentOptions {
    let roots = rustls::RootCertStore::empty();
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ));
    let tls = tls.with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_root_certificates(roots).with_no_client_auth();
    AgentOptions {
        site: "dev1".to_owned(),
        stream: "rows".to_owned(),
        input: Input::Pipe,
        end_topic: None,
        sequence: None,
        publish: None,
        data: folder.to_owned(),
        link: Link {
            address: "localhost:1".to_owned(),
            name: "localhost".try_into().unwrap(),
            tls: Arc::new(tls),
            key: SiteKey { access: String::new(), secret: String::new() },
            limits: Limits::default(),
        },
        settings: afterbay_edge_exec::Settings::default(),
        fingerprint: 1,
        linger: Duration::ZERO,
        outbox_bytes: 1 << 20,
        outbox_age: Duration::from_secs(60),
        when_full: WhenFull::Hold,
        accept_gap: None,
    }
}

fn commit(store: &Store) {
    commit_row(store, b"[1]\n");
}

fn commit_row(store: &Store, row: &[u8]) {
    assert!(store.commit(&progress(row)).unwrap().is_some());
}

fn progress(row: &[u8]) -> Progress {
    let part = Part { watermark: 1, payload: row.to_vec() };
    Progress {
        parts: vec![part],
        published: None,
        kept: Kept::default(),
        merged: 0,
        rows: 1,
        watermark: 1,
        finished: false,
        place: crate::state::Place::default(),
        input: Vec::new(),
        run: Vec::new(),
    }
}

/// Who commits holds the store for as long as a disk takes.
#[test]
fn a_status_waits_for_no_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(&options(folder.path())).unwrap());
    commit(&store);
    store.acknowledge(1).unwrap();
    let held = store.lock();
    let (said, hears) = channel();
    let other = store.clone();
    std::thread::spawn(move || {
        // Who hears it waits for it.
        let _ = said.send(other.status());
    });
    let status = hears.recv_timeout(PATIENCE).expect("a status while a commit is under way");
    drop(held);
    assert_eq!((status.next, status.acknowledged, status.rows), (1, 1, 1));
}

/// Else the next commit would wait for ten times as long as the link was away.
#[test]
fn the_time_of_a_commit_is_not_what_it_was_held_for() {
    let folder = tempfile::tempdir().unwrap();
    let options = AgentOptions { outbox_bytes: 16 << 10, ..options(folder.path()) };
    let store = Arc::new(Store::open(&options).unwrap());
    let row = format!("[\"{}\"]\n", "x".repeat(5000));
    (0..3).for_each(|_| commit_row(&store, row.as_bytes()));
    let other = store.clone();
    let commits = std::thread::spawn(move || {
        let took = other.commit(&progress(row.as_bytes())).unwrap();
        (took.unwrap(), Instant::now())
    });
    Wait::block("it is held", || store.status().held.is_some());
    let held = Instant::now();
    assert!(store.acknowledge(3).unwrap());
    let (took, done) = commits.join().unwrap();
    assert!(took <= done - held, "{took:?}");
}

/// No clock of a site is believed: one that was ahead for a while would fence every folder that is made later.
#[test]
fn a_new_folder_has_the_epoch_that_the_gateway_says() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&options(folder.path())).unwrap();
    commit(&store);
    assert_eq!(store.place(), (0, 0));
    store.set_epoch(7).unwrap();
    commit(&store);
    let mut cursor = store.cursor(0);
    for _ in 0..2 {
        let (_, frame) = store.read(&mut cursor).unwrap();
        assert_eq!(Frame::decode(&frame.unwrap()).unwrap().epoch, 7);
    }
    drop(store);
    let store = Store::open(&options(folder.path())).unwrap();
    assert_eq!(store.place(), (7, 0));
}

#[test]
fn what_was_acknowledged_is_known_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let store = Store::open(&options).unwrap();
    (0..3).for_each(|_| commit(&store));
    store.acknowledge(1).unwrap();
    commit(&store);
    drop(store);
    let store = Store::open(&options).unwrap();
    assert_eq!(store.place().1, 1, "with the next commit");
    store.acknowledge(2).unwrap();
    store.remember();
    drop(store);
    assert_eq!(Store::open(&options).unwrap().place().1, 2, "and at the end");
}

/// A device without a battery writes in 1970, and is told later what time it is.
#[test]
fn a_clock_that_is_set_makes_nothing_too_old() {
    let folder = tempfile::tempdir().unwrap();
    let options = AgentOptions { when_full: WhenFull::DropOldest, ..options(folder.path()) };
    let mut store = Store::open(&options).unwrap();
    commit(&store);
    let path = folder.path().join("outbox/00000000000000000000.log");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let hour = Duration::from_secs(3600);
    for (written, gaps) in [(UNIX_EPOCH + hour, 0), (SystemTime::now() - hour, 1)] {
        file.set_modified(written).unwrap();
        store.drop_old().unwrap();
        assert_eq!(store.status().gaps, 0, "what this process has written is young");
        drop(store);
        store = Store::open(&options).unwrap();
        store.drop_old().unwrap();
        assert_eq!(store.status().gaps, gaps, "{written:?}");
    }
}

/// Else a gateway that has lost what is behind the gap would not be refused: the site would say that it was told less.
#[test]
fn a_gap_that_was_acknowledged_hides_nothing_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let options = AgentOptions {
        when_full: WhenFull::DropOldest,
        outbox_bytes: 64 << 10,
        ..options(folder.path())
    };
    let store = Store::open(&options).unwrap();
    let row = format!("[\"{}\"]\n", "x".repeat(3000));
    while store.status().gaps < 2 {
        commit_row(&store, row.as_bytes());
    }
    let Gap { from, to, .. } = store.state().gap.unwrap();
    assert!(from == 0 && to > 0);
    drop(store);
    let store = Store::open(&options).unwrap();
    assert_eq!(store.place().1, 0, "nobody has acknowledged anything");
    let next = store.state().position;
    assert!(next > to + 4, "{to}..{next}");
    assert!(store.acknowledge(next - 1).unwrap());
    // Killed: no commit has said that the gap is known.
    drop(store);
    let store = Store::open(&options).unwrap();
    let (_, acknowledged) = store.place();
    assert!(acknowledged > to && acknowledged < next, "{acknowledged}");
    assert_eq!(store.state().gap, None);
}

/// COUNT, SUM and MAX by room and slice of 10 s.
fn parts() -> afterbay_edge_plan::Pipeline {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../edge-plan/tests/plans/tumble.json");
    let plan = afterbay_edge_plan::Plan::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    afterbay_edge_plan::cut(&plan).pipelines.remove(0)
}

/// What a run gives, by its number: a part of one of three rooms, or a watermark.
fn event(number: u64, salt: u64, output: &mut impl afterbay_edge_exec::Output) {
    let random = (number + 1).wrapping_mul(salt | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let now = i64::try_from(number).unwrap() * 500;
    if random.is_multiple_of(7) {
        return output.watermark(now);
    }
    let [room, value] = [random % 3, random % 1000].map(|number| number.cast_signed());
    // Some of them are late.
    let end = (now / 10_000 + 1 - (random / 3 % 3).cast_signed()) * 10_000;
    let one = Value::Whole(1);
    let value = f64::from(i32::try_from(value).unwrap());
    let row = [Value::Whole(room), Value::Double(value), one.clone(), one, Value::Double(value)];
    output.row(&[&row[..], &[Value::Whole(end)]].concat());
}

/// Of a room and slice, late or not: sum, count and greatest value.
type Totals = BTreeMap<(i64, i64, bool), (f64, i64, f64)>;

/// Adds up what frames have.
#[derive(Default)]
struct Sums {
    totals: Totals,
    rows: u64,
    watermark: i64,
}

impl Sums {
    fn take(&mut self, frame: &Frame<'_>) {
        assert!(frame.watermark >= self.watermark);
        self.watermark = frame.watermark;
        for line in frame.lines().unwrap() {
            let row = match line {
                afterbay_edge_wire::Line::Watermark(millis) => {
                    assert!(millis > self.watermark);
                    self.watermark = millis;
                    continue;
                }
                afterbay_edge_wire::Line::Row(row) => row,
            };
            let row: Vec<serde_json::Value> = serde_json::from_str(row).unwrap();
            let whole = |column: usize| row[column].as_i64().unwrap();
            let key = (whole(0), whole(5), whole(5) - 1 <= self.watermark);
            let all = self.totals.entry(key).or_default();
            all.0 += row[1].as_f64().unwrap();
            all.1 += whole(2);
            all.2 = all.2.max(row[4].as_f64().unwrap());
            self.rows += 1;
        }
    }
}

/// A folder, and who gets its frames.
struct Site {
    options: AgentOptions,
    store: Store,
    gathered: Gathered,
    pipeline: afterbay_edge_plan::Pipeline,
    /// Events that are in it, committed or not.
    events: u64,
    got: Sums,
    cursor: Cursor,
}

impl Site {
    fn open(options: AgentOptions) -> Self {
        let pipeline = parts();
        let store = Store::open(&options).unwrap();
        let state = store.state();
        let failed = |reason: String| panic!("{reason}");
        let gathered = Gathered::open(&store, &pipeline, &state, &failed).unwrap();
        let (got, cursor) = (Sums::default(), store.cursor(0));
        Self { options, store, gathered, pipeline, events: state.place.offset, got, cursor }
    }

    /// As after `kill -9`: only what is on the disk is known.
    fn start_again(&mut self) {
        // The outbox is locked as long as the former store has it.
        self.store.lock().outbox = None;
        self.store = Store::open(&self.options).unwrap();
        let state = self.store.state();
        let failed = |reason: String| panic!("{reason}");
        self.gathered = Gathered::open(&self.store, &self.pipeline, &state, &failed).unwrap();
        self.events = state.place.offset;
        self.cursor = self.store.cursor(self.cursor.position());
    }

    fn progress(&mut self, finished: bool) -> Progress {
        let keeps = !finished && self.store.is_behind();
        let Taken { parts, published, rows, watermark, kept, merged } = self.gathered.take(keeps);
        let place = crate::state::Place { offset: self.events, ..Default::default() };
        let (input, run) = (Vec::new(), Vec::new());
        Progress { parts, published, kept, merged, rows, watermark, finished, place, input, run }
    }

    /// Sends so many frames, which are acknowledged.
    fn send(&mut self, frames: usize) {
        for _ in 0..frames {
            let (gap, frame) = self.store.read(&mut self.cursor).unwrap();
            assert_eq!(gap, None);
            let Some(frame) = frame else { break };
            let frame = Frame::decode(&frame).unwrap();
            assert_eq!(frame.sequence + 1, self.cursor.position());
            self.got.take(&frame);
        }
        assert!(self.store.acknowledge(self.cursor.position()).unwrap());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(afterbay_test_form::edge_cases() / 20))]

    /// Whatever is killed, and wherever a commit fails: each row comes to its key and slice, once, as late as it was.
    #[test]
    fn rows_that_wait_are_there_once(
        salt: u64,
        steps in proptest::collection::vec((0_u8..8, 1_u64..120), 20..120),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let outbox_bytes = 16 << 10;
        let options =
            AgentOptions { when_full: WhenFull::Merge, outbox_bytes, ..options(folder.path()) };
        let mut site = Site::open(options);
        let mut kept = 0;
        for (step, number) in steps {
            for _ in 0..number {
                event(site.events, salt, &mut site.gathered);
                site.events += 1;
            }
            match step {
                // The state is not written: what is in the outbox counts for nothing.
                0 => {
                    // One may be left by an earlier step.
                    let _ = std::fs::remove_file(folder.path().join("state.new"));
                    std::fs::create_dir(folder.path().join("state.new")).unwrap();
                    let progress = site.progress(false);
                    let store = &site.store;
                    proptest::prop_assert!(store.try_commit(&mut store.lock(), &progress).is_err());
                    std::fs::remove_dir(folder.path().join("state.new")).unwrap();
                    site.start_again();
                }
                // It is written in part.
                1 => {
                    std::fs::write(folder.path().join("state.new"), b"ABES\x04half").unwrap();
                    site.start_again();
                }
                2 => site.send(number as usize % 5),
                _ => {
                    let progress = site.progress(false);
                    let store = &site.store;
                    let done = store.try_commit(&mut store.lock(), &progress);
                    match done {
                        Ok(()) => kept += site.store.state().kept.rows,
                        Err(OutboxError::Full { .. }) => {
                            // As an agent that is killed while it is held.
                            site.start_again();
                            site.send(3);
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            }
            let bytes = site.store.status().outbox_bytes + site.store.state().kept.bytes.len() as u64;
            proptest::prop_assert!(bytes <= outbox_bytes, "{} bytes", bytes);
        }
        // The link is well again.
        site.send(usize::MAX);
        let progress = site.progress(true);
        proptest::prop_assert!(site.store.commit(&progress).unwrap().is_some());
        site.send(usize::MAX);
        let state = site.store.state();
        proptest::prop_assert_eq!(&state.kept, &Kept::default());
        proptest::prop_assert_eq!(state.rows, site.got.rows + state.merged_rows);
        let mut all = crate::batch::Batch::new(site.pipeline.output().to_vec(), 0);
        for number in 0..site.events {
            event(number, salt, &mut all);
        }
        let mut expected = Sums::default();
        for (sequence, part) in (0..).zip(all.take()) {
            let (site, stream) = ("dev1".into(), "rows".into());
            let payload = part.payload.as_slice().into();
            let watermark = part.watermark;
            expected.take(&Frame { site, stream, epoch: 0, sequence, watermark, payload });
        }
        proptest::prop_assert_eq!(&site.got.totals, &expected.totals);
        proptest::prop_assert_eq!(site.got.watermark, expected.watermark);
        if kept > 0 {
            proptest::prop_assert!(site.got.rows < expected.rows);
        }
    }
}
