//! Sessions that are final at a site, against a model that keeps the rows of each.

use afterbay_edge_exec::{END_OF_INPUT, EvalError, Run, Settings, is_over};
use afterbay_edge_plan::{Pipeline, Rows, Value};
use afterbay_test_form::edge_cases;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::finals::{millis, row, rows, whole};
use crate::support::{
    Event, Events, aggregate, calc, exchange, input, pipeline_of_one_site, run, scan, sessions,
    settings, watermark,
};

const TIME: &str = "TIMESTAMP(3)";
const COLUMNS: [(&str, &str); 3] = [("k", "VARCHAR(9)"), ("v", "BIGINT"), ("t", TIME)];
const DELAY: i64 = 2000;

/// Beginning and end, COUNT(*), SUM(v) and MIN(v), and the key.
fn job(gap: i64) -> Pipeline {
    let calls = [
        aggregate("COUNT", None, None, "BIGINT NOT NULL"),
        aggregate("SUM", Some(1), None, "BIGINT"),
        aggregate("MIN", Some(1), None, "BIGINT"),
    ];
    let results = [
        ("k", "VARCHAR(9)"),
        ("x", "BIGINT NOT NULL"),
        ("x", "BIGINT"),
        ("x", "BIGINT"),
        ("s", "TIMESTAMP(3) NOT NULL"),
        ("e", "TIMESTAMP(3) NOT NULL"),
        ("r", "TIMESTAMP(3) NOT NULL"),
    ];
    let order: Vec<Json> =
        [4, 5, 1, 2, 3, 0].map(|column: usize| input(column, results[column].1)).into();
    let nodes = [
        scan(&COLUMNS, &json!({})),
        watermark(2, &COLUMNS, 2, DELAY),
        exchange(3, 1, &COLUMNS),
        sessions(4, &calls, &format!("PT{gap}S"), 2, &results),
        calc(5, &order, &Json::Null),
    ];
    let pipeline = pipeline_of_one_site(&nodes, &["k"]);
    assert_eq!(pipeline.rows(), Rows::Final);
    pipeline
}

/// A session: its key, and times and values of its rows.
type Rowset = (Value, Vec<(i64, Option<i64>)>);

struct Model {
    gap: i64,
    open: Vec<Rowset>,
    watermark: i64,
    current: i64,
    late: u64,
    events: Vec<Event>,
}

impl Model {
    fn span(&self, rows: &Rowset) -> (i64, i64) {
        let times = rows.1.iter().map(|(time, _)| *time);
        (times.clone().min().unwrap(), times.max().unwrap() + self.gap)
    }

    fn push(&mut self, row: &[Value]) {
        let time = millis(&row[2]);
        let touches = |rows: &Rowset| {
            let (start, end) = self.span(rows);
            rows.0 == row[0] && start <= time + self.gap && time <= end
        };
        let (touched, others): (Vec<Rowset>, Vec<Rowset>) =
            self.open.clone().into_iter().partition(touches);
        let mut values: Vec<(i64, Option<i64>)> =
            touched.into_iter().flat_map(|(_, rows)| rows).collect();
        values.push((time, whole(&row[1])));
        let session = (row[0].clone(), values);
        if is_over(self.span(&session).1, self.watermark) {
            self.late += 1;
        } else {
            self.open = others;
            self.open.push(session);
        }
        if time - DELAY > self.current {
            self.current = time - DELAY;
            self.watermark(self.current);
        }
    }

