//! Conversions of types: those of `CAST`, and those that Flink makes by itself (`numericCasting`, `CastRuleProvider`).

use crate::expr::Expr;
use crate::function::Function;
use crate::types::{DataType, Kind};
use crate::value::power_of_ten;

/// A conversion. Whole numbers are cut to their low bits and floating ones towards zero, into the range, as Java does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cast {
    /// The value is the same inside.
    Same,
    /// A whole number, cut.
    WholeToWhole(Kind),
    /// To the nearest.
    WholeToFloat,
    /// To the nearest.
    WholeToDouble,
    /// Exactly.
    FloatToDouble,
    /// To the nearest.
    DoubleToFloat,
    /// A NaN is 0.
    FloatToWhole(Kind),
    /// A NaN is 0.
    DoubleToWhole(Kind),
    /// Exactly: the type has room.
    WholeToDecimal {
        /// Digits behind the point.
        scale: u8,
    },
    /// Half up; the type has room.
    DecimalToDecimal {
        /// Digits behind the point before.
        from: u8,
        /// Digits behind the point after.
        to: u8,
    },
    /// What is behind the point goes; then cut.
    DecimalToWhole {
        /// Digits behind the point.
        scale: u8,
        /// To what.
        to: Kind,
    },
    /// See [`decimal_to_double`].
    DecimalToDouble {
        /// All digits.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
    },
    /// Whether it is not 0.
    WholeToBoolean,
    /// 1 or 0.
    BooleanToWhole,
    /// In digits.
    WholeToText,
    /// `TRUE` or `FALSE`.
    BooleanToText,
    /// Its first code points.
    CutText(u32),
    /// A number in digits, perhaps with digits behind a point, which go. Blanks around it are nothing.
    TextToWhole(Kind),
    /// As Java's `Float.parseFloat`.
    TextToFloat,
    /// As Java's `Double.parseDouble`.
    TextToDouble,
    /// `t true y yes 1` or `f false n no 0`, in whatever case.
    TextToBoolean,
}

impl Cast {
    /// Whether there may be values for which it fails. Those of decimals are assumed to.
    pub(crate) fn may_fail(self) -> bool {
        match self {
            Self::Same
            | Self::WholeToWhole(_)
            | Self::WholeToFloat
            | Self::WholeToDouble
            | Self::FloatToDouble
            | Self::DoubleToFloat
            | Self::FloatToWhole(_)
            | Self::DoubleToWhole(_)
            | Self::WholeToBoolean
            | Self::BooleanToWhole
            | Self::WholeToText
            | Self::BooleanToText
            | Self::CutText(_) => false,
            Self::WholeToDecimal { .. }
            | Self::DecimalToDecimal { .. }
            | Self::DecimalToWhole { .. }
            | Self::DecimalToDouble { .. }
            | Self::TextToWhole(_)
            | Self::TextToFloat
            | Self::TextToDouble
            | Self::TextToBoolean => true,
        }
    }
}

/// The call that converts, if there is one at a site. With `or_null`, it gives null where it fails.
pub(crate) fn cast(operand: Expr, to: Kind, or_null: bool) -> Option<Expr> {
    let cast = between(operand.kind(), to)?;
    let nullable = operand.of().nullable || or_null;
    let function = Function::Cast { cast, or_null };
    Some(Expr::Call { function, operands: vec![operand], of: DataType { kind: to, nullable } })
}

/// As Flink converts the operands of an operation of numbers: never to less.
pub(crate) fn widen(operand: Expr, to: Kind) -> Option<Expr> {
    let from = operand.kind();
    if from == to {
        return Some(operand);
    }
    let rank = |kind: Kind| match kind {
        Kind::TinyInt => Some(0),
        Kind::SmallInt => Some(1),
        Kind::Int => Some(2),
        Kind::BigInt => Some(3),
        Kind::Float => Some(4),
        Kind::Double => Some(5),
        _ => None,
    };
    let widens = match (rank(from), rank(to)) {
        (Some(from), Some(to)) => from < to,
        (None, Some(5)) => from.is_decimal(),
        _ => false,
    };
    if widens { cast(operand, to, false) } else { None }
}

