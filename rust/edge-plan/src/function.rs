//! The functions that run at a site, with all that names, syntax and types decide (`resolve`).

use crate::cast::Cast;
use crate::expr::Range;
use crate::pattern::Pattern;
use crate::types::Kind;

/// A function, with all that is decided before the first row.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// `=`, `<` and their like. Null if an operand is.
    Compare {
        /// Which one.
        comparison: Comparison,
        /// As what the operands are compared, which both of them are.
        basis: Basis,
    },
    /// Three-valued, from left to right: what comes after a false is not computed.
    And,
    /// Three-valued, from left to right: what comes after a true is not computed.
    Or,
    /// Three-valued.
    Not,
    /// Never null, as the five below.
    IsNull,
    /// Not `IS NULL`.
    IsNotNull,
    /// Null is not true.
    IsTrue,
    /// Not `IS TRUE`.
    IsNotTrue,
    /// Null is not false.
    IsFalse,
    /// Not `IS FALSE`.
    IsNotFalse,
    /// `+ - * / %` of two operands of one number type, by Java's rules: whole numbers wrap around, a division of whole numbers by
    /// zero is an error, of others infinite.
    Arithmetic {
        /// Which one.
        operation: Operation,
        /// Of which numbers.
        number: Number,
    },
    /// `-x`.
    Negate(Number),
    /// `ABS(x)`: the smallest whole number stays negative.
    Absolute(Number),
    /// `FLOOR(x)`.
    Floor(Number),
    /// `CEIL(x)`.
    Ceiling(Number),
    /// A timestamp and ms.
    Shift {
        /// Minus instead of plus.
        back: bool,
    },
    /// Condition, value, condition, value, …, value: the first whose condition is true.
    Case,
    /// The first that is not null.
    Coalesce,
    /// `CAST`, or `TRY_CAST`.
    Cast {
        /// From what to what.
        cast: Cast,
        /// Null instead of an error.
        or_null: bool,
    },
    /// `IN` and `BETWEEN` of constants, as Calcite writes them: whether one of the ranges has the operand.
    Search {
        /// The ranges, none of them empty.
        ranges: Vec<Range>,
        /// As what operand and bounds are compared.
        basis: Basis,
    },
    /// `LIKE` of a constant.
    Like(Pattern),
    /// `UPPER`.
    Upper,
    /// `LOWER`.
    Lower,
    /// `CHAR_LENGTH`, in code points.
    CharLength,
    /// Text, first code point from 1 (from the end if negative), and perhaps how many: null if that is negative.
    Substring,
    /// `||` and `CONCAT`: null if an operand is.
    Concat,
    /// Blanks of one or both ends go.
    Trim {
        /// At the beginning.
        leading: bool,
        /// At the end.
        trailing: bool,
    },
    /// `REPLACE` of constants: what is looked for, and what takes its place.
    Replace(Box<str>, Box<str>),
    /// `EXTRACT` of a `TIMESTAMP`, or of a `DATE`: what of it. Before 1970, as Java's division and remainder, which is Flink's way.
    Extract(TimeField),
    /// `FLOOR(x TO unit)` of a `TIMESTAMP`: the unit in ms.
    FloorTo(i64),
    /// `TO_TIMESTAMP_LTZ` of a number.
    ToTimestampLtz {
        /// ms, or else s.
        millis: bool,
    },
}

impl Function {
    /// Whether there may be operands for which it fails.
    pub(crate) fn may_fail(&self) -> bool {
        match self {
            Self::Arithmetic { operation, number } => match number {
                Number::Float | Number::Double => false,
                Number::Decimal { .. } => true,
                _ => matches!(operation, Operation::Divide | Operation::Remainder),
            },
            Self::Cast { cast, or_null } => !or_null && cast.may_fail(),
            Self::Compare { .. }
            | Self::And
            | Self::Or
            | Self::Not
            | Self::IsNull
            | Self::IsNotNull
            | Self::IsTrue
            | Self::IsNotTrue
            | Self::IsFalse
            | Self::IsNotFalse
            | Self::Negate(_)
            | Self::Absolute(_)
            | Self::Floor(_)
            | Self::Ceiling(_)
            | Self::Shift { .. }
            | Self::Case
            | Self::Coalesce
            | Self::Search { .. }
            | Self::Like(_)
            | Self::Upper
            | Self::Lower
            | Self::CharLength
            | Self::Substring
            | Self::Concat
            | Self::Trim { .. }
            | Self::Replace(..)
            | Self::Extract(_)
            | Self::FloorTo(_)
            | Self::ToTimestampLtz { .. } => false,
        }
    }
}

/// What of a time is extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeField {
    /// Of the calendar.
    Year,
    /// 1 to 12.
    Month,
    /// 1 to 31.
    Day,
    /// A remainder, and how often a unit is in it; both in ms.
    OfDay {
        /// Remainder of this.
        of: i64,
        /// The unit.
        unit: i64,
    },
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`.
    Equal,
    /// `<>`.
    Unequal,
    /// `<`.
    Less,
    /// `<=`.
    AtMost,
    /// `>`.
    Greater,
    /// `>=`.
    AtLeast,
}

/// As what two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Whole numbers, and all that is one inside.
    Whole,
    /// As Java's `float`: a NaN is unequal to everything.
    Float,
    /// As Java's `double`.
    Double,
    /// By `Double.compare`, which is what Flink does as soon as one side is a `DECIMAL`: a NaN is above everything and equal to
    /// itself, −0.0 is below 0.0.
    DoubleInOrder,
    /// Decimals, exactly.
    Decimal {
        /// Digits behind the point on the left.
        left: u8,
        /// Digits behind the point on the right.
        right: u8,
    },
    /// By bytes of UTF-8.
    Text,
    /// False before true.
    Boolean,
    /// By time.
    Timestamp,
}

/// What is done with two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `*`.
    Times,
    /// `/`.
    Divide,
    /// `%`, with the sign of the left side.
    Remainder,
}

/// Numbers with which is calculated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// 8 bits.
    TinyInt,
    /// 16 bits.
    SmallInt,
    /// 32 bits.
    Int,
    /// 64 bits.
    BigInt,
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
    /// Decimals whose result has as many digits as it needs, so that nothing is rounded and nothing overflows.
    Decimal {
        /// Digits behind the point on the left.
        left: u8,
        /// Digits behind the point on the right.
        right: u8,
    },
}

impl Number {
    pub(crate) fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::TinyInt => Some(Self::TinyInt),
            Kind::SmallInt => Some(Self::SmallInt),
            Kind::Int => Some(Self::Int),
            Kind::BigInt => Some(Self::BigInt),
            Kind::Float => Some(Self::Float),
            Kind::Double => Some(Self::Double),
            Kind::Decimal { scale, .. } => Some(Self::Decimal { left: scale, right: scale }),
            _ => None,
        }
    }
}
