//! Slices and watermarks, against a plain model of Flink's operators that keeps rows; and what the result of a job needs.

use std::collections::{BTreeMap, BTreeSet};

use afterbay_edge_exec::{END_OF_INPUT, Flush, Run, Settings, windows};
use afterbay_edge_plan::{Pipeline, Value, Window};
use afterbay_test_form::edge_cases;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::support::{Event, Events, aggregate, local, pipeline, run, scan, watermark};

const TIME: &str = "TIMESTAMP(3)";
const COLUMNS: [(&str, &str); 3] = [("k", "VARCHAR(9)"), ("v", "BIGINT"), ("t", TIME)];
const DELAY: i64 = 2000;

/// COUNT(*), SUM(v) and MAX(v) by key.
fn job(window: &Json) -> Pipeline {
    let calls = [
        aggregate("COUNT", None, None, "BIGINT NOT NULL"),
        aggregate("SUM", Some(1), None, "BIGINT"),
        aggregate("MAX", Some(1), None, "BIGINT"),
    ];
    let output = [
        ("k", "VARCHAR(9)"),
        ("count1$0", "BIGINT"),
        ("sum$1", "BIGINT"),
        ("max$2", "BIGINT"),
        ("$slice_end", "BIGINT"),
    ];
    pipeline(&[
        scan(&COLUMNS, &json!({})),
        watermark(2, &COLUMNS, 2, DELAY),
        local(3, &[0], &calls, window, 2, &output),
    ])
}

fn row(key: u8, value: Option<i64>, time: i64) -> Vec<Value> {
    let value = value.map_or(Value::Null, Value::Whole);
    vec![Value::text(format!("k{key}")), value, Value::millis(time)]
}

fn millis(value: &Value) -> i64 {
    match value {
        Value::Timestamp { millis, .. } => *millis,
        other => panic!("{other:?}"),
    }
}

/// `WatermarkAssignerOperator`, `LocalSlicingWindowAggOperator` and `RecordsWindowBuffer`, with rows that wait for the flush.
#[derive(Default)]
struct Model {
    slice: i64,
    offset: i64,
    interval: i64,
    /// In the order in which slice and key came first.
    waiting: Vec<(i64, Value, Vec<Value>)>,
    current: i64,
    passed: i64,
    seen: i64,
    trigger: i64,
    events: Vec<Event>,
}

impl Model {
    fn push(&mut self, row: &[Value]) {
        let time = millis(&row[2]);
        let begin = (time - self.offset).div_euclid(self.slice) * self.slice + self.offset;
        let end = begin + self.slice;
        let group = self.waiting.iter_mut().find(|(e, key, _)| *e == end && *key == row[0]);
        match group {
            Some((_, _, values)) => values.push(row[1].clone()),
            None => self.waiting.push((end, row[0].clone(), vec![row[1].clone()])),
        }
        self.current = self.current.max(time - DELAY);
        if self.current - self.passed > self.interval {
            self.passed = self.current;
            self.watermark(self.current);
        }
    }

    fn watermark(&mut self, watermark: i64) {
        if watermark > self.seen {
            self.seen = watermark;
            if watermark >= self.trigger {
                if self.waiting.iter().any(|(end, _, _)| *end - 1 <= watermark) {
                    self.flush();
                }
                if watermark == END_OF_INPUT {
                    self.events.push(Event::Watermark(watermark));
                    return;
                }
                let begin =
                    (watermark - self.offset).div_euclid(self.slice) * self.slice + self.offset;
                let last = begin + self.slice - 1;
                self.trigger = if last > watermark { last } else { last + self.slice };
            }
        }
        self.events.push(Event::Watermark(watermark));
    }

    fn flush(&mut self) {
        for (end, key, values) in std::mem::take(&mut self.waiting) {
            let known: Vec<i64> = values
                .iter()
                .filter_map(
                    |value| if let Value::Whole(value) = value { Some(*value) } else { None },
                )
                .collect();
            let sum = known.iter().copied().reduce(i64::wrapping_add);
            let max = known.iter().copied().max();
            let nullable = |value: Option<i64>| value.map_or(Value::Null, Value::Whole);
            let count = Value::Whole(values.len() as i64);
            self.events.push(Event::Row(vec![
                key,
                count,
                nullable(sum),
                nullable(max),
                Value::Whole(end),
            ]));
        }
    }
}

fn specs() -> impl Strategy<Value = (Json, i64, i64)> {
    prop_oneof![
        (1_i64..20, -3_i64..4).prop_map(|(size, offset)| {
            let offset = offset.clamp(1 - size, size - 1) * 1000;
            let window = json!({"type": "TumblingWindow", "size": format!("PT{size}S"), "offset": format!("PT{}S", offset / 1000)});
            (window, size * 1000, offset)
        }),
        (1_i64..10, 1_i64..6).prop_map(|(step, times)| {
            let max = step * times;
            (json!({"type": "CumulativeWindow", "maxSize": format!("PT{max}S"), "step": format!("PT{step}S")}), step * 1000, 0)
        }),
    ]
}

