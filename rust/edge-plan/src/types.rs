//! Flink's logical types, as plans write them: in short (`INT NOT NULL`), or as an object where the short form would lose
//! that a column is a time attribute (`LogicalTypeJsonSerializer`).

use std::fmt;

use serde_json::Value;

use crate::error::{Refusal, Result};
use crate::strict::{Object, short};

/// Characters of a `STRING`.
pub(crate) const LENGTH_MAX: u32 = i32::MAX as u32;

/// A type without saying whether it may be null. Only those whose values the interpreter knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `BOOLEAN`.
    Boolean,
    /// `TINYINT`: 8 bits.
    TinyInt,
    /// `SMALLINT`: 16 bits.
    SmallInt,
    /// `INT`: 32 bits.
    Int,
    /// `BIGINT`: 64 bits.
    BigInt,
    /// `FLOAT`: 32 bits.
    Float,
    /// `DOUBLE`: 64 bits.
    Double,
    /// `DECIMAL`.
    Decimal {
        /// Digits, 1 to 38.
        precision: u8,
        /// Of them behind the point.
        scale: u8,
    },
    /// `CHAR`, in code points.
    Char(u32),
    /// `VARCHAR`, in code points.
    VarChar(u32),
    /// `DATE`.
    Date,
    /// `TIME`, with digits of a second.
    Time(u8),
    /// `TIMESTAMP`, with digits of a second.
    Timestamp(u8),
    /// `TIMESTAMP WITH LOCAL TIME ZONE`, with digits of a second.
    TimestampLtz(u8),
    /// `INTERVAL DAY TO SECOND` and its like, in ms.
    IntervalMillis,
}

impl Kind {
    /// Whole numbers, by Java's types.
    pub fn is_whole_number(self) -> bool {
        matches!(self, Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt)
    }

    /// `FLOAT` or `DOUBLE`.
    pub fn is_approximate(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    /// `DECIMAL`.
    pub fn is_decimal(self) -> bool {
        matches!(self, Self::Decimal { .. })
    }

    /// Anything that is calculated with.
    pub fn is_number(self) -> bool {
        self.is_whole_number() || self.is_approximate() || self.is_decimal()
    }

    /// `CHAR` or `VARCHAR`.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Char(_) | Self::VarChar(_))
    }

    /// A point of time, with or without zone.
    pub fn is_timestamp(self) -> bool {
        matches!(self, Self::Timestamp(_) | Self::TimestampLtz(_))
    }

    /// Decimal digits that a whole number of this type has at most.
    pub fn whole_digits(self) -> Option<u8> {
        match self {
            Self::TinyInt => Some(3),
            Self::SmallInt => Some(5),
            Self::Int => Some(10),
            Self::BigInt => Some(19),
            Self::Decimal { precision, scale } => Some(precision - scale),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    /// As SQL has it, and as plans write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::TinyInt => f.write_str("TINYINT"),
            Self::SmallInt => f.write_str("SMALLINT"),
            Self::Int => f.write_str("INT"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Self::Char(length) => write!(f, "CHAR({length})"),
            Self::VarChar(length) => write!(f, "VARCHAR({length})"),
            Self::Date => f.write_str("DATE"),
            Self::Time(precision) => write!(f, "TIME({precision})"),
            Self::Timestamp(precision) => write!(f, "TIMESTAMP({precision})"),
            Self::TimestampLtz(precision) => {
                write!(f, "TIMESTAMP({precision}) WITH LOCAL TIME ZONE")
            }
            Self::IntervalMillis => f.write_str("INTERVAL DAY TO SECOND"),
        }
    }
}

/// A type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DataType {
    /// Which values.
    pub kind: Kind,
    /// Whether null too.
    pub nullable: bool,
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind, if self.nullable { "" } else { " NOT NULL" })
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub of: DataType,
}

/// Reads a type of one value.
pub(crate) fn data_type(value: &Value, place: &str) -> Result<DataType> {
    match value {
        Value::String(text) => {
            let mut parser = Parser::new(text, place);
            let of = parser.data_type()?;
            parser.end()?;
            Ok(of)
        }
        Value::Object(_) => object_type(value, place),
        _ => Err(Refusal::new(place, format!("a type is needed, not {}", short(value)))),
    }
}

