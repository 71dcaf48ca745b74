//! `CAST` and `TRY_CAST`.

use afterbay_edge_plan::Value::{self, Boolean, Decimal, Double, Float, Null, Whole};

use crate::support::{call, eval, input, refusal, try_eval};

fn cast(from: &str, to: &str, value: Value) -> Value {
    eval(&[from], &call("$CAST$1", "SPECIAL", &[input(0, from)], to), &[value])
}

#[test]
fn numbers_are_cut_as_java_cuts_them() {
    for (from, to, value, expected) in [
        ("BIGINT", "INT", Whole(1 << 32 | 7), Whole(7)),
        ("INT", "TINYINT", Whole(200), Whole(-56)),
        ("DOUBLE", "INT", Double(-1.9), Whole(-1)),
        ("DOUBLE", "INT", Double(1e20), Whole(i32::MAX.into())),
        ("DOUBLE", "INT", Double(f64::NAN), Whole(0)),
        ("DOUBLE", "BIGINT", Double(-1e30), Whole(i64::MIN)),
        // To int first: its range, and then the low bits.
        ("DOUBLE", "TINYINT", Double(1e20), Whole(-1)),
        ("DOUBLE", "SMALLINT", Double(70_000.5), Whole(4464)),
        ("FLOAT", "DOUBLE", Float(0.1), Double(f64::from(0.1_f32))),
        ("DOUBLE", "FLOAT", Double(1e300), Float(f32::INFINITY)),
        ("BIGINT", "DOUBLE", Whole(i64::MAX), Double(i64::MAX as f64)),
        ("DECIMAL(10, 2)", "INT", Decimal(-199), Whole(-1)),
        ("DECIMAL(10, 2)", "DOUBLE", Decimal(110), Double(1.1)),
        ("INT", "DECIMAL(20, 3)", Whole(-5), Decimal(-5000)),
        ("DECIMAL(10, 2)", "DECIMAL(20, 1)", Decimal(-1235), Decimal(-124)),
        ("DECIMAL(10, 2)", "DECIMAL(20, 1)", Decimal(1234), Decimal(123)),
        ("INT", "BOOLEAN", Whole(-3), Boolean(true)),
        ("BOOLEAN", "INT", Boolean(true), Whole(1)),
        ("BIGINT", "VARCHAR(2147483647)", Whole(-12), Value::text("-12")),
        ("BOOLEAN", "VARCHAR(2147483647)", Boolean(false), Value::text("FALSE")),
        ("VARCHAR(9)", "VARCHAR(2)", Value::text("é\u{1f600}b"), Value::text("é\u{1f600}")),
        ("CHAR(3)", "VARCHAR(9)", Value::text("abc"), Value::text("abc")),
    ] {
        assert_eq!(cast(from, to, value.clone()), expected, "{value:?} {from} as {to}");
        assert_eq!(cast(from, to, Null), Null, "{from} as {to}");
    }
}

#[test]
fn texts_become_numbers() {
    let of = "VARCHAR(100)";
    for (to, text, expected) in [
        ("INT", " 12 ", Some(Whole(12))),
        ("INT", "\t12", None),
        ("BIGINT", "12\n", None),
        ("DOUBLE", "\t12\n", Some(Double(12.0))),
        ("INT", "+7.9", Some(Whole(7))),
        ("INT", "-0.9", Some(Whole(0))),
        ("INT", ".", Some(Whole(0))),
        ("INT", "2147483648", None),
        ("INT", "1.x", None),
        ("INT", "-", None),
        ("INT", "", None),
        ("TINYINT", "128", None),
        ("BIGINT", "-9223372036854775808", Some(Whole(i64::MIN))),
        ("DOUBLE", " 1e3 ", Some(Double(1000.0))),
        ("DOUBLE", "1.5d", Some(Double(1.5))),
        ("DOUBLE", "-Infinity", Some(Double(f64::NEG_INFINITY))),
        ("DOUBLE", "inf", None),
        ("DOUBLE", "nan", None),
        ("DOUBLE", "1_0", None),
        ("BOOLEAN", "YES", Some(Boolean(true))),
        ("BOOLEAN", "0", Some(Boolean(false))),
        ("BOOLEAN", " true", None),
    ] {
        let row = [Value::text(text)];
        let strict = call("$CAST$1", "SPECIAL", &[input(0, of)], to);
        let lenient = call("$TRY_CAST$1", "SPECIAL", &[input(0, of)], to);
        assert_eq!(
            eval(&[of], &lenient, &row),
            expected.clone().unwrap_or(Null),
            "{text:?} as {to}"
        );
        match (try_eval(&[of], &strict, &row), expected) {
            (Ok(found), Some(expected)) => assert_eq!(found, expected, "{text:?} as {to}"),
            (Err(error), None) => {
                assert!(error.contains(&format!("{text:?} is no {to}")), "{error}");
                assert!(error.contains("TRY_CAST"), "{error}");
            }
            (found, expected) => panic!("{text:?} as {to}: {found:?} {expected:?}"),
        }
    }
}

/// What could overflow to null, or is written in Java's own way.
#[test]
fn what_is_not_the_same_stays_in_the_cloud() {
    for (from, to) in [
        ("INT", "DECIMAL(9, 0)"),
        ("DECIMAL(10, 2)", "DECIMAL(9, 1)"),
        ("DOUBLE", "DECIMAL(10, 2)"),
        ("DOUBLE", "VARCHAR(2147483647)"),
        ("INT", "VARCHAR(3)"),
        ("VARCHAR(9)", "CHAR(9)"),
        ("TIMESTAMP(3)", "TIMESTAMP(0)"),
        ("TIMESTAMP(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("VARCHAR(9)", "TIMESTAMP(3)"),
        ("DATE", "TIMESTAMP(3)"),
    ] {
        let why = refusal(&[from], &call("$CAST$1", "SPECIAL", &[input(0, from)], to));
        assert!(why.contains(&format!("({from}) -> {to}")), "{why}");
    }
}
