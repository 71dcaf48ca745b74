//! Lines that come in, and rows that go out.

use afterbay_edge_exec::{Format, FormatError, Reader, write_row};
use afterbay_edge_plan::Value::{self, Boolean, Decimal, Double, Float, Null, Whole};
use afterbay_edge_plan::{DataType, Field, Kind, Operator, Scan, parse_timestamp};
use afterbay_test_form::edge_cases;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::support::{pipeline, scan};

fn table(columns: &[(&str, &str)], options: &Json) -> Scan {
    match pipeline(&[scan(columns, options)]).nodes.remove(0).operator {
        Operator::Scan(scan) => scan,
        other => panic!("{other:?}"),
    }
}

fn json_reader(columns: &[(&str, &str)]) -> Reader {
    Reader::new(&table(columns, &json!({"format": "json"})), None, None).unwrap()
}

fn at(text: &str) -> Value {
    parse_timestamp(text, ' ').unwrap()
}

#[test]
fn json_is_read_as_flink_reads_it() {
    for (of, text, expected) in [
        ("INT", "5", Some(Whole(5))),
        ("INT", "5.9", Some(Whole(5))),
        ("INT", "-5.9", Some(Whole(-5))),
        ("INT", "\" 5 \"", Some(Whole(5))),
        ("INT", "\"5.9\"", None),
        ("INT", "2147483648", None),
        ("INT", "1e99", None),
        ("INT", "true", None),
        ("TINYINT", "5.0", None),
        ("TINYINT", "128", None),
        ("BIGINT", "9223372036854775807", Some(Whole(i64::MAX))),
        ("DOUBLE", "1", Some(Double(1.0))),
        ("DOUBLE", "0.1", Some(Double(0.1))),
        ("DOUBLE", "-0.0", Some(Double(-0.0))),
        ("DOUBLE", "\"-Infinity\"", Some(Double(f64::NEG_INFINITY))),
        ("DOUBLE", "\"x\"", None),
        ("FLOAT", "0.1", Some(Float(0.1))),
        ("BOOLEAN", "true", Some(Boolean(true))),
        ("BOOLEAN", "\"TRUE\"", Some(Boolean(true))),
        ("BOOLEAN", "1", Some(Boolean(false))),
        ("DECIMAL(5, 2)", "1.005", Some(Decimal(101))),
        ("DECIMAL(5, 2)", "\"-1.5\"", Some(Decimal(-150))),
        ("DECIMAL(5, 2)", "12345", Some(Null)),
        ("DECIMAL(5, 2)", "\"abc\"", None),
        ("VARCHAR(9)", "\"\\u00e9\\n\"", Some(Value::text("é\n"))),
        ("VARCHAR(9)", "1.50", Some(Value::text("1.50"))),
        ("VARCHAR(9)", "true", Some(Value::text("true"))),
        ("VARCHAR(9)", "{}", None),
        ("DATE", "\"1970-01-02\"", Some(Whole(1))),
        ("DATE", "\"1970-1-2\"", None),
        ("TIME(0)", "\"00:00:01.9\"", Some(Whole(1000))),
        ("TIMESTAMP(3)", "\"1970-01-01 00:00:01.5\"", Some(at("1970-01-01 00:00:01.5"))),
        ("TIMESTAMP(3)", "\"1970-01-01T00:00:01.5\"", None),
        (
            "TIMESTAMP(9)",
            "\"1970-01-01 00:00:00.000000001\"",
            Some(at("1970-01-01 00:00:00.000000001")),
        ),
        ("TIMESTAMP(3)", "\"1970-01-01 00:00:00.000000001\"", Some(Value::millis(0))),
        (
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
            "\"1970-01-01 00:00:01Z\"",
            Some(Value::millis(1000)),
        ),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "\"1970-01-01 00:00:01\"", None),
        ("INT", "null", Some(Null)),
    ] {
        let line = format!(r#"{{"other":[1,{{}}],"x":{text}}}"#);
        let found = json_reader(&[("x", of)]).read(&line);
        match (found, expected) {
            (Ok(Some(row)), Some(expected)) => assert_eq!(row, [expected], "{of} {text}"),
            (Err(error), None) => {
                assert!(error.to_string().starts_with("column \"x\": "), "{error}")
            }
            (found, expected) => panic!("{of} {text}: {found:?}, and {expected:?} was expected"),
        }
    }
}

