//! Rows that fail and are left out, as an agent does with messages: what comes of the others is as if they had never been there.

use afterbay_edge_exec::{EvalError, Run};
use afterbay_edge_plan::Pipeline;
use afterbay_edge_plan::Value::{self, Decimal, Whole};
use serde_json::{Value as Json, json};

use crate::support::{
    Event, Events, aggregate, calc, call, input, literal, local, pipeline, scan, settings,
    watermark,
};

const TIME: &str = "TIMESTAMP(3)";

fn hours() -> Json {
    json!({"type": "TumblingWindow", "size": "PT1H"})
}

/// What comes of these rows to their end, and which of them fail.
fn leave_out(pipeline: &Pipeline, rows: &[Vec<Value>]) -> (Vec<Event>, Vec<(usize, EvalError)>) {
    let (mut run, mut events) = (Run::new(pipeline, settings()), Events::default());
    let fails = |(index, row): (usize, &Vec<Value>)| {
        run.push(row, &mut events).err().map(|error| (index, error))
    };
    let failed = rows.iter().enumerate().filter_map(fails).collect();
    run.finish(&mut events).unwrap();
    (events.0, failed)
}

/// Its time would make all rows behind it late.
#[test]
fn a_row_that_is_left_out_moves_no_watermark() {
    let columns = [("n", "INT"), ("t", TIME)];
    let division = call("$/$1", "BINARY", &[literal(100, "INT NOT NULL"), input(0, "INT")], "INT");
    let calls =
        [aggregate("COUNT", None, None, "BIGINT NOT NULL"), aggregate("SUM", Some(0), None, "INT")];
    let output = [("count1$0", "BIGINT"), ("sum$1", "INT"), ("$slice_end", "BIGINT")];
    let pipeline = pipeline(&[
        scan(&columns, &json!({})),
        watermark(2, &columns, 1, 0),
        calc(3, &[division, input(1, TIME)], &Json::Null),
        local(4, &[], &calls, &hours(), 1, &output),
    ]);
    let row = |n, time| vec![Whole(n), Value::millis(time)];
    let good = [row(1, 1000), row(5, 2000)];
    let with_a_bad_one = [row(1, 1000), row(0, 7_200_000), row(5, 2000)];
    let (events, failed) = leave_out(&pipeline, &with_a_bad_one);
    assert_eq!(failed, [(1, EvalError::DivisionByZero)]);
    assert_eq!(events, leave_out(&pipeline, &good).0);
    let expected = Event::Row(vec![Whole(2), Whole(120), Whole(3_600_000)]);
    assert_eq!(events[..3], [Event::Watermark(1000), Event::Watermark(2000), expected]);
}

/// Accumulators in front of the one that fails have not taken it either.
#[test]
fn a_row_that_is_left_out_is_in_no_accumulator() {
    let columns = [("v", "DECIMAL(38, 0)"), ("t", TIME)];
    let calls = [
        aggregate("COUNT", None, None, "BIGINT NOT NULL"),
        aggregate("MAX", Some(0), None, "DECIMAL(38, 0)"),
        aggregate("SUM", Some(0), None, "DECIMAL(38, 0)"),
    ];
    let output = [
        ("count1$0", "BIGINT"),
        ("max$1", "DECIMAL(38, 0)"),
        ("sum$2", "DECIMAL(38, 0)"),
        ("$slice_end", "BIGINT"),
    ];
    let pipeline = pipeline(&[
        scan(&columns, &json!({})),
        watermark(2, &columns, 1, 0),
        local(3, &[], &calls, &hours(), 1, &output),
    ]);
    let row = |v, time| vec![v, Value::millis(time)];
    let [good, bad, last] = [Decimal(6), Value::text("6"), Decimal(7)];
    let rows = [row(good.clone(), 1000), row(bad, 1500), row(last.clone(), 2000)];
    let (events, failed) = leave_out(&pipeline, &rows);
    assert_eq!(failed, [(1, EvalError::Type)]);
    let sums = vec![Whole(2), Decimal(7), Decimal(13), Whole(3_600_000)];
    assert!(events.contains(&Event::Row(sums)), "{events:?}");
    assert_eq!(events, leave_out(&pipeline, &[row(good, 1000), row(last, 2000)]).0);
}