fn rows() -> impl Strategy<Value = Vec<Vec<Value>>> {
    // Out of order by more than the watermark waits, so that some are late; from before 1970.
    // Half of them make a watermark at, or one ms beside, the last ms of a slice.
    let jitter =
        prop_oneof![-9000_i64..9000, (-9_i64..9, -2_i64..1).prop_map(|(s, ms)| s * 1000 + ms)];
    let one = (0_u8..4, prop::option::weighted(0.9, any::<i64>()), jitter);
    prop::collection::vec(one, 0..120).prop_map(|rows| {
        let at = |(index, (key, value, jitter)): (usize, (u8, Option<i64>, i64))| {
            row(key, value, index as i64 / 3 * 2000 - 20_000 + jitter)
        };
        rows.into_iter().enumerate().map(at).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    #[test]
    fn every_row_and_watermark_comes_as_from_flink(
        (window, slice, offset) in specs(),
        rows in rows(),
        interval in prop::sample::select(vec![0_i64, 200, 5000]),
    ) {
        let settings = Settings { watermark_interval: interval, ..Settings::default() };
        let mut model = Model { slice, offset, interval, ..Model::default() };
        for row in &rows {
            model.push(row);
        }
        model.watermark(END_OF_INPUT);
        prop_assert_eq!(run(&job(&window), settings, &rows), model.events);
    }

    /// Whatever the memory: parts add up to all rows of a slice, in front of the watermark that ends it, but for late ones.
    #[test]
    fn parts_add_up_however_often_they_are_flushed(
        (window, slice, offset) in specs(),
        rows in rows(),
        groups_max in prop_oneof![1_usize..6, Just(1000)],
        flush in prop::sample::select(vec![Flush::All, Flush::Over]),
    ) {
        let settings = Settings { watermark_interval: 0, groups_max, flush };
        let mut parts: BTreeMap<(String, i64), usize> = BTreeMap::new();
        let mut expected: BTreeMap<(String, i64), (i64, i64)> = BTreeMap::new();
        let mut late = BTreeSet::new();
        let mut watermark = 0;
        for row in &rows {
            let time = millis(&row[2]);
            let end = (time - offset).div_euclid(slice) * slice + offset + slice;
            let key = (format!("{:?}", row[0]), end);
            if watermark >= end - 1 {
                late.insert(key.clone());
            }
            watermark = watermark.max(time - DELAY);
            let all = expected.entry(key).or_default();
            all.0 += 1;
            if let Value::Whole(value) = row[1] {
                all.1 = all.1.wrapping_add(value);
            }
        }
        let mut found: BTreeMap<(String, i64), (i64, i64)> = BTreeMap::new();
        let mut last = 0;
        for event in run(&job(&window), settings, &rows) {
            match event {
                Event::Watermark(watermark) => {
                    prop_assert!(watermark > last, "{} after {}", watermark, last);
                    last = watermark;
                }
                Event::Row(row) => {
                    let [key, Value::Whole(count), sum, _, Value::Whole(end)] = row.as_slice() else {
                        panic!("{row:?}");
                    };
                    let key = (format!("{key:?}"), *end);
                    prop_assert!(last < end - 1 || late.contains(&key), "{:?} behind {}", key, last);
                    *parts.entry(key.clone()).or_default() += 1;
                    let all = found.entry(key).or_default();
                    all.0 += count;
                    if let Value::Whole(sum) = sum {
                        all.1 = all.1.wrapping_add(*sum);
                    }
                }
            }
        }
        prop_assert_eq!(last, END_OF_INPUT);
        prop_assert_eq!(found, expected);
        if flush == Flush::Over && groups_max == 1000 {
            for (key, count) in parts {
                prop_assert!(count == 1 || late.contains(&key), "{} parts of {:?}", count, key);
            }
        }
    }

    #[test]
    fn a_time_is_in_all_its_windows_and_no_other(
        time in -100_000_i64..100_000, unit in 1_i64..5000, times in 1_i64..6, offset in -4999_i64..5000,
    ) {
        let offset = offset % unit;
        let size = unit * times;
        let all = windows(&Window::Hopping { size, slide: unit, offset }, time);
        prop_assert_eq!(all.len() as i64, times);
        for (start, end) in &all {
            prop_assert!(*start <= time && time < *end && end - start == size);
            prop_assert_eq!((start - offset).rem_euclid(unit), 0);
        }
        let all = windows(&Window::Cumulative { max_size: size, step: unit, offset }, time);
        for (start, end) in &all {
            prop_assert!(*start <= time && time < *end && (end - start) % unit == 0);
            prop_assert_eq!((start - offset).rem_euclid(size), 0);
        }
        // From the first that has it to the longest one.
        let start = (time - offset).div_euclid(size) * size + offset;
        prop_assert_eq!(all.len() as i64, times - (time - start) / unit);
        prop_assert_eq!(windows(&Window::Tumbling { size, offset }, time), vec![(start, start + size)]);
    }
}

/// The first row of a flush would make the others late if it carried the new watermark.
#[test]
fn a_flush_comes_before_the_watermark_that_made_it() {
    let window = json!({"type": "TumblingWindow", "size": "PT10S"});
    let rows = [row(1, Some(1), 1000), row(2, Some(2), 2000), row(1, Some(3), 12_500)];
    let settings = Settings { watermark_interval: 0, ..Settings::default() };
    let events = run(&job(&window), settings, &rows);
    let out = |key: &str, count, sum, end| {
        Event::Row(vec![
            Value::text(key),
            Value::Whole(count),
            Value::Whole(sum),
            Value::Whole(sum),
            Value::Whole(end),
        ])
    };
    // Times are below the delay at first: nothing up to 0 is passed on.
    let expected = [
        out("k1", 1, 1, 10_000),
        out("k2", 1, 2, 10_000),
        out("k1", 1, 3, 20_000),
        Event::Watermark(10_500),
        Event::Watermark(END_OF_INPUT),
    ];
    assert_eq!(events, expected);
}

/// A slice is over with its last ms.
#[test]
fn the_last_ms_of_a_slice_ends_it() {
    let window = json!({"type": "TumblingWindow", "size": "PT10S"});
    let settings = Settings { watermark_interval: 0, ..Settings::default() };
    for (time, rows_before) in [(10_000 + DELAY - 1, 2), (10_000 + DELAY - 2, 0)] {
        let rows = [row(1, Some(1), 1000), row(2, Some(2), time)];
        let events = run(&job(&window), settings, &rows);
        let watermark = events.iter().position(|event| *event == Event::Watermark(time - DELAY));
        assert_eq!(watermark, Some(rows_before), "{events:?}");
    }
}

#[test]
fn a_row_without_a_time_is_an_error() {
    let pipeline = job(&json!({"type": "TumblingWindow", "size": "PT10S"}));
    let mut run = afterbay_edge_exec::Run::new(&pipeline, Settings::default());
    let mut events = crate::support::Events::default();
    let row = [Value::text("k"), Value::Null, Value::Null];
    let error = run.push(&row, &mut events).unwrap_err();
    assert!(error.to_string().contains("time of events is null"), "{error}");
    assert_eq!(events.0, []);
}

/// The window function in front: rows once for each window, added up by the window's end.
#[test]
fn attached_windows_are_added_up_by_their_end() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../edge-plan/tests/plans/attached.json");
    let plan = afterbay_edge_plan::Plan::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let pipeline = afterbay_edge_plan::cut(&plan).pipelines.remove(0);
    let row = |room: i64, temperature: f64, time: i64, v: i64, text: &str| {
        vec![
            Value::Whole(room),
            Value::Double(temperature),
            Value::millis(time),
            Value::Whole(v),
            Value::text(text),
        ]
    };
    let rows = [
        row(1, 20.0, 1000, 5, "xax"),
        row(1, 30.0, 2000, 6, "b"),
        row(1, 40.0, 59_999, 7, "a"),
        row(1, 1.0, 60_000, 1, "a"),
    ];
    let events = run(&pipeline, Settings { watermark_interval: 0, ..Settings::default() }, &rows);
    let out = |count: i64, sum: i64, temperatures: f64, end: i64| {
        let whole = Value::Whole;
        Event::Row(vec![
            whole(1),
            whole(count),
            whole(sum),
            whole(count),
            Value::Double(temperatures),
            whole(count),
            whole(end),
        ])
    };
    assert_eq!(
        events,
        [out(2, 12, 60.0, 60_000), out(1, 1, 1.0, 120_000), Event::Watermark(END_OF_INPUT)]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    /// A run that is saved and loaded at any moments gives what one gives that goes through.
    #[test]
    fn what_is_saved_goes_on(
        rows in prop::collection::vec((0_i64..60_000, 0_u8..4, prop::option::of(any::<i64>()), any::<bool>()), 0..80),
        over: bool, groups_max in 1_usize..50,
    ) {
        let job = job(&json!({"type": "TumblingWindow", "size": "PT5S"}));
        let flush = if over { Flush::Over } else { Flush::All };
        let settings = Settings { watermark_interval: 0, flush, groups_max };
        let (mut whole, mut parts) = (Events::default(), Events::default());
        let mut through = Run::new(&job, settings);
        let mut stopped = Run::new(&job, settings);
        for (time, key, value, stops) in rows {
            let row = row(key, value, time);
            through.push(&row, &mut whole).unwrap();
            stopped.push(&row, &mut parts).unwrap();
            if stops {
                let saved = stopped.save();
                stopped = Run::new(&job, settings);
                stopped.load(&saved).unwrap();
                prop_assert_eq!(stopped.groups(), through.groups());
                prop_assert_eq!(&stopped.save(), &saved);
                let half = &saved[..(time as usize) % saved.len()];
                prop_assert!(Run::new(&job, settings).load(half).is_err());
            }
        }
        through.finish(&mut whole).unwrap();
        stopped.finish(&mut parts).unwrap();
        prop_assert_eq!(whole.0, parts.0);
    }
}