/// A branch as the type of the whole.
pub(crate) fn coerce(operand: Expr, to: Kind) -> Option<Expr> {
    let from = operand.kind();
    if from == to || same_text(from, to) {
        return Some(operand);
    }
    widen(operand, to)
}

/// Whether every text of one type is one of the other.
fn same_text(from: Kind, to: Kind) -> bool {
    match (from, to) {
        (Kind::Char(from) | Kind::VarChar(from), Kind::VarChar(to)) => from <= to,
        _ => false,
    }
}

fn between(from: Kind, to: Kind) -> Option<Cast> {
    if from == to || same_text(from, to) {
        return Some(Cast::Same);
    }
    match (from, to) {
        (from, to) if from.is_whole_number() && to.is_whole_number() => {
            Some(Cast::WholeToWhole(to))
        }
        (from, Kind::Float) if from.is_whole_number() => Some(Cast::WholeToFloat),
        (from, Kind::Double) if from.is_whole_number() => Some(Cast::WholeToDouble),
        (Kind::Float, Kind::Double) => Some(Cast::FloatToDouble),
        (Kind::Double, Kind::Float) => Some(Cast::DoubleToFloat),
        (Kind::Float, to) if to.is_whole_number() => Some(Cast::FloatToWhole(to)),
        (Kind::Double, to) if to.is_whole_number() => Some(Cast::DoubleToWhole(to)),
        (from, Kind::Decimal { precision, scale }) if from.is_whole_number() => {
            let fits = from.whole_digits()? <= precision - scale;
            fits.then_some(Cast::WholeToDecimal { scale })
        }
        (
            Kind::Decimal { precision: from_precision, scale: from },
            Kind::Decimal { precision, scale: to },
        ) => {
            // Rounding may need one digit more in front of the point.
            let needed = from_precision - from + u8::from(to < from);
            (needed <= precision - to).then_some(Cast::DecimalToDecimal { from, to })
        }
        (Kind::Decimal { scale, .. }, to) if to.is_whole_number() => {
            Some(Cast::DecimalToWhole { scale, to })
        }
        (Kind::Decimal { precision, scale }, Kind::Double) => {
            Some(Cast::DecimalToDouble { precision, scale })
        }
        (from, Kind::Boolean) if from.is_whole_number() => Some(Cast::WholeToBoolean),
        (Kind::Boolean, to) if to.is_whole_number() => Some(Cast::BooleanToWhole),
        (from, Kind::VarChar(crate::types::LENGTH_MAX)) if from.is_whole_number() => {
            Some(Cast::WholeToText)
        }
        (Kind::Boolean, Kind::VarChar(crate::types::LENGTH_MAX)) => Some(Cast::BooleanToText),
        (from, Kind::VarChar(length)) if from.is_text() => Some(Cast::CutText(length)),
        (from, to) if from.is_text() && to.is_whole_number() => Some(Cast::TextToWhole(to)),
        (from, Kind::Float) if from.is_text() => Some(Cast::TextToFloat),
        (from, Kind::Double) if from.is_text() => Some(Cast::TextToDouble),
        (from, Kind::Boolean) if from.is_text() => Some(Cast::TextToBoolean),
        (Kind::Timestamp(from), Kind::Timestamp(to))
        | (Kind::TimestampLtz(from), Kind::TimestampLtz(to)) => (from <= to).then_some(Cast::Same),
        _ => None,
    }
}

/// `DecimalDataUtils.doubleValue`: of up to 18 digits, the quotient of two doubles, which may be rounded twice; of more, the nearest.
pub fn decimal_to_double(unscaled: i128, precision: u8, scale: u8) -> f64 {
    const COMPACT_DIGITS_MAX: u8 = 18;
    if precision <= COMPACT_DIGITS_MAX {
        return unscaled as f64 / power_of_ten(scale) as f64;
    }
    format!("{unscaled}e-{scale}").parse().unwrap_or(f64::NAN)
}
