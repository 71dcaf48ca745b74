//! Parts that wait and are merged, against an upper half that adds up all of them.

use std::collections::BTreeMap;

use afterbay_edge_exec::{END_OF_INPUT, Flush, NoParts, Output, Run, Settings, Waiting, windows};
use afterbay_edge_plan::{Pipeline, Plan, Value, Window, cut_with_local};
use afterbay_test_form::edge_cases;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::support::{Event, Events, aggregate, local, pipeline, run, scan, watermark};

const TIME: &str = "TIMESTAMP(3)";
const COLUMNS: [(&str, &str); 3] = [("k", "VARCHAR(9)"), ("v", "BIGINT"), ("t", TIME)];
const PARTS: [(&str, &str); 5] = [
    ("k", "VARCHAR(9)"),
    ("count1$0", "BIGINT"),
    ("sum$1", "BIGINT"),
    ("max$2", "BIGINT"),
    ("$slice_end", "BIGINT"),
];
const DELAY: i64 = 2000;

fn calls() -> [Json; 3] {
    [
        aggregate("COUNT", None, None, "BIGINT NOT NULL"),
        aggregate("SUM", Some(1), None, "BIGINT"),
        aggregate("MAX", Some(1), None, "BIGINT"),
    ]
}

/// COUNT(*), SUM(v) and MAX(v) by key.
fn job(window: &Json) -> Pipeline {
    pipeline(&[
        scan(&COLUMNS, &json!({})),
        watermark(2, &COLUMNS, 2, DELAY),
        local(3, &[0], &calls(), window, 2, &PARTS),
    ])
}

fn windowing() -> impl Strategy<Value = (Json, Window)> {
    let text = |seconds: i64| format!("PT{seconds}S");
    prop_oneof![
        (1_i64..20, -3_i64..4).prop_map(move |(size, offset)| {
            let offset = offset.clamp(1 - size, size - 1);
            let json = json!({"type": "TumblingWindow", "size": text(size), "offset": text(offset)});
            (json, Window::Tumbling { size: size * 1000, offset: offset * 1000 })
        }),
        (1_i64..10, 1_i64..6, -3_i64..4).prop_map(move |(slide, times, offset)| {
            let (size, offset) = (slide * times, offset.clamp(1 - slide, slide - 1));
            let json = json!({"type": "HoppingWindow", "size": text(size), "slide": text(slide), "offset": text(offset)});
            let (size, slide, offset) = (size * 1000, slide * 1000, offset * 1000);
            (json, Window::Hopping { size, slide, offset })
        }),
        (1_i64..10, 1_i64..6).prop_map(move |(step, times)| {
            let max_size = step * times;
            let json = json!({"type": "CumulativeWindow", "maxSize": text(max_size), "step": text(step)});
            let (max_size, step) = (max_size * 1000, step * 1000);
            (json, Window::Cumulative { max_size, step, offset: 0 })
        }),
    ]
}

/// Out of order by more than the watermark waits, so that some are late; from before 1970.
fn rows() -> impl Strategy<Value = Vec<Vec<Value>>> {
    let jitter =
        prop_oneof![-9000_i64..9000, (-9_i64..9, -2_i64..1).prop_map(|(s, ms)| s * 1000 + ms)];
    let one = (0_u8..3, prop::option::weighted(0.9, any::<i64>()), jitter);
    prop::collection::vec(one, 0..120).prop_map(|rows| {
        let at = |(index, (key, value, jitter)): (usize, (u8, Option<i64>, i64))| {
            let value = value.map_or(Value::Null, Value::Whole);
            let time = index as i64 / 3 * 2000 - 20_000 + jitter;
            vec![Value::text(format!("k{key}")), value, Value::millis(time)]
        };
        rows.into_iter().enumerate().map(at).collect()
    })
}

/// What is accumulated: count, sum and greatest value.
type Sums = (i64, Option<i64>, Option<i64>);

/// What the upper half has in the end: each key and window of what is not late for it, and each key, slice and number of windows for
/// which it is late, since another site may be behind.
#[derive(Debug, Default, PartialEq)]
struct Results {
    windows: BTreeMap<(String, i64, i64), Sums>,
    slices: BTreeMap<(String, i64, usize), Sums>,
    watermark: i64,
}

fn results(window: &Window, events: &[Event]) -> Results {
    let mut results = Results::default();
    for event in events {
        let row = match event {
            Event::Watermark(millis) => {
                assert!(*millis > results.watermark, "{millis} behind {}", results.watermark);
                results.watermark = *millis;
                continue;
            }
            Event::Row(row) => row,
        };
        let [Value::Text(key), Value::Whole(count), sum, max, Value::Whole(end)] = row.as_slice()
        else {
            panic!("{row:?}");
        };
        let watermark = results.watermark;
        let all = windows(window, end - 1);
        let (late, on_time): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, end)| watermark > 0 && *end - 1 <= watermark);
        let slice = results.slices.entry((key.to_string(), *end, late.len())).or_default();
        add(slice, *count, sum, max);
        for (start, end) in on_time {
            let result = results.windows.entry((key.to_string(), start, end)).or_default();
            add(result, *count, sum, max);
        }
    }
    results
}