#[test]
fn json_lines_are_objects() {
    let reader = json_reader(&[("x", "INT"), ("y", "INT NOT NULL")]);
    assert_eq!(reader.read(r#" {"y":1} "#).unwrap(), Some(vec![Null, Whole(1)]));
    assert_eq!(reader.read(r#"{"y":1,"y":2,"x":null}"#).unwrap(), Some(vec![Null, Whole(2)]));
    assert_eq!(reader.read("  ").unwrap(), None);
    for (line, what) in [
        ("[1]", "no JSON object"),
        ("{\"y\":1", "no JSON object"),
        ("{\"y\":1} 2", "no JSON object"),
        ("{\"y\":01}", "no JSON object"),
        ("{\"x\":1}", "column \"y\": null in a NOT NULL column"),
    ] {
        let error = reader.read(line).unwrap_err().to_string();
        assert!(error.starts_with(what), "{line}: {error}");
    }
}

#[test]
fn bad_lines_and_fields_can_be_ignored() {
    let columns = [("x", "INT"), ("y", "INT")];
    for options in
        [json!({"format": "json", "json.ignore-parse-errors": "true"}), json!({"format": "json"})]
    {
        let reader = Reader::new(&table(&columns, &options), None, Some(true)).unwrap();
        assert_eq!(reader.read(r#"{"x":"a","y":2}"#).unwrap(), Some(vec![Null, Whole(2)]));
        assert_eq!(reader.read("nonsense").unwrap(), None);
    }
    let options = json!({"format": "csv"});
    let reader = Reader::new(&table(&columns, &options), None, Some(true)).unwrap();
    assert_eq!(reader.read("a,2").unwrap(), Some(vec![Null, Whole(2)]));
    assert_eq!(reader.read("1").unwrap(), Some(vec![Whole(1), Null]));
}

#[test]
fn missing_fields_can_be_errors() {
    let options = json!({"value.format": "json", "value.json.fail-on-missing-field": "true"});
    let reader = Reader::new(&table(&[("x", "INT")], &options), None, None).unwrap();
    assert_eq!(reader.read("{}").unwrap_err().to_string(), "column \"x\": it is missing");
    let options = json!({"format": "json", "json.timestamp-format.standard": "ISO-8601"});
    let reader = Reader::new(&table(&[("x", "TIMESTAMP(3)")], &options), None, None).unwrap();
    let row = reader.read(r#"{"x":"1970-01-01T00:00:01"}"#).unwrap();
    assert_eq!(row, Some(vec![Value::millis(1000)]));
}

#[test]
fn csv_has_quotes_delimiters_and_a_null() {
    let columns = [("x", "VARCHAR(9)"), ("y", "INT"), ("z", "VARCHAR(9)")];
    let options = json!({"format": "csv", "csv.null-literal": "-", "csv.field-delimiter": ";"});
    let reader = Reader::new(&table(&columns, &options), None, None).unwrap();
    for (line, expected) in [
        ("a;1;b", [Value::text("a"), Whole(1), Value::text("b")]),
        ("\"a;\"\"b\";-;", [Value::text("a;\"b"), Null, Value::text("")]),
        ("; 7 ;\"\"", [Value::text(""), Whole(7), Value::text("")]),
    ] {
        assert_eq!(reader.read(line).unwrap(), Some(expected.to_vec()), "{line}");
    }
    for (line, what) in [
        ("a;1", "2 fields, and the table has 3"),
        ("a;1;b;c", "4 fields"),
        ("\"a;1;b", "never ends"),
        ("\"a\"x;1;b", "';' is needed behind"),
        ("a;x;b", "column \"y\": \"x\" is no INT"),
        ("a;;b", "column \"y\": \"\" is no INT"),
    ] {
        let error = reader.read(line).unwrap_err().to_string();
        assert!(error.contains(what), "{line}: {error}");
    }
}

#[test]
fn formats_and_options_that_are_not_known_are_refused() {
    let columns = [("x", "INT")];
    let refusal = |options: Json| Reader::new(&table(&columns, &options), None, None).unwrap_err();
    assert!(matches!(refusal(json!({"format": "avro"})), FormatError::Unknown { .. }));
    assert!(refusal(json!({})).to_string().contains("--format"));
    for options in [
        json!({"format": "json", "json.new-option": "1"}),
        json!({"format": "json", "json.ignore-parse-errors": "maybe"}),
        json!({"format": "json", "json.timestamp-format.standard": "x"}),
        json!({"format": "csv", "csv.escape-character": "\\"}),
        json!({"format": "csv", "csv.field-delimiter": "ab"}),
    ] {
        assert!(matches!(refusal(options), FormatError::Option { .. }));
    }
    // What the input is may be said otherwise, and options of other formats do not count.
    let scan = table(&columns, &json!({"format": "avro", "avro.x": "1", "path": "p"}));
    let reader = Reader::new(&scan, Some(Format::Csv), None).unwrap();
    assert_eq!(reader.read("7").unwrap(), Some(vec![Whole(7)]));
}

fn field(kind: Kind) -> Field {
    Field { name: "x".to_owned(), of: DataType { kind, nullable: true } }
}

#[test]
fn rows_are_written_in_flink_s_forms() {
    let written = |kind: Kind, value: Value| {
        let mut out = String::new();
        write_row(&[field(kind)], &[value], &mut out);
        out
    };
    let decimal = Kind::Decimal { precision: 5, scale: 2 };
    for (kind, value, expected) in [
        (Kind::Int, Null, "[null]"),
        (Kind::BigInt, Whole(i64::MIN), "[-9223372036854775808]"),
        (Kind::Double, Double(-0.0), "[-0.0]"),
        (Kind::Double, Double(0.1), "[0.1]"),
        (Kind::Double, Double(f64::NAN), "[\"NaN\"]"),
        (Kind::Float, Float(f32::NEG_INFINITY), "[\"-Infinity\"]"),
        (Kind::Float, Float(0.1), "[0.1]"),
        (decimal, Decimal(-5), "[\"-0.05\"]"),
        (decimal, Decimal(12_345), "[\"123.45\"]"),
        (Kind::Decimal { precision: 5, scale: 0 }, Decimal(7), "[\"7\"]"),
        (Kind::Date, Whole(-1), "[\"1969-12-31\"]"),
        (Kind::Time(0), Whole(3_661_000), "[\"01:01:01\"]"),
        (Kind::Timestamp(3), Value::millis(-1), "[\"1969-12-31 23:59:59.999\"]"),
        (Kind::TimestampLtz(3), Value::millis(1500), "[\"1970-01-01 00:00:01.5Z\"]"),
        (Kind::VarChar(9), Value::text("a\"\n"), "[\"a\\\"\\n\"]"),
        (Kind::Boolean, Boolean(true), "[true]"),
    ] {
        assert_eq!(written(kind, value), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    /// What is written is read back as it was.
    #[test]
    fn values_survive(double in any::<f64>(), float in any::<f32>(), whole in any::<i64>(), text in any::<String>(), unscaled in -99_999_i128..100_000, millis in -60_000_000_000_000_i64..200_000_000_000_000) {
        let kinds = [Kind::Double, Kind::Float, Kind::BigInt, Kind::VarChar(99), Kind::Decimal { precision: 5, scale: 2 }, Kind::Timestamp(3)];
        let row = [Double(double), Float(float), Whole(whole), Value::text(text), Decimal(unscaled), Value::millis(millis)];
        let fields: Vec<Field> = kinds.iter().map(|kind| field(*kind)).collect();
        let mut out = String::new();
        write_row(&fields, &row, &mut out);
        let array: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(&out).unwrap();
        let parts: Vec<String> = array.iter().enumerate().map(|(index, value)| format!("\"c{index}\":{value}")).collect();
        let names: Vec<String> = (0..kinds.len()).map(|index| format!("c{index}")).collect();
        let types: Vec<String> = kinds.iter().map(Kind::to_string).collect();
        let columns: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(types.iter().map(String::as_str)).collect();
        let found = json_reader(&columns).read(&format!("{{{}}}", parts.join(","))).unwrap().unwrap();
        let bits = |value: &Value| match value {
            Double(value) => format!("{:x}", if value.is_nan() { 0 } else { value.to_bits() }),
            Float(value) => format!("{:x}", if value.is_nan() { 0 } else { value.to_bits() }),
            other => format!("{other:?}"),
        };
        let (found, row): (Vec<_>, Vec<_>) = (found.iter().map(bits).collect(), row.iter().map(bits).collect());
        prop_assert_eq!(found, row);
    }

    #[test]
    fn no_line_is_a_panic(line in any::<String>(), like_json in "[{}\\[\\]\":,a-z0-9.eE+-]{0,30}") {
        let columns = [("x", "INT"), ("y", "DOUBLE"), ("z", "TIMESTAMP(3)")];
        for format in [Format::Json, Format::Csv] {
            let reader = Reader::new(&table(&columns, &json!({})), Some(format), None).unwrap();
            let _ = (reader.read(&line), reader.read(&like_json));
        }
    }
}
