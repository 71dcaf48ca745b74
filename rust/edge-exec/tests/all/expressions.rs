//! Numbers, comparisons, texts and times.

use afterbay_edge_plan::Value::{self, Boolean, Decimal, Double, Float, Null, Whole};
use afterbay_edge_plan::parse_timestamp;
use serde_json::json;

use crate::support::{binary, call, eval, input, literal, refusal, try_eval};

#[test]
fn whole_numbers_wrap_around() {
    for (of, min, max) in [
        ("TINYINT", i64::from(i8::MIN), i64::from(i8::MAX)),
        ("SMALLINT", i16::MIN.into(), i16::MAX.into()),
        ("INT", i32::MIN.into(), i32::MAX.into()),
        ("BIGINT", i64::MIN, i64::MAX),
    ] {
        let columns = [of, of];
        let of_two = |name, left, right| {
            eval(&columns, &binary(name, of, of, of), &[Whole(left), Whole(right)])
        };
        assert_eq!(of_two("$+$1", max, 1), Whole(min), "{of}");
        assert_eq!(of_two("$-$1", min, 1), Whole(max), "{of}");
        assert_eq!(of_two("$*$1", max, 2), Whole(-2), "{of}");
        assert_eq!(of_two("$/$1", min, -1), Whole(min), "{of}");
        assert_eq!(of_two("$/$1", -7, 2), Whole(-3), "towards zero");
        let negative = call("$-$1", "PREFIX", &[input(0, of)], of);
        assert_eq!(eval(&[of], &negative, &[Whole(min)]), Whole(min), "{of}");
        let absolute = call("$ABS$1", "FUNCTION", &[input(0, of)], of);
        assert_eq!(eval(&[of], &absolute, &[Whole(min)]), Whole(min), "{of}");
        assert_eq!(eval(&[of], &absolute, &[Whole(-5)]), Whole(5), "{of}");
        let remainder = call("$MOD$1", "FUNCTION", &[input(0, of), input(1, of)], of);
        assert_eq!(eval(&columns, &remainder, &[Whole(-7), Whole(3)]), Whole(-1), "{of}");
        assert_eq!(eval(&columns, &remainder, &[Whole(min), Whole(-1)]), Whole(0), "{of}");
    }
}

#[test]
fn a_division_of_whole_numbers_by_zero_fails() {
    let expr = binary("$/$1", "INT", "INT", "INT");
    let error = try_eval(&["INT", "INT"], &expr, &[Whole(1), Whole(0)]).unwrap_err();
    assert!(error.contains("division by zero"), "{error}");
    let null = eval(&["INT", "INT"], &binary("$/$1", "INT", "INT", "INT"), &[Null, Whole(0)]);
    assert_eq!(null, Null);
    let infinite = eval(
        &["DOUBLE", "DOUBLE"],
        &binary("$/$1", "DOUBLE", "DOUBLE", "DOUBLE"),
        &[Double(1.0), Double(-0.0)],
    );
    assert_eq!(infinite, Double(f64::NEG_INFINITY));
}

#[test]
fn null_makes_null() {
    for name in ["$+$1", "$-$1", "$*$1", "$/$1"] {
        for row in [[Null, Whole(1)], [Whole(1), Null], [Null, Null]] {
            assert_eq!(eval(&["INT", "INT"], &binary(name, "INT", "INT", "INT"), &row), Null);
        }
    }
    for name in ["$=$1", "$<>$1", "$<$1", "$<=$1", "$>$1", "$>=$1"] {
        for row in [[Null, Whole(1)], [Whole(1), Null], [Null, Null]] {
            let found = eval(&["INT", "INT"], &binary(name, "INT", "INT", "BOOLEAN"), &row);
            assert_eq!(found, Null, "{name}");
        }
    }
}

/// `MOD` has the type of its right side.
#[test]
fn a_remainder_is_cut_to_its_right_type() {
    let expr = call("$MOD$1", "FUNCTION", &[input(0, "BIGINT"), input(1, "INT")], "INT");
    let found = eval(&["BIGINT", "INT"], &expr, &[Whole(i64::MAX), Whole(i32::MAX.into())]);
    assert_eq!(found, Whole(i64::MAX % i64::from(i32::MAX)));
}