    fn watermark(&mut self, watermark: i64) {
        self.watermark = watermark;
        let (mut over, open): (Vec<Rowset>, Vec<Rowset>) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|rows| is_over(self.span(rows).1, watermark));
        self.open = open;
        over.sort_by_key(|rows| (self.span(rows).1, format!("{:?}", rows.0)));
        for rows in over {
            let (start, end) = self.span(&rows);
            let known: Vec<i64> = rows.1.iter().filter_map(|(_, value)| *value).collect();
            let nullable = |value: Option<i64>| value.map_or(Value::Null, Value::Whole);
            self.events.push(Event::Row(vec![
                Value::millis(start),
                Value::millis(end),
                Value::Whole(rows.1.len() as i64),
                nullable(known.iter().copied().reduce(i64::wrapping_add)),
                nullable(known.iter().copied().min()),
                rows.0,
            ]));
        }
        self.events.push(Event::Watermark(watermark));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    /// Keys are as long as each other, so that sessions with the same end come in their order.
    #[test]
    fn rows_within_a_gap_are_one_session(gap in 1_i64..12, rows in rows()) {
        let (open, events) = (Vec::new(), Vec::new());
        let (watermark, current, late) = (i64::MIN, 0, 0);
        let mut model = Model { gap: gap * 1000, open, watermark, current, late, events };
        for row in &rows {
            model.push(row);
        }
        model.watermark(END_OF_INPUT);
        prop_assert_eq!(run(&job(gap), settings(), &rows), model.events);
        let mut run = Run::new(&job(gap), settings());
        for row in &rows {
            run.push(row, &mut Events::default()).unwrap();
        }
        prop_assert_eq!(run.late_rows(), model.late);
    }

    #[test]
    fn what_is_saved_goes_on(
        rows in rows(),
        stops in prop::collection::vec(any::<bool>(), 120),
        part in any::<prop::sample::Index>(),
    ) {
        let job = job(5);
        let (mut whole, mut parts) = (Events::default(), Events::default());
        let (mut through, mut stopped) = (Run::new(&job, settings()), Run::new(&job, settings()));
        for (row, stops) in rows.iter().zip(stops) {
            through.push(row, &mut whole).unwrap();
            stopped.push(row, &mut parts).unwrap();
            if stops {
                let saved = stopped.save();
                stopped = Run::new(&job, settings());
                stopped.load(&saved).unwrap();
                prop_assert_eq!(stopped.groups(), through.groups());
                prop_assert_eq!(&stopped.save(), &saved);
                let half = &saved[..part.index(saved.len())];
                prop_assert!(Run::new(&job, settings()).load(half).is_err());
            }
        }
        through.finish(&mut whole).unwrap();
        stopped.finish(&mut parts).unwrap();
        prop_assert_eq!(whole.0, parts.0);
    }
}

/// A row that comes right at the end of a session belongs to it; one ms later it does not.
#[test]
fn sessions_that_touch_are_one() {
    for (time, sessions) in [(6000, 1), (6001, 2)] {
        let rows = [row(1, Some(1), 1000), row(1, Some(2), time)];
        let events = run(&job(5), settings(), &rows);
        let rows = events.iter().filter(|event| matches!(event, Event::Row(_))).count();
        assert_eq!(rows, sessions, "{time}: {events:?}");
    }
}

#[test]
fn a_row_may_make_one_session_of_two() {
    let rows = [row(1, Some(1), 30_000), row(1, Some(2), 36_000), row(1, Some(4), 33_000)];
    let events = run(&job(5), settings(), &rows);
    let expected = Event::Row(vec![
        Value::millis(30_000),
        Value::millis(41_000),
        Value::Whole(3),
        Value::Whole(7),
        Value::Whole(1),
        Value::text("k1"),
    ]);
    assert!(events.contains(&expected), "{events:?}");
}

#[test]
fn what_is_refused_leaves_nothing_behind() {
    let job = job(5);
    let mut run = Run::new(&job, Settings { groups_max: 1, ..settings() });
    let mut events = Events::default();
    run.push(&row(1, Some(1), 1000), &mut events).unwrap();
    let before = run.save();
    let null = [Value::Null, Value::Whole(1), Value::millis(1000)];
    let error = run.push(&null, &mut events).unwrap_err();
    assert_eq!(error, EvalError::NoSite { columns: "k".to_owned() });
    let error = run.push(&row(2, Some(1), 1000), &mut events).unwrap_err();
    assert_eq!(error, EvalError::Groups { max: 1 });
    assert_eq!((run.save(), events.0), (before, Vec::new()));
}