/// Reads the type of a row.
pub(crate) fn row_type(value: &Value, place: &str) -> Result<Vec<Field>> {
    if let Value::String(text) = value {
        let mut parser = Parser::new(text, place);
        let fields = parser.row()?;
        parser.end()?;
        return Ok(fields);
    }
    let mut object = Object::new(value, place)?;
    let name = object.text("type")?;
    if name != "ROW" {
        return Err(Refusal::new(place, format!("a ROW is needed, not {name}")));
    }
    if object.optional("nullable").is_some_and(|nullable| !nullable.is_boolean()) {
        return Err(Refusal::new(&object.place("nullable"), "true or false is needed"));
    }
    let at = object.place("fields");
    let fields = object.array("fields")?;
    object.end()?;
    let field = |(index, value): (usize, &Value)| {
        let mut field = Object::new(value, &format!("{at}[{index}]"))?;
        let name = field.text("name")?.to_owned();
        let place = field.place("fieldType");
        let of = data_type(field.required("fieldType")?, &place)?;
        field.optional_text("description")?;
        field.end()?;
        Ok(Field { name, of })
    };
    fields.iter().enumerate().map(field).collect()
}

fn object_type(value: &Value, place: &str) -> Result<DataType> {
    let mut object = Object::new(value, place)?;
    let root = object.text("type")?;
    let nullable = match object.optional("nullable") {
        None => true,
        Some(Value::Bool(nullable)) => *nullable,
        Some(other) => return Err(Refusal::new(place, format!("nullable is {}", short(other)))),
    };
    let kind = match root {
        "CHAR" | "VARCHAR" => {
            let length = object.index("length")?;
            let length = u32::try_from(length).unwrap_or(LENGTH_MAX);
            if root == "CHAR" { Kind::Char(length) } else { Kind::VarChar(length) }
        }
        "TIMESTAMP_WITHOUT_TIME_ZONE" | "TIMESTAMP_WITH_LOCAL_TIME_ZONE" => {
            let precision = digits(object.index("precision")?, place)?;
            let attribute = object.text("kind")?;
            if !matches!(attribute, "ROWTIME" | "REGULAR") {
                let what = format!("{attribute} is not a time of events: ROWTIME is");
                return Err(Refusal::new(place, what));
            }
            if root.contains("LOCAL") {
                Kind::TimestampLtz(precision)
            } else {
                Kind::Timestamp(precision)
            }
        }
        other => return Err(unknown(place, other)),
    };
    object.end()?;
    Ok(DataType { kind, nullable })
}

fn unknown(place: &str, name: &str) -> Refusal {
    Refusal::new(
        place,
        format!(
            "type {name} does not run at a site: BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL, CHAR, VARCHAR, DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ do"
        ),
    )
}

fn digits(precision: usize, place: &str) -> Result<u8> {
    match u8::try_from(precision) {
        Ok(precision @ 0..=9) => Ok(precision),
        _ => Err(Refusal::new(place, format!("a second has 0 to 9 digits, not {precision}"))),
    }
}