fn add(sums: &mut Sums, count: i64, sum: &Value, max: &Value) {
    let whole = |value: &Value| if let Value::Whole(value) = value { Some(*value) } else { None };
    let with = |one: Option<i64>, other: Option<i64>, both: fn(i64, i64) -> i64| match (one, other)
    {
        (Some(one), Some(other)) => Some(both(one, other)),
        (one, other) => one.or(other),
    };
    sums.0 += count;
    sums.1 = with(sums.1, whole(sum), i64::wrapping_add);
    sums.2 = with(sums.2, whole(max), i64::max);
}

fn pass(event: &Event, output: &mut impl Output) {
    match event {
        Event::Row(row) => output.row(row),
        Event::Watermark(millis) => output.watermark(*millis),
    }
}

fn count(events: &[Event]) -> u64 {
    events.iter().filter(|event| matches!(event, Event::Row(_))).count() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    /// Whatever waits for how long, and whatever is killed meanwhile.
    #[test]
    fn results_are_those_of_all_parts(
        (json, window) in windowing(),
        rows in rows(),
        groups_max in prop_oneof![1_usize..6, Just(1000)],
        flush in prop::sample::select(vec![Flush::All, Flush::Over]),
        steps in prop::collection::vec(0_u8..12, 0..400),
    ) {
        let job = job(&json);
        let events = run(&job, Settings { watermark_interval: 0, groups_max, flush }, &rows);
        let mut waiting = Waiting::of(&job, 0).unwrap();
        let (mut merged, mut drains) = (Events::default(), 0);
        let mut rows_merged = 0;
        let mut steps = steps.into_iter();
        for event in &events {
            pass(event, &mut waiting);
            match steps.next() {
                Some(0) => {
                    waiting.drain(&mut merged);
                    drains += 1;
                    prop_assert!(waiting.is_empty() && waiting.rows() == 0 && waiting.bytes() == 0);
                }
                Some(1 | 2) => {
                    rows_merged += waiting.take_merged();
                    let saved = waiting.save();
                    // What the frames have had last.
                    let last = merged.0.iter().rev().find_map(|event| match event {
                        Event::Watermark(millis) => Some(*millis),
                        Event::Row(_) => None,
                    });
                    let mut loaded = Waiting::of(&job, last.unwrap_or(0)).unwrap();
                    loaded.load(&saved).unwrap();
                    prop_assert_eq!(loaded.save(), saved);
                    prop_assert_eq!(loaded.rows(), waiting.rows());
                    prop_assert_eq!(loaded.bytes(), waiting.bytes());
                    prop_assert_eq!(loaded.last_watermark(), waiting.last_watermark());
                    waiting = loaded;
                }
                _ => {}
            }
        }
        rows_merged += waiting.take_merged();
        waiting.drain(&mut merged);
        let (expected, found) = (results(&window, &events), results(&window, &merged.0));
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(found.watermark, END_OF_INPUT);
        prop_assert_eq!(count(&merged.0) + rows_merged, count(&events));
        if drains == 0 {
            prop_assert_eq!(count(&merged.0), found.slices.len() as u64, "one of each kind");
        }
    }
}

fn part(key: &str, value: i64, end: i64) -> Event {
    let (count, value) = (Value::Whole(1), Value::Whole(value));
    Event::Row(vec![Value::text(key), count, value.clone(), value, Value::Whole(end)])
}

fn sum(key: &str, (count, sum, max): (i64, i64, i64), end: i64) -> Event {
    let [count, sum, max, end] = [count, sum, max, end].map(Value::Whole);
    Event::Row(vec![Value::text(key), count, sum, max, end])
}

fn merged(job: &Pipeline, events: &[Event]) -> Vec<Event> {
    let mut waiting = Waiting::of(job, 0).unwrap();
    events.iter().for_each(|event| pass(event, &mut waiting));
    let mut out = Events::default();
    waiting.drain(&mut out);
    out.0
}

#[test]
fn a_part_goes_to_an_earlier_one_unless_a_window_has_ended_between() {
    let events = [
        part("a", 1, 10_000),
        Event::Watermark(4000),
        part("a", 5, 10_000),
        part("b", 2, 10_000),
        Event::Watermark(8000),
        part("b", 2, 10_000),
        Event::Watermark(9000),
        part("a", 3, 20_000),
        Event::Watermark(9999),
        part("a", 7, 10_000),
        part("a", 4, 20_000),
        Event::Watermark(19_999),
        part("a", 8, 10_000),
    ];
    let tumbling = job(&json!({"type": "TumblingWindow", "size": "PT10S"}));
    let expected = [
        sum("a", (2, 6, 5), 10_000),
        Event::Watermark(4000),
        sum("b", (2, 4, 2), 10_000),
        Event::Watermark(9000),
        sum("a", (2, 7, 4), 20_000),
        Event::Watermark(9999),
        // Late, however late it is.
        sum("a", (2, 15, 8), 10_000),
        Event::Watermark(19_999),
    ];
    assert_eq!(merged(&tumbling, &events), expected);
    // The slice is in the window that ends at 20 s, too, which has ended for the last one only.
    let hopping = job(&json!({"type": "HoppingWindow", "size": "PT20S", "slide": "PT10S"}));
    let mut expected = expected.to_vec();
    expected[6] = sum("a", (1, 7, 7), 10_000);
    expected.push(sum("a", (1, 8, 8), 10_000));
    assert_eq!(merged(&hopping, &events), expected);
}

