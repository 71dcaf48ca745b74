//! Windows that are final at a site, against a model that keeps a list of rows for each window.

use std::collections::BTreeMap;

use afterbay_edge_exec::{END_OF_INPUT, EvalError, Run, Settings, is_over, windows};
use afterbay_edge_plan::{Pipeline, Plan, Rows, Value, Window, cut_with_local};
use afterbay_test_form::edge_cases;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::support::{
    Event, Events, aggregate, calc, exchange, global, input, local, pipeline_of_one_site, run,
    scan, settings, watermark,
};

const TIME: &str = "TIMESTAMP(3)";
const COLUMNS: [(&str, &str); 3] = [("k", "VARCHAR(9)"), ("v", "BIGINT"), ("t", TIME)];
const DELAY: i64 = 2000;

/// Beginning and end of the window, COUNT(*), SUM(v), MAX(v) and AVG(v), its last ms, and the key.
fn job(window: &Json) -> Pipeline {
    let calls = [
        aggregate("COUNT", None, None, "BIGINT NOT NULL"),
        aggregate("SUM", Some(1), None, "BIGINT"),
        aggregate("MAX", Some(1), None, "BIGINT"),
        aggregate("AVG", Some(1), None, "BIGINT"),
    ];
    let parts = [
        ("k", "VARCHAR(9)"),
        ("count1$0", "BIGINT"),
        ("sum$1", "BIGINT"),
        ("max$2", "BIGINT"),
        ("sum$3", "BIGINT"),
        ("count$4", "BIGINT"),
        ("$slice_end", "BIGINT"),
    ];
    let results = [
        ("k", "VARCHAR(9)"),
        ("x", "BIGINT NOT NULL"),
        ("x", "BIGINT"),
        ("x", "BIGINT"),
        ("x", "BIGINT"),
        ("s", "TIMESTAMP(3) NOT NULL"),
        ("e", "TIMESTAMP(3) NOT NULL"),
        ("r", "TIMESTAMP(3) NOT NULL"),
    ];
    let order = [5, 6, 1, 2, 3, 4, 7, 0].map(|column: usize| input(column, results[column].1));
    let nodes = [
        scan(&COLUMNS, &json!({})),
        watermark(2, &COLUMNS, 2, DELAY),
        local(3, &[0], &calls, window, 2, &parts),
        exchange(4, 1, &parts),
        global(5, &COLUMNS, &calls, window, 6, &results),
        calc(6, &order, &Json::Null),
    ];
    let pipeline = pipeline_of_one_site(&nodes, &["k"]);
    assert_eq!(pipeline.rows(), Rows::Final);
    pipeline
}

pub(crate) fn row(key: u8, value: Option<i64>, time: i64) -> Vec<Value> {
    let value = value.map_or(Value::Null, Value::Whole);
    vec![Value::text(format!("k{key}")), value, Value::millis(time)]
}

pub(crate) fn whole(value: &Value) -> Option<i64> {
    if let Value::Whole(value) = value { Some(*value) } else { None }
}

pub(crate) fn millis(value: &Value) -> i64 {
    match value {
        Value::Timestamp { millis, .. } => *millis,
        other => panic!("{other:?}"),
    }
}

/// Of a window's rows.
type Values = Vec<Option<i64>>;

/// All windows that are open, with their rows: by end, beginning and key.
struct Model {
    window: Window,
    interval: i64,
    open: BTreeMap<(i64, i64), BTreeMap<String, Values>>,
    watermark: i64,
    current: i64,
    passed: i64,
    late: u64,
    events: Vec<Event>,
}

impl Model {
    fn new(window: Window, interval: i64) -> Self {
        let (current, passed, watermark) = (0, 0, i64::MIN);
        let (open, events, late) = (BTreeMap::new(), Vec::new(), 0);
        Self { window, interval, open, watermark, current, passed, late, events }
    }

    fn push(&mut self, row: &[Value]) {
        let time = millis(&row[2]);
        let key = format!("{:?}", row[0]);
        let open: Vec<(i64, i64)> = windows(&self.window, time)
            .into_iter()
            .filter(|&(_, end)| !is_over(end, self.watermark))
            .collect();
        self.late += u64::from(open.is_empty());
        for (start, end) in open {
            let window = self.open.entry((end, start)).or_default();
            window.entry(key.clone()).or_default().push(whole(&row[1]));
        }
        self.current = self.current.max(time - DELAY);
        if self.current - self.passed > self.interval {
            self.passed = self.current;
            self.watermark(self.current);
        }
    }