/// The short form: `LogicalType#asSerializableString`.
struct Parser<'a> {
    rest: &'a str,
    whole: &'a str,
    place: &'a str,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, place: &'a str) -> Self {
        Self { rest: text, whole: text, place }
    }

    fn refuse<T>(&self) -> Result<T> {
        let at = self.whole.len() - self.rest.len();
        let what = format!("type {:?} is not understood from character {at} on", self.whole);
        Err(Refusal::new(self.place, what))
    }

    fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { self.refuse() }
    }

    /// Takes this if it comes next.
    fn takes(&mut self, expected: &str) -> bool {
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn needs(&mut self, expected: &str) -> Result<()> {
        if self.takes(expected) { Ok(()) } else { self.refuse() }
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_uppercase() && c != '_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn number(&mut self) -> Result<u32> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let Ok(number) = self.rest[..end].parse() else { return self.refuse() };
        self.rest = &self.rest[end..];
        Ok(number)
    }

    /// `(3)`.
    fn argument(&mut self) -> Result<u32> {
        self.needs("(")?;
        let number = self.number()?;
        self.needs(")")?;
        Ok(number)
    }

    fn second_digits(&mut self) -> Result<u8> {
        let precision = self.argument()?;
        digits(precision as usize, self.place)
    }

    fn data_type(&mut self) -> Result<DataType> {
        let kind = self.kind()?;
        let nullable = !self.takes(" NOT NULL");
        Ok(DataType { kind, nullable })
    }

    fn kind(&mut self) -> Result<Kind> {
        Ok(match self.word() {
            "BOOLEAN" => Kind::Boolean,
            "TINYINT" => Kind::TinyInt,
            "SMALLINT" => Kind::SmallInt,
            "INT" => Kind::Int,
            "BIGINT" => Kind::BigInt,
            "FLOAT" => Kind::Float,
            "DOUBLE" => Kind::Double,
            "DECIMAL" => self.decimal()?,
            "CHAR" => Kind::Char(self.argument()?),
            "VARCHAR" => Kind::VarChar(self.argument()?),
            "DATE" => Kind::Date,
            "TIME" => Kind::Time(self.second_digits()?),
            "TIMESTAMP" => {
                let precision = self.second_digits()?;
                if self.takes(" WITH LOCAL TIME ZONE") {
                    Kind::TimestampLtz(precision)
                } else if self.rest.starts_with(" WITH") {
                    return self.refuse();
                } else {
                    Kind::Timestamp(precision)
                }
            }
            "INTERVAL" => self.interval()?,
            _ => return Err(unknown(self.place, self.whole)),
        })
    }

    fn decimal(&mut self) -> Result<Kind> {
        self.needs("(")?;
        let precision = self.number()?;
        self.needs(", ")?;
        let scale = self.number()?;
        self.needs(")")?;
        match (u8::try_from(precision), u8::try_from(scale)) {
            (Ok(precision @ 1..=38), Ok(scale)) if scale <= precision => {
                Ok(Kind::Decimal { precision, scale })
            }
            _ => self.refuse(),
        }
    }

    /// `INTERVAL DAY(2) TO SECOND(3)`: all of them are ms. Years and months are of another kind.
    fn interval(&mut self) -> Result<Kind> {
        loop {
            self.needs(" ")?;
            if !matches!(self.word(), "DAY" | "HOUR" | "MINUTE" | "SECOND") {
                return Err(unknown(self.place, self.whole));
            }
            if self.rest.starts_with('(') {
                self.argument()?;
            }
            if !self.takes(" TO") {
                return Ok(Kind::IntervalMillis);
            }
        }
    }

    fn row(&mut self) -> Result<Vec<Field>> {
        self.needs("ROW<")?;
        let mut fields = Vec::new();
        while !self.takes(">") {
            if !fields.is_empty() {
                self.needs(", ")?;
            }
            let name = self.name()?;
            self.needs(" ")?;
            let of = self.data_type()?;
            if self.takes(" '") {
                self.comment()?;
            }
            fields.push(Field { name, of });
        }
        self.takes(" NOT NULL");
        Ok(fields)
    }

    /// A name in backticks, in which a backtick is doubled.
    fn name(&mut self) -> Result<String> {
        self.needs("`")?;
        self.quoted('`')
    }

    fn comment(&mut self) -> Result<()> {
        self.quoted('\'').map(drop)
    }

    fn quoted(&mut self, quote: char) -> Result<String> {
        let mut name = String::new();
        while let Some(end) = self.rest.find(quote) {
            name.push_str(&self.rest[..end]);
            self.rest = &self.rest[end + quote.len_utf8()..];
            if !self.rest.starts_with(quote) {
                return Ok(name);
            }
            name.push(quote);
            self.rest = &self.rest[quote.len_utf8()..];
        }
        self.refuse()
    }
}

/// A type in the short form. A text without characters, which a constant may be, has none: a longer type has it too.
pub(crate) fn write_kind(kind: Kind) -> String {
    match kind {
        Kind::Char(0) | Kind::VarChar(0) => Kind::VarChar(LENGTH_MAX).to_string(),
        kind => kind.to_string(),
    }
}

/// A row's type in the short form, every column nullable.
pub(crate) fn write_row(fields: &[Field]) -> String {
    let write = |field: &Field| {
        format!("`{}` {}", field.name.replace('`', "``"), write_kind(field.of.kind))
    };
    let columns: Vec<String> = fields.iter().map(write).collect();
    format!("ROW<{}>", columns.join(", "))
}
