//! What a run remembers, in bytes: to go on after a start where it was.
//!
//! ```text
//!   version u8 | for each watermark: current i64, passed i64
//!              | for each aggregate: watermark i64, next trigger i64, groups u32, each: end i64, key, accumulators
//!              | for each one that is final: watermark i64, late rows i64, slices u32, each: end i64, groups u32, each: key,
//!                accumulators
//!              | for each one of sessions: watermark i64, late rows i64, sessions u32, each: start i64, end i64, key, accumulators
//!   values: count u32, each: kind u8 and bytes
//! ```
//! Big-endian. The bytes are of one pipeline, and of one version of this program's forms: who keeps them keeps also what they
//! are of.

use afterbay_edge_plan::Value;
use thiserror::Error;

const VERSION: u8 = 1;

/// Bytes that are not what this pipeline remembers.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("what was saved is not of this plan, or damaged: {0}")]
pub struct SavedError(pub(crate) &'static str);

/// Writes.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn new() -> Self {
        Self(vec![VERSION])
    }

    pub(crate) fn end(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn number(&mut self, number: i64) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    /// Below 2^32: a buffer has a limit, and a row as many columns as a plan.
    pub(crate) fn count(&mut self, count: usize) {
        self.0.extend_from_slice(&(count as u32).to_be_bytes());
    }

    pub(crate) fn values(&mut self, values: &[Value]) {
        self.count(values.len());
        values.iter().for_each(|value| self.value(value));
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.0.push(0),
            Value::Boolean(value) => self.0.extend_from_slice(&[1, u8::from(*value)]),
            Value::Whole(value) => self.tagged(2, &value.to_be_bytes()),
            Value::Float(value) => self.tagged(3, &value.to_bits().to_be_bytes()),
            Value::Double(value) => self.tagged(4, &value.to_bits().to_be_bytes()),
            Value::Decimal(value) => self.tagged(5, &value.to_be_bytes()),
            Value::Text(text) => {
                self.0.push(6);
                self.count(text.len());
                self.0.extend_from_slice(text.as_bytes());
            }
            Value::Timestamp { millis, nanos } => {
                self.tagged(7, &millis.to_be_bytes());
                self.0.extend_from_slice(&nanos.to_be_bytes());
            }
        }
    }

    fn tagged(&mut self, kind: u8, bytes: &[u8]) {
        self.0.push(kind);
        self.0.extend_from_slice(bytes);
    }
}

/// Reads.
pub(crate) struct Reader<'a>(&'a [u8]);

type Result<T> = std::result::Result<T, SavedError>;

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Self(bytes);
        if reader.array()? == [VERSION] { Ok(reader) } else { Err(SavedError("another version")) }
    }

    pub(crate) fn end(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(SavedError("bytes follow")) }
    }

    pub(crate) fn number(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    pub(crate) fn count(&mut self) -> Result<usize> {
        Ok(u32::from_be_bytes(self.array()?) as usize)
    }

    /// Exactly so many.
    pub(crate) fn values(&mut self, count: usize) -> Result<Box<[Value]>> {
        if self.count()? != count {
            return Err(SavedError("another number of columns"));
        }
        (0..count).map(|_| self.value()).collect()
    }

    fn value(&mut self) -> Result<Value> {
        let [kind] = self.array()?;
        Ok(match kind {
            0 => Value::Null,
            1 => Value::Boolean(self.array()? == [1]),
            2 => Value::Whole(self.number()?),
            3 => Value::Float(f32::from_bits(u32::from_be_bytes(self.array()?))),
            4 => Value::Double(f64::from_bits(u64::from_be_bytes(self.array()?))),
            5 => Value::Decimal(i128::from_be_bytes(self.array()?)),
            6 => {
                let length = self.count()?;
                let (text, rest) =
                    self.0.split_at_checked(length).ok_or(SavedError("it ends too early"))?;
                self.0 = rest;
                Value::text(std::str::from_utf8(text).map_err(|_| SavedError("no UTF-8"))?)
            }
            7 => {
                let (millis, nanos) = (self.number()?, u32::from_be_bytes(self.array()?));
                Value::Timestamp { millis, nanos }
            }
            _ => return Err(SavedError("a value of an unknown kind")),
        })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, rest) =
            self.0.split_first_chunk::<N>().ok_or(SavedError("it ends too early"))?;
        self.0 = rest;
        Ok(*array)
    }
}