    fn watermark(&mut self, watermark: i64) {
        if watermark > self.watermark {
            self.watermark = watermark;
            while let Some(first) = self.open.first_entry()
                && is_over(first.key().0, watermark)
            {
                let ((end, start), keys) = first.remove_entry();
                for (key, values) in keys {
                    let known: Vec<i64> = values.iter().copied().flatten().collect();
                    let sum = known.iter().copied().reduce(i64::wrapping_add);
                    let nullable = |value: Option<i64>| value.map_or(Value::Null, Value::Whole);
                    self.events.push(Event::Row(vec![
                        Value::millis(start),
                        Value::millis(end),
                        Value::Whole(values.len() as i64),
                        nullable(sum),
                        nullable(known.iter().copied().max()),
                        nullable(sum.map(|sum| sum.wrapping_div(known.len() as i64))),
                        Value::millis(end - 1),
                        Value::text(key),
                    ]));
                }
            }
        }
        self.events.push(Event::Watermark(watermark));
    }
}

/// Keys as the model has them, and rows of one window in their order: which key comes first is no matter of the result.
fn in_order(events: Vec<Event>, is_model: bool) -> Vec<Event> {
    let mut ordered: Vec<Event> = Vec::new();
    let mut same: Vec<(i64, String, Vec<Value>)> = Vec::new();
    let flush = |same: &mut Vec<(i64, String, Vec<Value>)>, ordered: &mut Vec<Event>| {
        same.sort_by(|left, right| left.1.cmp(&right.1));
        ordered.extend(same.drain(..).map(|(_, _, row)| Event::Row(row)));
    };
    for event in events {
        match event {
            Event::Row(mut row) => {
                let end = millis(&row[1]);
                if same.last().is_some_and(|last| last.0 != end) {
                    flush(&mut same, &mut ordered);
                }
                let key = if is_model {
                    match row.last() {
                        Some(Value::Text(key)) => key.to_string(),
                        other => panic!("{other:?}"),
                    }
                } else {
                    format!("{:?}", row.last().unwrap())
                };
                row.pop();
                row.push(Value::text(key.clone()));
                same.push((end, key, row));
            }
            watermark => {
                flush(&mut same, &mut ordered);
                ordered.push(watermark);
            }
        }
    }
    flush(&mut same, &mut ordered);
    ordered
}

fn specs() -> impl Strategy<Value = (Json, Window)> {
    let offset = -9_i64..10;
    prop_oneof![
        (1_i64..20, offset.clone()).prop_map(|(size, offset)| {
            let offset = offset.clamp(1 - size, size - 1);
            let json = json!({"type": "TumblingWindow", "size": format!("PT{size}S"), "offset": format!("PT{offset}S")});
            (json, Window::Tumbling { size: size * 1000, offset: offset * 1000 })
        }),
        (1_i64..10, 1_i64..6, offset.clone()).prop_map(|(slide, times, offset)| {
            let (size, offset) = (slide * times, offset.clamp(1 - slide, slide - 1));
            let json = json!({"type": "HoppingWindow", "size": format!("PT{size}S"), "slide": format!("PT{slide}S"), "offset": format!("PT{offset}S")});
            (json, Window::Hopping { size: size * 1000, slide: slide * 1000, offset: offset * 1000 })
        }),
        (1_i64..10, 1_i64..6, offset).prop_map(|(step, times, offset)| {
            let (max, offset) = (step * times, offset.clamp(1 - step, step - 1));
            let json = json!({"type": "CumulativeWindow", "maxSize": format!("PT{max}S"), "step": format!("PT{step}S"), "offset": format!("PT{offset}S")});
            (json, Window::Cumulative { max_size: max * 1000, step: step * 1000, offset: offset * 1000 })
        }),
    ]
}

