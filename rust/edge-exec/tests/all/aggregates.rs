//! Accumulators.

use afterbay_edge_plan::Value::{self, Boolean, Decimal, Double, Float, Null, Whole};
use serde_json::json;

use crate::support::{Event, aggregate, local, pipeline, run, scan, settings, watermark};

/// The accumulators of one aggregate over these values of a column, with a filter if there is one.
fn accumulate(
    name: &str,
    of: &str,
    result: &str,
    parts: &[(&str, &str)],
    values: &[(Value, Value)],
) -> Vec<Value> {
    let columns = [("v", of), ("f", "BOOLEAN"), ("t", "TIMESTAMP(3)")];
    let filtered = values.iter().any(|(_, filter)| !filter.is_null());
    let calls = [aggregate(name, Some(0), filtered.then_some(1), result)];
    let output: Vec<(&str, &str)> =
        parts.iter().copied().chain([("$slice_end", "BIGINT")]).collect();
    let pipeline = pipeline(&[
        scan(&columns, &json!({})),
        watermark(2, &columns, 2, 0),
        local(3, &[], &calls, &json!({"type": "TumblingWindow", "size": "PT1H"}), 2, &output),
    ]);
    let rows: Vec<Vec<Value>> = values
        .iter()
        .map(|(value, filter)| vec![value.clone(), filter.clone(), Value::millis(1)])
        .collect();
    let events = run(&pipeline, settings(), &rows);
    let Event::Row(mut row) = events[events.len() - 2].clone() else { panic!("{events:?}") };
    assert_eq!(row.pop(), Some(Whole(3_600_000)));
    row
}

fn unfiltered(values: Vec<Value>) -> Vec<(Value, Value)> {
    values.into_iter().map(|value| (value, Null)).collect()
}

#[test]
fn a_sum_begins_with_nothing() {
    let sum = |of, values| accumulate("SUM", of, of, &[("sum$0", of)], &unfiltered(values));
    assert_eq!(sum("INT", vec![Null, Null]), [Null]);
    assert_eq!(sum("INT", vec![Null, Whole(3), Null, Whole(4)]), [Whole(7)]);
    assert_eq!(sum("INT", vec![Whole(i32::MAX.into()), Whole(1)]), [Whole(i32::MIN.into())]);
    assert_eq!(sum("TINYINT", vec![Whole(100), Whole(100)]), [Whole(-56)]);
    assert_eq!(sum("BIGINT", vec![Whole(i64::MIN), Whole(-1)]), [Whole(i64::MAX)]);
    assert_eq!(sum("FLOAT", vec![Float(16_777_216.0), Float(1.0)]), [Float(16_777_216.0)]);
    let negative_zero = sum("DOUBLE", vec![Double(-0.0)]);
    let [Double(zero)] = negative_zero[..] else { panic!("{negative_zero:?}") };
    assert!(zero.is_sign_negative());
}

#[test]
fn an_average_is_a_sum_from_zero_and_a_count() {
    let average = |of, sum, values| {
        accumulate("AVG", of, of, &[("sum$0", sum), ("count$1", "BIGINT")], &unfiltered(values))
    };
    assert_eq!(average("INT", "BIGINT", vec![Null]), [Whole(0), Whole(0)]);
    let max = i64::from(i32::MAX);
    assert_eq!(average("INT", "BIGINT", vec![Whole(max), Whole(max)]), [Whole(2 * max), Whole(2)]);
    let floats = average("FLOAT", "DOUBLE", vec![Float(16_777_216.0), Float(1.0)]);
    assert_eq!(floats, [Double(16_777_217.0), Whole(2)]);
    let zero = average("DOUBLE", "DOUBLE", vec![Double(-0.0)]);
    let [Double(zero), Whole(1)] = zero[..] else { panic!("{zero:?}") };
    assert!(zero.is_sign_positive(), "0.0 + -0.0");
}

#[test]
fn decimals_are_added_up_in_38_digits() {
    let parts = [("sum$0", "DECIMAL(38, 2)"), ("count$1", "BIGINT")];
    let values = unfiltered(vec![Decimal(150), Null, Decimal(-25)]);
    let found = accumulate("AVG", "DECIMAL(10, 2)", "DECIMAL(38, 6)", &parts, &values);
    assert_eq!(found, [Decimal(125), Whole(2)]);
    let found = accumulate("SUM", "DECIMAL(10, 2)", "DECIMAL(38, 2)", &parts[..1], &values);
    assert_eq!(found, [Decimal(125)]);
}

/// In Flink it is null, and the next value begins it anew; that of an average, which begins with zero, stays null.
#[test]
fn a_decimal_sum_of_too_many_digits_is_null() {
    let of = "DECIMAL(38, 0)";
    let large = Decimal(6 * 10_i128.pow(37));
    let sum = |values| accumulate("SUM", of, of, &[("sum$0", of)], &unfiltered(values));
    assert_eq!(sum(vec![large.clone(), large.clone()]), [Null]);
    assert_eq!(sum(vec![large.clone(), large.clone(), Null]), [Null]);
    assert_eq!(sum(vec![large.clone(), large.clone(), Decimal(7), Decimal(1)]), [Decimal(8)]);
    let parts = [("sum$0", of), ("count$1", "BIGINT")];
    let average = |values| accumulate("AVG", of, "DECIMAL(38, 6)", &parts, &unfiltered(values));
    assert_eq!(average(vec![large.clone(), large, Decimal(7)]), [Null, Whole(3)]);
}