fn six(left: &str, right: &str, row: &[Value]) -> Vec<bool> {
    let names = ["$=$1", "$<>$1", "$<$1", "$<=$1", "$>$1", "$>=$1"];
    let eval = |name: &&str| match eval(&[left, right], &binary(name, left, right, "BOOLEAN"), row)
    {
        Boolean(value) => value,
        other => panic!("{other:?}"),
    };
    names.iter().map(eval).collect()
}

const EQUAL: [bool; 6] = [true, false, false, true, false, true];
const LESS: [bool; 6] = [false, true, true, true, false, false];
const GREATER: [bool; 6] = [false, true, false, false, true, true];
const UNORDERED: [bool; 6] = [false, true, false, false, false, false];

#[test]
fn doubles_are_compared_as_java_does() {
    for (left, right, expected) in [
        (0.0, -0.0, EQUAL),
        (f64::NAN, f64::NAN, UNORDERED),
        (f64::NAN, 1.0, UNORDERED),
        (1.0, f64::NAN, UNORDERED),
        (f64::INFINITY, 1e308, GREATER),
    ] {
        assert_eq!(
            six("DOUBLE", "DOUBLE", &[Double(left), Double(right)]),
            expected,
            "{left} {right}"
        );
    }
}

/// As soon as one side is a DECIMAL, Flink calls `Double.compare`: a NaN is above 10.5.
#[test]
fn doubles_and_decimals_have_a_total_order() {
    for (double, unscaled, expected) in [
        (f64::NAN, 105, GREATER),
        (-f64::NAN, 105, GREATER),
        (f64::NEG_INFINITY, 105, LESS),
        (10.5, 105, EQUAL),
        (-0.0, 0, LESS),
        (0.0, 0, EQUAL),
    ] {
        let row = [Double(double), Decimal(unscaled)];
        assert_eq!(six("DOUBLE", "DECIMAL(3, 1)", &row), expected, "{double}");
        let reversed = if expected == LESS {
            GREATER
        } else if expected == GREATER {
            LESS
        } else {
            EQUAL
        };
        let row = [Decimal(unscaled), Double(double)];
        assert_eq!(six("DECIMAL(3, 1)", "DOUBLE", &row), reversed, "{double}");
    }
}

/// Java compares a `long` and a `float` as floats.
#[test]
fn whole_numbers_and_floats_are_compared_as_floats() {
    let row = [Whole(16_777_217), Float(16_777_216.0)];
    assert_eq!(six("BIGINT", "FLOAT", &row), EQUAL);
    assert_eq!(six("INT", "DOUBLE", &[Whole(16_777_217), Double(16_777_216.0)]), GREATER);
    assert_eq!(six("FLOAT", "DOUBLE", &[Float(0.1), Double(0.1)]), GREATER);
}

#[test]
fn decimals_are_compared_exactly() {
    let big = 10_i128.pow(37);
    for (left, right, expected) in [
        (Decimal(105), Decimal(1050), EQUAL),
        (Decimal(-105), Decimal(-1051), GREATER),
        (Decimal(105), Decimal(1051), LESS),
    ] {
        assert_eq!(six("DECIMAL(10, 1)", "DECIMAL(10, 2)", &[left, right]), expected);
    }
    // Their common digits are too many for 128 bits.
    let row = [Decimal(big), Decimal(1)];
    assert_eq!(six("DECIMAL(38, 0)", "DECIMAL(38, 38)", &row), GREATER);
    let row = [Whole(i64::MIN), Decimal(-big)];
    assert_eq!(six("BIGINT", "DECIMAL(38, 0)", &row), GREATER);
}

#[test]
fn texts_are_compared_by_their_bytes() {
    for (left, right, expected) in [
        ("a", "b", LESS),
        ("a", "a", EQUAL),
        ("a", "aa", LESS),
        ("Z", "a", LESS),
        // UTF-16, which Java's strings have, would say otherwise.
        ("\u{ffff}", "\u{10000}", LESS),
    ] {
        let row = [Value::text(left), Value::text(right)];
        assert_eq!(six("VARCHAR(10)", "CHAR(1)", &row), expected, "{left} {right}");
    }
}

