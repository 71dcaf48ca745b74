//! Values as Flink has them inside: what a column's type says, and not what SQL shows.

/// A value of a column, or none.
///
/// | type | value |
/// |---|---|
/// | whole numbers | `Whole` |
/// | `DATE` | `Whole`: days since 1970-01-01 |
/// | `TIME` | `Whole`: ms of the day |
/// | intervals | `Whole`: ms |
/// | `DECIMAL(p, s)` | `Decimal`: times 10^s |
/// | `TIMESTAMP`, with or without zone | `Timestamp` |
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Not known.
    Null,
    /// `BOOLEAN`.
    Boolean(bool),
    /// Anything that is a whole number inside.
    Whole(i64),
    /// `FLOAT`.
    Float(f32),
    /// `DOUBLE`.
    Double(f64),
    /// The unscaled value of a `DECIMAL`.
    Decimal(i128),
    /// `CHAR` and `VARCHAR`.
    Text(Box<str>),
    /// `TIMESTAMP`: since 1970-01-01 00:00:00, of UTC if there is a zone.
    Timestamp {
        /// Whole ms, rounded down.
        millis: i64,
        /// What is left of a ms, in ns.
        nanos: u32,
    },
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<Box<str>>) -> Self {
        Self::Text(text.into())
    }

    /// A timestamp of whole ms.
    pub fn millis(millis: i64) -> Self {
        Self::Timestamp { millis, nanos: 0 }
    }

    /// Whether there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// Days since 1970-01-01 of a date of the Gregorian calendar, as Java's `LocalDate` has it.
pub fn days_of(year: i64, month: u32, day: u32) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let month_days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => return None,
    };
    if !(1..=month_days).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is the last one; 400 of them have 146,097 days.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = i64::from((month + 9) % 12);
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// Year, month and day of days since 1970-01-01.
pub fn date_of(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

/// `2026-01-31`: exactly four digits, two and two.
pub fn parse_date(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    days_of(digits(text.get(..4)?)?.into(), digits(text.get(5..7)?)?, digits(text.get(8..)?)?)
}

/// `10:00:00` with up to nine digits behind a point: ms of the day, and ns of the ms.
pub fn parse_time(text: &str) -> Option<(i64, u32)> {
    let (whole, fraction) = match text.split_once('.') {
        None => (text, ""),
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return None,
    };
    let bytes = whole.as_bytes();
    if bytes.len() != 8 || bytes[2] != b':' || bytes[5] != b':' || fraction.len() > 9 {
        return None;
    }
    let (hour, minute, second) =
        (digits(whole.get(..2)?)?, digits(whole.get(3..5)?)?, digits(whole.get(6..)?)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let nanos = if fraction.is_empty() {
        0
    } else {
        digits(fraction)? * 10_u32.pow(9 - u32::try_from(fraction.len()).ok()?)
    };
    let seconds = i64::from(hour * 3600 + minute * 60 + second);
    Some((seconds * 1000 + i64::from(nanos / 1_000_000), nanos % 1_000_000))
}

/// A date and a time, with what is between them.
pub fn parse_timestamp(text: &str, between: char) -> Option<Value> {
    let (date, time) = text.split_once(between)?;
    let (millis, nanos) = parse_time(time)?;
    Some(Value::Timestamp { millis: parse_date(date)? * MILLIS_PER_DAY + millis, nanos })
}

/// ms of a day.
pub const MILLIS_PER_DAY: i64 = 86_400_000;

fn digits(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// 10^`exponent`, up to 38.
pub fn power_of_ten(exponent: u8) -> i128 {
    10_i128.pow(u32::from(exponent))
}

/// A number in digits, perhaps with a point and an exponent (`BigDecimal#toString`), rounded half up to `scale` digits; `None` if
/// that is not one, or has more than `precision` digits.
pub fn parse_decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        None => (text, 0_i64),
        Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let all = whole.bytes().chain(fraction.bytes());
    // Where the last digit that is kept stands.
    let behind = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let kept = i64::try_from(whole.len() + fraction.len()).ok()? - (behind - i64::from(scale));
    let mut unscaled = 0_i128;
    let mut rounds_up = false;
    for (index, byte) in all.enumerate() {
        if !byte.is_ascii_digit() {
            return None;
        }
        let digit = i128::from(byte - b'0');
        let index = index as i64;
        if index < kept {
            unscaled = unscaled.checked_mul(10)?.checked_add(digit)?;
        } else if index == kept {
            rounds_up = digit >= 5;
        }
    }
    let missing = (behind - i64::from(scale)).min(0).unsigned_abs();
    if unscaled != 0 {
        unscaled = unscaled.checked_mul(10_i128.checked_pow(u32::try_from(missing).ok()?)?)?;
    }
    unscaled += i128::from(rounds_up);
    let fits = unscaled < power_of_ten(precision);
    fits.then_some(if negative { -unscaled } else { unscaled })
}