/// A NaN is not above anything and nothing is above it: what came first stays.
#[test]
fn extremes_are_java_s() {
    let extreme = |name: &str, of, values| {
        let part = format!("{}$0", name.to_lowercase());
        accumulate(name, of, of, &[(&part, of)], &unfiltered(values)).remove(0)
    };
    assert_eq!(extreme("MAX", "INT", vec![Null, Whole(1), Whole(3), Whole(2)]), Whole(3));
    assert_eq!(extreme("MIN", "INT", vec![Whole(2), Whole(1), Null]), Whole(1));
    assert_eq!(extreme("MIN", "INT", vec![Null]), Null);
    assert_eq!(
        extreme("MAX", "DOUBLE", vec![Double(1.0), Double(f64::NAN), Double(2.0)]),
        Double(2.0)
    );
    let first = extreme("MIN", "DOUBLE", vec![Double(f64::NAN), Double(2.0)]);
    assert!(matches!(first, Double(value) if value.is_nan()), "{first:?}");
    let zero = extreme("MAX", "DOUBLE", vec![Double(-0.0), Double(0.0)]);
    assert!(matches!(zero, Double(value) if value.is_sign_negative()), "the first of equals");
    assert_eq!(extreme("MAX", "BOOLEAN", vec![Boolean(false), Boolean(true)]), Boolean(true));
    assert_eq!(extreme("MIN", "DATE", vec![Whole(5), Whole(-5)]), Whole(-5));
    let time = extreme("MAX", "TIMESTAMP(3)", vec![Value::millis(5), Value::millis(7)]);
    assert_eq!(time, Value::millis(7));
    let parts = [("max$0", "VARCHAR(2147483647)")];
    let values = unfiltered(vec![Value::text("b"), Value::text("a")]);
    assert_eq!(accumulate("MAX", "VARCHAR(9)", "VARCHAR(9)", &parts, &values), [Value::text("b")]);
}

#[test]
fn counts_know_null_and_filters() {
    let values = [
        (Whole(1), Boolean(true)),
        (Null, Boolean(true)),
        (Whole(2), Boolean(false)),
        (Whole(3), Null),
    ];
    let found = accumulate("COUNT", "INT", "BIGINT NOT NULL", &[("count$0", "BIGINT")], &values);
    assert_eq!(found, [Whole(1)], "not null, and the filter is true");
    let found = accumulate("SUM", "INT", "INT", &[("sum$0", "INT")], &values);
    assert_eq!(found, [Whole(1)]);
    let all: Vec<_> = values.iter().map(|(value, _)| (value.clone(), Null)).collect();
    let found = accumulate("COUNT", "INT", "BIGINT NOT NULL", &[("count$0", "BIGINT")], &all);
    assert_eq!(found, [Whole(3)]);
}

/// Keys are told apart whatever stands beside them: null, "" and texts that run together.
#[test]
fn keys_are_told_apart() {
    let columns = [("a", "VARCHAR(9)"), ("b", "VARCHAR(9)"), ("t", "TIMESTAMP(3)")];
    let calls = [aggregate("COUNT", None, None, "BIGINT NOT NULL")];
    let output = [
        ("a", "VARCHAR(9)"),
        ("b", "VARCHAR(9)"),
        ("count1$0", "BIGINT"),
        ("$slice_end", "BIGINT"),
    ];
    let pipeline = pipeline(&[
        scan(&columns, &json!({})),
        watermark(2, &columns, 2, 0),
        local(3, &[0, 1], &calls, &json!({"type": "TumblingWindow", "size": "PT1H"}), 2, &output),
    ]);
    let keys = [
        [Value::text("ab"), Value::text("c")],
        [Value::text("a"), Value::text("bc")],
        // As if a text began in the middle of one.
        [Value::text("a\u{4}b"), Value::text("c")],
        [Value::text("a"), Value::text("b\u{4}c")],
        [Null, Value::text("")],
        [Value::text(""), Null],
        [Null, Null],
        [Value::text(""), Value::text("")],
    ];
    let rows: Vec<Vec<Value>> = keys
        .iter()
        .chain(&keys)
        .map(|[a, b]| vec![a.clone(), b.clone(), Value::millis(0)])
        .collect();
    let mut events = run(&pipeline, settings(), &rows);
    assert!(matches!(events.pop(), Some(Event::Watermark(_))));
    assert_eq!(events.len(), keys.len());
    for (event, key) in events.iter().zip(&keys) {
        let expected = vec![key[0].clone(), key[1].clone(), Whole(2), Whole(3_600_000)];
        assert_eq!(*event, Event::Row(expected));
    }
}