#[test]
fn other_types_are_compared_with_their_own() {
    let at = |text| parse_timestamp(text, ' ').unwrap();
    let row = [at("2026-01-01 00:00:00.000000001"), at("2026-01-01 00:00:00")];
    assert_eq!(six("TIMESTAMP(9)", "TIMESTAMP(0)", &row), GREATER);
    assert_eq!(six("DATE", "DATE", &[Whole(1), Whole(2)]), LESS);
    assert_eq!(six("TIME(0)", "TIME(0)", &[Whole(1), Whole(1)]), EQUAL);
    assert_eq!(six("BOOLEAN", "BOOLEAN", &[Boolean(false), Boolean(true)]), LESS);
    for (left, right) in [
        ("DATE", "TIMESTAMP(3)"),
        ("TIMESTAMP(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("INT", "VARCHAR(10)"),
        ("BOOLEAN", "INT"),
    ] {
        let why = refusal(&[left, right], &binary("$=$1", left, right, "BOOLEAN"));
        assert!(why.contains("does not run at a site for operands of these types"), "{why}");
    }
}

#[test]
fn numbers_of_two_types_are_widened_first() {
    let expr = binary("$+$1", "INT", "DOUBLE", "DOUBLE");
    assert_eq!(eval(&["INT", "DOUBLE"], &expr, &[Whole(1), Double(0.5)]), Double(1.5));
    let expr = binary("$*$1", "DOUBLE", "DECIMAL(10, 2)", "DOUBLE");
    let found = eval(&["DOUBLE", "DECIMAL(10, 2)"], &expr, &[Double(2.0), Decimal(110)]);
    assert_eq!(found, Double(2.2));
    let expr = binary("$+$1", "TINYINT", "BIGINT", "BIGINT");
    let found = eval(&["TINYINT", "BIGINT"], &expr, &[Whole(1), Whole(i64::MAX)]);
    assert_eq!(found, Whole(i64::MIN));
    let why = refusal(&["DOUBLE", "INT"], &binary("$+$1", "DOUBLE", "INT", "INT"));
    assert!(why.contains("(DOUBLE, INT) -> INT"), "{why}");
}

#[test]
fn decimals_are_exact_or_stay_in_the_cloud() {
    let (left, right) = ("DECIMAL(10, 2)", "DECIMAL(2, 1)");
    let columns = [left, right];
    let row = [Decimal(-12_345), Decimal(15)];
    for (name, of, expected) in [
        ("$+$1", "DECIMAL(11, 2)", -12_195),
        ("$-$1", "DECIMAL(11, 2)", -12_495),
        ("$*$1", "DECIMAL(12, 3)", -185_175),
    ] {
        assert_eq!(
            eval(&columns, &binary(name, left, right, of), &row),
            Decimal(expected),
            "{name}"
        );
    }
    // One digit less than it needs: Flink gives null, or rounds.
    for (name, of) in
        [("$+$1", "DECIMAL(10, 2)"), ("$*$1", "DECIMAL(12, 2)"), ("$/$1", "DECIMAL(12, 5)")]
    {
        refusal(&columns, &binary(name, left, right, of));
    }
    for (name, syntax, expected) in [("$-$1", "PREFIX", 12_345), ("$ABS$1", "FUNCTION", 12_345)] {
        let expr = call(name, syntax, &[input(0, left)], left);
        assert_eq!(eval(&[left], &expr, &[Decimal(-12_345)]), Decimal(expected), "{name}");
    }
    refusal(&[left], &call("$FLOOR$1", "FUNCTION", &[input(0, left)], "DECIMAL(10, 0)"));
    let expr = binary("$*$1", left, "INT", "DECIMAL(20, 2)");
    assert_eq!(eval(&[left, "INT"], &expr, &[Decimal(150), Whole(-3)]), Decimal(-450));
}

fn search(ranges: serde_json::Value, target: &str, of: &str) -> serde_json::Value {
    let sarg =
        json!({"kind": "LITERAL", "sarg": {"ranges": ranges, "nullAs": "UNKNOWN"}, "type": of});
    call("$SEARCH$1", "INTERNAL", &[input(0, target), sarg], "BOOLEAN")
}

#[test]
fn constants_are_searched_in_ranges() {
    let bound = |value: serde_json::Value, kind: &str| json!({"value": value, "boundType": kind});
    let ranges = json!([
        {"lower": bound(3.into(), "OPEN"), "upper": bound(9.into(), "CLOSED")},
        {"lower": bound(20.into(), "CLOSED")},
    ]);
    let expr = search(ranges, "BIGINT", "INT NOT NULL");
    for (value, expected) in
        [(3, false), (4, true), (9, true), (10, false), (19, false), (20, true)]
    {
        assert_eq!(eval(&["BIGINT"], &expr, &[Whole(value)]), Boolean(expected), "{value}");
    }
    assert_eq!(eval(&["BIGINT"], &expr, &[Null]), Null);
    // Bounds that are decimals, of a value that is none.
    let ranges =
        json!([{"lower": bound("1.5".into(), "CLOSED"), "upper": bound("2.5".into(), "CLOSED")}]);
    let expr = search(ranges.clone(), "DOUBLE", "DECIMAL(2, 1) NOT NULL");
    for (value, expected) in [(1.5, true), (2.5, true), (2.6, false), (f64::NAN, false)] {
        assert_eq!(eval(&["DOUBLE"], &expr, &[Double(value)]), Boolean(expected), "{value}");
    }
    let expr = search(ranges, "INT", "DECIMAL(2, 1) NOT NULL");
    assert_eq!(eval(&["INT"], &expr, &[Whole(2)]), Boolean(true));
    assert_eq!(eval(&["INT"], &expr, &[Whole(1)]), Boolean(false));
    // Points, and what is between them.
    let point = |value: &str| json!({"lower": bound(value.into(), "CLOSED"), "upper": bound(value.into(), "CLOSED")});
    let expr = search(json!([point("x"), point("yy")]), "VARCHAR(9)", "VARCHAR(2) NOT NULL");
    for (value, expected) in [("x", true), ("yy", true), ("y", false), ("x ", false)] {
        assert_eq!(eval(&["VARCHAR(9)"], &expr, &[Value::text(value)]), Boolean(expected));
    }
    // Flink looks for them by their bits.
    let why = refusal(&["DOUBLE"], &search(json!([point("1")]), "DOUBLE", "DOUBLE NOT NULL"));
    assert!(why.contains("single FLOATs and DOUBLEs"), "{why}");
}

#[test]
fn texts_are_counted_in_code_points() {
    let text = "aé\u{1f600}b";
    let of = "VARCHAR(100)";
    let length = call("$CHAR_LENGTH$1", "FUNCTION", &[input(0, of)], "INT");
    assert_eq!(eval(&[of], &length, &[Value::text(text)]), Whole(4));
    let columns = [of, "INT", "INT"];
    let operands = [input(0, of), input(1, "INT"), input(2, "INT")];
    let substring = call("$SUBSTRING$1", "FUNCTION", &operands, of);
    for (position, length, expected) in [
        (1, 2, Some("aé")),
        (3, 1, Some("\u{1f600}")),
        (0, 2, Some("aé")),
        (-2, 1, Some("\u{1f600}")),
        (-5, 9, Some("")),
        (5, 1, Some("")),
        (2, 0, Some("")),
        (2, 99, Some("é\u{1f600}b")),
        (1, -1, None),
    ] {
        let row = [Value::text(text), Whole(position), Whole(length)];
        let expected = expected.map_or(Null, Value::text);
        assert_eq!(eval(&columns, &substring, &row), expected, "{position} {length}");
    }
}

#[test]
fn texts_are_changed() {
    let of = "VARCHAR(100)";
    for (name, text, expected) in [
        ("$UPPER$1", "straße", "STRASSE"),
        ("$LOWER$1", "ÀB", "àb"),
        ("$LTRIM$1", "  \ta ", "\ta "),
        ("$RTRIM$1", " a  ", " a"),
    ] {
        let expr = call(name, "FUNCTION", &[input(0, of)], of);
        assert_eq!(eval(&[of], &expr, &[Value::text(text)]), Value::text(expected), "{name}");
    }
    let symbol = json!({
        "kind": "LITERAL", "symbol": "TRIM", "value": "BOTH",
        "type": {"type": "SYMBOL", "nullable": false}
    });
    let trim =
        call("$TRIM$1", "FUNCTION", &[symbol, literal(" ", "CHAR(1) NOT NULL"), input(0, of)], of);
    assert_eq!(eval(&[of], &trim, &[Value::text("  a b ")]), Value::text("a b"));
    let replace = call(
        "$REPLACE$1",
        "FUNCTION",
        &[input(0, of), literal("aa", "CHAR(2) NOT NULL"), literal("b", "CHAR(1) NOT NULL")],
        of,
    );
    assert_eq!(eval(&[of], &replace, &[Value::text("aaaca")]), Value::text("baca"));
    let concat = binary("$||$1", of, of, of);
    let row = [Value::text("a"), Value::text("b")];
    assert_eq!(eval(&[of, of], &concat, &row), Value::text("ab"));
    assert_eq!(eval(&[of, of], &concat, &[Value::text("a"), Null]), Null);
}

#[test]
fn times_are_taken_apart_and_moved() {
    let of = "TIMESTAMP(3)";
    let symbol = |unit: &str| {
        json!({
            "kind": "LITERAL", "symbol": "TIME_UNIT_RANGE", "value": unit,
            "type": {"type": "SYMBOL", "nullable": false}
        })
    };
    let at = |text| parse_timestamp(text, ' ').unwrap();
    let time = at("2026-11-28 14:05:06.789");
    for (unit, expected) in
        [("YEAR", 2026), ("MONTH", 11), ("DAY", 28), ("HOUR", 14), ("MINUTE", 5), ("SECOND", 6)]
    {
        let expr = call("$EXTRACT$1", "FUNCTION", &[symbol(unit), input(0, of)], "BIGINT");
        assert_eq!(eval(&[of], &expr, std::slice::from_ref(&time)), Whole(expected), "{unit}");
    }
    for (unit, expected) in [
        ("DAY", "2026-11-28 00:00:00"),
        ("HOUR", "2026-11-28 14:00:00"),
        ("MINUTE", "2026-11-28 14:05:00"),
        ("SECOND", "2026-11-28 14:05:06"),
    ] {
        let expr = call("$FLOOR$1", "FUNCTION", &[input(0, of), symbol(unit)], of);
        assert_eq!(eval(&[of], &expr, std::slice::from_ref(&time)), at(expected), "{unit}");
    }
    let expr = call("$EXTRACT$1", "FUNCTION", &[symbol("YEAR"), input(0, "DATE")], "BIGINT");
    assert_eq!(eval(&["DATE"], &expr, &[Whole(20_785)]), Whole(2026));
    for (name, expected) in
        [("$+$1", "2026-11-28 14:06:06.789"), ("$-$1", "2026-11-28 14:04:06.789")]
    {
        let minute = literal("60000", "INTERVAL MINUTE NOT NULL");
        let expr = call(name, "SPECIAL", &[input(0, of), minute], of);
        assert_eq!(eval(&[of], &expr, std::slice::from_ref(&time)), at(expected));
    }
    let zoned = "TIMESTAMP(3) WITH LOCAL TIME ZONE";
    let expr = call("$EXTRACT$1", "FUNCTION", &[symbol("HOUR"), input(0, zoned)], "BIGINT");
    assert!(refusal(&[zoned], &expr).contains("HOUR of TIMESTAMP(3) WITH LOCAL TIME ZONE"));
    let expr = call(
        "$TO_TIMESTAMP_LTZ$1",
        "FUNCTION",
        &[input(0, "BIGINT"), literal(3, "INT NOT NULL")],
        zoned,
    );
    assert_eq!(eval(&["BIGINT"], &expr, &[Whole(5)]), Value::millis(5));
    let expr = call(
        "$TO_TIMESTAMP_LTZ$1",
        "FUNCTION",
        &[input(0, "BIGINT"), literal(0, "INT NOT NULL")],
        zoned,
    );
    assert_eq!(eval(&["BIGINT"], &expr, &[Whole(5)]), Value::millis(5000));
    let last = 253_402_300_799;
    assert_eq!(eval(&["BIGINT"], &expr, &[Whole(last)]), Value::millis(last * 1000));
    assert_eq!(eval(&["BIGINT"], &expr, &[Whole(last + 1)]), Null, "in the year 10000");
    assert_eq!(eval(&["BIGINT"], &expr, &[Whole(i64::MAX)]), Null);
}

#[test]
fn floors_and_ceilings() {
    for (name, value, expected) in [
        ("$FLOOR$1", -1.5, -2.0),
        ("$CEIL$1", -1.5, -1.0),
        ("$FLOOR$1", 1.5, 1.0),
        ("$CEIL$1", 1.5, 2.0),
    ] {
        let expr = call(name, "FUNCTION", &[input(0, "DOUBLE")], "DOUBLE");
        assert_eq!(eval(&["DOUBLE"], &expr, &[Double(value)]), Double(expected));
    }
}