pub(crate) fn rows() -> impl Strategy<Value = Vec<Vec<Value>>> {
    // Out of order by more than the watermark waits: some are late for all windows, some for the first ones. From before 1970.
    let jitter =
        prop_oneof![-25_000_i64..9000, (-20_i64..9, -2_i64..1).prop_map(|(s, ms)| s * 1000 + ms)];
    let step = prop_oneof![9 => 0_i64..2000, 1 => 0_i64..100_000];
    let one = (0_u8..4, prop::option::weighted(0.9, any::<i64>()), jitter, step);
    prop::collection::vec(one, 0..120).prop_map(|rows| {
        let mut now = -20_000;
        let mut at = |(key, value, jitter, step): (u8, Option<i64>, i64, i64)| {
            now += step;
            row(key, value, now + jitter)
        };
        rows.into_iter().map(&mut at).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    #[test]
    fn every_window_has_the_rows_that_are_in_time_for_it(
        (json, window) in specs(),
        rows in rows(),
        interval in prop::sample::select(vec![0_i64, 200, 5000]),
    ) {
        let settings = Settings { watermark_interval: interval, ..Settings::default() };
        let mut model = Model::new(window, interval);
        for row in &rows {
            model.push(row);
        }
        model.watermark(END_OF_INPUT);
        let found = run(&job(&json), settings, &rows);
        prop_assert_eq!(in_order(found, false), in_order(model.events, true));
        let mut run = Run::new(&job(&json), settings);
        for row in &rows {
            run.push(row, &mut Events::default()).unwrap();
        }
        prop_assert_eq!(run.late_rows(), model.late);
    }

    /// A run that is saved and loaded at any moments gives what one gives that goes through, row for row.
    #[test]
    fn what_is_saved_goes_on(
        (json, _) in specs(),
        rows in rows(),
        stops in prop::collection::vec(any::<bool>(), 120),
        part in any::<prop::sample::Index>(),
    ) {
        let job = job(&json);
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
                prop_assert_eq!(stopped.late_rows(), through.late_rows());
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

/// In the cloud, a group of null has rows of all sites; and nothing is left of a row that is refused.
#[test]
fn null_is_of_no_site() {
    let job = job(&json!({"type": "TumblingWindow", "size": "PT10S"}));
    let (mut run, mut events) = (Run::new(&job, settings()), Events::default());
    run.push(&row(1, Some(1), 1000), &mut events).unwrap();
    let before = run.save();
    let error = run.push(&[Value::Null, Value::Whole(1), Value::millis(20_000)], &mut events);
    assert_eq!(error, Err(EvalError::NoSite { columns: "k".to_owned() }));
    assert!(error.unwrap_err().to_string().starts_with("k is null, and was declared as local"));
    assert_eq!((run.save(), events.0), (before, Vec::new()));
}

/// Nothing can be emitted early.
#[test]
fn more_groups_than_there_may_be_are_an_error() {
    let job = job(&json!({"type": "TumblingWindow", "size": "PT10S"}));
    let settings = Settings { groups_max: 2, ..settings() };
    let (mut run, mut events) = (Run::new(&job, settings), Events::default());
    for key in [1, 2, 1] {
        run.push(&row(key, Some(1), 1000), &mut events).unwrap();
    }
    let before = run.save();
    let error = run.push(&row(3, Some(1), 1000), &mut events);
    assert_eq!(error, Err(EvalError::Groups { max: 2 }));
    assert!(error.unwrap_err().to_string().contains("--groups-max"));
    assert_eq!(run.save(), before);
    // Groups that are there take more rows, and there is room when they are over.
    run.push(&row(2, Some(1), 12_500), &mut events).unwrap_err();
    run.push(&row(1, Some(1), 9000), &mut events).unwrap();
    run.push(&row(2, Some(1), 9999 + DELAY), &mut events).unwrap_err();
    run.finish(&mut events).unwrap();
    assert_eq!((events.0.len(), run.groups()), (4, 0), "{:?}", events.0);
}

/// One aggregate of one column over HOP windows of 10 s and 5 s.
fn of_column(name: &str, kind: &str, parts: &[(&str, &str)], result: &str) -> Pipeline {
    let columns = [("k", "INT"), ("v", kind), ("t", TIME)];
    let window = json!({"type": "HoppingWindow", "size": "PT10S", "slide": "PT5S"});
    let calls = [aggregate(name, Some(1), None, result)];
    let count = format!("count1${}", parts.len());
    let mut between = vec![("k", "INT")];
    between.extend(parts);
    between.extend([(count.as_str(), "BIGINT"), ("$slice_end", "BIGINT")]);
    let results = [("k", "INT"), ("x", result), ("s", TIME), ("e", TIME), ("r", TIME)];
    let nodes = [
        scan(&columns, &json!({})),
        watermark(2, &columns, 2, 0),
        local(3, &[0], &calls, &window, 2, &between),
        exchange(4, 1, &between),
        global(5, &columns, &calls, &window, between.len() - 1, &results),
    ];
    pipeline_of_one_site(&nodes, &["k"])
}

/// What the windows give, one behind the other.
fn results(pipeline: &Pipeline, values: &[(Value, i64)]) -> Vec<Value> {
    let rows: Vec<Vec<Value>> = values
        .iter()
        .map(|(value, time)| vec![Value::Whole(1), value.clone(), Value::millis(*time)])
        .collect();
    let rows = run(pipeline, settings(), &rows).into_iter().filter_map(|event| match event {
        Event::Row(mut row) => Some(row.remove(1)),
        Event::Watermark(_) => None,
    });
    rows.collect()
}

#[test]
fn averages_are_of_the_type_of_what_they_are_of() {
    let of = of_column("AVG", "INT", &[("sum$0", "BIGINT"), ("count$1", "BIGINT")], "INT");
    let values = [(-3, 1000), (-4, 2000), (6, 8000)].map(|(v, t)| (Value::Whole(v), t));
    assert_eq!(results(&of, &values), [-3, 0, 6].map(Value::Whole));
    let nulls = [(Value::Null, 1000), (Value::Null, 2000)];
    assert_eq!(results(&of, &nulls), [Value::Null, Value::Null]);
    let of = of_column("AVG", "FLOAT", &[("sum$0", "DOUBLE"), ("count$1", "BIGINT")], "FLOAT");
    let values = [(0.1_f32, 1000), (0.2, 8000)].map(|(v, t)| (Value::Float(v), t));
    let both = ((f64::from(0.1_f32) + f64::from(0.2_f32)) / 2.0) as f32;
    assert_eq!(results(&of, &values), [0.1, both, 0.2].map(Value::Float));
    let of = of_column("AVG", "DOUBLE", &[("sum$0", "DOUBLE"), ("count$1", "BIGINT")], "DOUBLE");
    let values = [(1.0, 1000), (2.0, 8000)].map(|(v, t)| (Value::Double(v), t));
    assert_eq!(results(&of, &values), [1.0, 1.5, 2.0].map(Value::Double));
}

/// As one that is added up row by row.
#[test]
fn a_merged_sum_of_too_many_digits_is_null() {
    let of = of_column("SUM", "DECIMAL(38, 0)", &[("sum$0", "DECIMAL(38, 0)")], "DECIMAL(38, 0)");
    let most = 10_i128.pow(38) - 1;
    let values = [(Value::Decimal(most), 1000), (Value::Decimal(1), 8000)];
    let expected = [Value::Decimal(most), Value::Null, Value::Decimal(1)];
    assert_eq!(results(&of, &values), expected);
}

/// The window function in front: a row is late for each of its windows by itself.
#[test]
fn attached_windows_are_final_by_their_ends() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../edge-plan/tests/plans/attached-hop.json");
    let plan = Plan::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let pipeline = cut_with_local(&plan, &["room".to_owned()]).unwrap().pipelines.remove(0);
    assert_eq!(pipeline.rows(), Rows::Final);
    let row = |time: i64, v: i64| {
        vec![Value::Whole(1), Value::millis(time), Value::Whole(v), Value::text("a")]
    };
    // The watermark is a minute behind, windows are of 2 min and 1 min: the third row is in time for the second of its windows.
    let rows = [row(30_000, 1), row(130_000, 10), row(45_000, 100), row(1000, 1000)];
    let found = run(&pipeline, settings(), &rows);
    let out = |start: i64, end: i64, sum: i64| {
        let window = [start, end].map(Value::millis);
        Event::Row([&window[..], &[Value::Whole(1), Value::Whole(sum)]].concat())
    };
    let expected = [
        out(-60_000, 60_000, 1),
        Event::Watermark(70_000),
        out(0, 120_000, 1101),
        out(60_000, 180_000, 10),
        out(120_000, 240_000, 10),
        Event::Watermark(END_OF_INPUT),
    ];
    assert_eq!(found, expected);
}
