//! Values and their texts.

use afterbay_edge_plan::{
    Value, date_of, days_of, parse_date, parse_decimal, parse_time, parse_timestamp,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn dates_are_days(days in -1_000_000_i64..3_000_000) {
        let (year, month, day) = date_of(days);
        prop_assert_eq!(days_of(year, month, day), Some(days));
        let (next_year, next_month, next_day) = date_of(days + 1);
        prop_assert!((year, month, day) < (next_year, next_month, next_day));
    }

    #[test]
    fn decimals_are_read_as_they_are_written(unscaled in -10_i128.pow(20)..10_i128.pow(20), scale in 0_u8..10) {
        let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = usize::from(scale) + 1);
        let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
        let text = format!("{}{whole}.{fraction}", if unscaled < 0 { "-" } else { "" });
        prop_assert_eq!(parse_decimal(&text, 38, scale), Some(unscaled));
        prop_assert_eq!(parse_decimal(&format!("{unscaled}E-{scale}"), 38, scale), Some(unscaled));
    }

    #[test]
    fn no_text_is_a_panic(text in "[-+0-9.eE:TZ ]{0,40}") {
        let _ = (parse_decimal(&text, 10, 2), parse_date(&text), parse_time(&text), parse_timestamp(&text, ' '));
    }
}

#[test]
fn days_are_java_s() {
    for (text, days) in [
        ("1970-01-01", Some(0)),
        ("1969-12-31", Some(-1)),
        ("2000-02-29", Some(11_016)),
        ("2026-11-28", Some(20_785)),
        ("0001-01-01", Some(-719_162)),
        ("9999-12-31", Some(2_932_896)),
        ("1900-02-29", None),
        ("2026-13-01", None),
        ("2026-1-1", None),
        ("+026-01-01", None),
    ] {
        assert_eq!(parse_date(text), days, "{text}");
    }
}

#[test]
fn decimals_are_rounded_half_up_or_do_not_fit() {
    for (text, precision, scale, unscaled) in [
        ("10.5", 3, 1, Some(105)),
        ("1E+2", 5, 1, Some(1000)),
        ("0.05", 2, 1, Some(1)),
        ("-0.05", 2, 1, Some(-1)),
        ("0.049", 2, 1, Some(0)),
        ("9.95", 2, 1, None),
        ("999", 2, 0, None),
        ("0.00001", 3, 2, Some(0)),
        (".5", 2, 1, Some(5)),
        ("5.", 2, 1, Some(50)),
        (".", 2, 1, None),
        ("", 2, 1, None),
        ("1e99999999999", 38, 0, None),
        ("0e999", 38, 0, Some(0)),
        ("1.2.3", 5, 1, None),
        ("NaN", 5, 1, None),
    ] {
        assert_eq!(parse_decimal(text, precision, scale), unscaled, "{text}");
    }
}

#[test]
fn times_have_up_to_nine_digits_of_a_second() {
    let timestamp = |millis, nanos| Some(Value::Timestamp { millis, nanos });
    assert_eq!(parse_timestamp("1970-01-01 00:00:01.5", ' '), timestamp(1500, 0));
    assert_eq!(parse_timestamp("1970-01-02T00:00:00", 'T'), timestamp(86_400_000, 0));
    assert_eq!(parse_timestamp("1969-12-31 23:59:59.999999999", ' '), timestamp(-1, 999_999));
    assert_eq!(parse_time("23:59:59.000000001"), Some((86_399_000, 1)));
    for bad in ["24:00:00", "00:60:00", "1:00:00", "00:00:00.", "00:00:00.0123456789", "00:00"] {
        assert_eq!(parse_time(bad), None, "{bad}");
    }
}