/// Who merges more than may be merged is found out by the model.
#[test]
fn the_model_finds_what_must_not_be_merged() {
    let events = [
        part("a", 1, 10_000),
        Event::Watermark(9999),
        part("a", 2, 10_000),
        part("a", 3, 20_000),
        Event::Watermark(END_OF_INPUT),
    ];
    let window = Window::Tumbling { size: 10_000, offset: 0 };
    let right = results(&window, &events);
    let tumbling = job(&json!({"type": "TumblingWindow", "size": "PT10S"}));
    assert_eq!(results(&window, &merged(&tumbling, &events)), right);
    let [_, ended, late, other, end] = events.clone();
    let of_a_watermark = [sum("a", (2, 3, 2), 10_000), ended.clone(), other.clone(), end.clone()];
    let of_a_slice = [part("a", 1, 10_000), ended, sum("a", (2, 5, 3), 10_000), end.clone()];
    let behind = [late, Event::Watermark(9999), part("a", 1, 10_000), other, end];
    for wrong in [&of_a_watermark[..], &of_a_slice, &behind] {
        assert_ne!(results(&window, wrong), right, "{wrong:?}");
    }
}

/// Where an order could be seen, parts stay as they are.
#[test]
fn what_depends_on_an_order_is_not_merged() {
    let of = "DECIMAL(38, 0)";
    let columns = [("k", "BIGINT"), ("v", "DOUBLE"), ("d", of), ("t", TIME)];
    let calls = [aggregate("MIN", Some(1), None, "DOUBLE"), aggregate("SUM", Some(2), None, of)];
    let output = [("k", "BIGINT"), ("min$0", "DOUBLE"), ("sum$1", of), ("$slice_end", "BIGINT")];
    let window = json!({"type": "TumblingWindow", "size": "PT10S"});
    let job = pipeline(&[
        scan(&columns, &json!({})),
        watermark(2, &columns, 3, DELAY),
        local(3, &[0], &calls, &window, 3, &output),
    ]);
    let part = |min: Value, sum: i128| {
        Event::Row(vec![Value::Whole(1), min, Value::Decimal(sum), Value::Whole(10_000)])
    };
    let large = 9 * 10_i128.pow(37);
    let events = [
        part(Value::Double(2.0), 1),
        part(Value::Double(1.0), 2),
        part(Value::Double(f64::NAN), 3),
        part(Value::Double(3.0), large),
        part(Value::Double(2.5), large),
        part(Value::Null, 5),
    ];
    let found = merged(&job, &events);
    let texts: Vec<String> = found.iter().map(|event| format!("{event:?}")).collect();
    let expected = [
        part(Value::Double(1.0), 3),
        part(Value::Double(f64::NAN), 3),
        part(Value::Double(3.0), large),
        part(Value::Double(2.5), large + 5),
    ];
    assert_eq!(texts, expected.map(|event| format!("{event:?}")));
}

#[test]
fn rows_that_are_no_parts_are_refused() {
    let rows = pipeline(&[scan(&COLUMNS, &json!({}))]);
    assert_eq!(Waiting::of(&rows, 0).unwrap_err(), NoParts::Rows);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../edge-plan/tests/plans/tumble.json");
    let plan = Plan::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let finals = cut_with_local(&plan, &["room".to_owned()]).unwrap().pipelines.remove(0);
    assert_eq!(Waiting::of(&finals, 0).unwrap_err(), NoParts::Final);
}

/// What is saved is of one plan.
#[test]
fn what_is_damaged_is_not_loaded() {
    let job = job(&json!({"type": "TumblingWindow", "size": "PT10S"}));
    let mut waiting = Waiting::of(&job, 0).unwrap();
    let mut through = Run::new(&job, Settings { watermark_interval: 0, ..Settings::default() });
    for second in 0..30 {
        let row = [Value::text("a"), Value::Whole(second), Value::millis(second * 1000)];
        through.push(&row, &mut waiting).unwrap();
    }
    assert!(waiting.rows() >= 2 && !waiting.is_empty());
    let saved = waiting.save();
    for length in 0..saved.len() {
        assert!(Waiting::of(&job, 0).unwrap().load(&saved[..length]).is_err(), "{length} bytes");
    }
    Waiting::of(&job, 0).unwrap().load(&saved).unwrap();
}
