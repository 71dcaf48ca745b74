//! Codec 1: the lines of codec 0 as columns, compressed with zstd. What is written is read again byte by byte.
//!
//! A column is what its values look like, not a declared type: whole numbers, decimal numbers, or a dictionary of texts. A value
//! that would not come back as the same bytes (`-0`, `1e16`) makes its column one of texts.
//!
//! # Invariants
//! - Whatever the bytes, [`read`] returns; it holds 16 MiB of lines, 16 MiB of columns, zstd's window (16 MiB), 64 MiB of places and
//!   1 MiB of watermarks.

use std::collections::HashMap;
use std::io::Read as _;

use crate::frame::{LINES_MAX, PAYLOAD_BYTES_MAX};

/// Columns of a row.
const COLUMNS_MAX: u64 = 10_000;
/// zstd: a frame is small and its link slow.
const LEVEL: i32 = 9;
/// zstd: no window is larger than what it may give.
const WINDOW_LOG_MAX: u32 = 24;
/// Digits behind the point.
const SCALE_MAX: u64 = 18;

const WHOLE: u8 = 0;
const DELTA: u8 = 1;
const DECIMAL: u8 = 2;
const TEXT: u8 = 3;
/// There is a set of bits behind the kind: which values are null.
const NULLS: u8 = 0x80;

/// Lines as columns; none if they are not rows of the same number of values with watermarks between them.
pub(crate) fn write(lines: &[u8], watermark: i64) -> Option<Vec<u8>> {
    let mut columns: Vec<Vec<&[u8]>> = Vec::new();
    let (mut marks, mut count) = (Vec::new(), 0_u64);
    let (mut rows, mut since, mut before) = (0_u64, 0_u64, watermark);
    let text = lines.strip_suffix(b"\n").filter(|text| !text.is_empty())?;
    for line in text.split(|byte| *byte == b'\n') {
        if let Some(row) = line.strip_prefix(b"[").and_then(|row| row.strip_suffix(b"]")) {
            let mut values = Values(Some(row));
            if rows == 0 {
                columns = values.by_ref().map(|value| vec![value]).collect();
            } else {
                for column in &mut columns {
                    column.push(values.next()?);
                }
            }
            if values.next().is_some() || columns.len() as u64 > COLUMNS_MAX {
                return None;
            }
            (rows, since) = (rows + 1, since + 1);
        } else {
            let mark = whole(line)?;
            varint(&mut marks, since);
            varint(&mut marks, zigzag(mark.wrapping_sub(before)));
            (since, before, count) = (0, mark, count + 1);
        }
    }
    if count > rows + 1 {
        // Nobody needs so many.
        return None;
    }
    let mut body = Vec::with_capacity(lines.len() / 2);
    for number in [lines.len() as u64, rows, count, columns.len() as u64] {
        varint(&mut body, number);
    }
    body.extend_from_slice(&marks);
    for column in columns {
        let column = write_column(&column);
        varint(&mut body, column.len() as u64);
        body.extend_from_slice(&column);
    }
    (body.len() <= PAYLOAD_BYTES_MAX).then(|| zstd::bulk::compress(&body, LEVEL).ok())?
}

/// The lines that were written, or what is wrong.
pub(crate) fn read(bytes: &[u8], watermark: i64) -> Result<Vec<u8>, &'static str> {
    let damaged = |_| "zstd does not take them";
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes).map_err(damaged)?;
    decoder.window_log_max(WINDOW_LOG_MAX).map_err(damaged)?;
    let mut body = Vec::new();
    decoder.take(PAYLOAD_BYTES_MAX as u64 + 1).read_to_end(&mut body).map_err(damaged)?;
    if body.len() > PAYLOAD_BYTES_MAX {
        return Err("more than 16 MiB of columns");
    }
    let mut body = Bytes(&body);
    let (length, rows, marks, count) =
        (body.varint()?, body.varint()?, body.varint()?, body.varint()?);
    // A row has brackets and an end, and a comma between two values; a watermark has a digit and an end.
    let least = rows.checked_mul(count.saturating_add(2));
    let least = least.and_then(|bytes| marks.checked_mul(2)?.checked_add(bytes));
    if length > PAYLOAD_BYTES_MAX as u64 || least.is_none_or(|least| least > length) {
        return Err("more lines than fit into their length");
    }
    if marks > rows + 1 || rows + marks > LINES_MAX as u64 {
        return Err("more lines than are allowed");
    }
    if count > COLUMNS_MAX || (count == 0) != (rows == 0) {
        return Err("a number of columns that cannot be");
    }
    let mut read_marks = Vec::with_capacity(marks as usize);
    let (mut told, mut before) = (0_u64, watermark);
    for _ in 0..marks {
        let since = body.varint()?;
        told = told.checked_add(since).filter(|told| *told <= rows).ok_or("too many rows")?;
        before = before.wrapping_add(unzigzag(body.varint()?));
        read_marks.push((since, before));
    }
    let mut columns = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let length = body.varint()?;
        columns.push(Column::open(body.take(length)?, rows)?);
    }
    if !body.0.is_empty() {
        return Err("bytes follow the last column");
    }
    let mut out = Lines { bytes: Vec::new(), length: length as usize };
    for (since, mark) in read_marks {
        (0..since).try_for_each(|_| out.row(&mut columns))?;
        out.put(format!("{mark}\n").as_bytes())?;
    }
    (told..rows).try_for_each(|_| out.row(&mut columns))?;
    if out.bytes.len() != out.length || columns.iter().any(|column| !column.bytes.0.is_empty()) {
        return Err("columns of another length than they say");
    }
    Ok(out.bytes)
}

/// Lines that are no longer than they may be.
struct Lines {
    bytes: Vec<u8>,
    length: usize,
}

impl Lines {
    fn put(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        if bytes.len() > self.length - self.bytes.len() {
            return Err("more lines than they say");
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn row(&mut self, columns: &mut [Column<'_>]) -> Result<(), &'static str> {
        for (index, column) in columns.iter_mut().enumerate() {
            self.put(if index == 0 { b"[" } else { b"," })?;
            column.next(self)?;
        }
        self.put(b"]\n")
    }
}

/// Values of a row, as they are written.
struct Values<'a>(Option<&'a [u8]>);

impl<'a> Iterator for Values<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.0.take()?;
        let (mut quoted, mut escaped) = (false, false);
        for (index, byte) in rest.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b',' if !quoted => {
                    self.0 = Some(&rest[index + 1..]);
                    return Some(&rest[..index]);
                }
                _ => {}
            }
        }
        Some(rest)
    }
}

fn write_column(values: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![0];
    if values.contains(&&b"null"[..]) {
        out[0] |= NULLS;
        for eight in values.chunks(8) {
            let bits = eight.iter().enumerate();
            out.push(bits.fold(0, |bits, (at, value)| bits | (u8::from(*value == b"null") << at)));
        }
    }
    let there: Vec<&[u8]> = values.iter().copied().filter(|value| *value != b"null").collect();
    if let Some(numbers) = there.iter().map(|value| whole(value)).collect::<Option<Vec<i64>>>() {
        let (mut plain, mut deltas, mut before) = (Vec::new(), Vec::new(), 0_i64);
        for number in numbers {
            varint(&mut plain, zigzag(number));
            varint(&mut deltas, zigzag(number.wrapping_sub(before)));
            before = number;
        }
        let shorter = deltas.len() < plain.len();
        out[0] |= if shorter { DELTA } else { WHOLE };
        out.extend_from_slice(if shorter { &deltas } else { &plain });
    } else if let Some(numbers) =
        there.iter().map(|value| decimal(value)).collect::<Option<Vec<_>>>()
    {
        out[0] |= DECIMAL;
        for (number, scale) in numbers {
            varint(&mut out, scale);
            varint(&mut out, number);
        }
    } else {
        out[0] |= TEXT;
        let (mut texts, mut places) = (Vec::new(), Vec::new());
        let mut known: HashMap<&[u8], u64> = HashMap::new();
        for text in there {
            let next = known.len() as u64;
            let place = *known.entry(text).or_insert_with(|| {
                varint(&mut texts, text.len() as u64);
                texts.extend_from_slice(text);
                next
            });
            varint(&mut places, place);
        }
        varint(&mut out, known.len() as u64);
        out.extend_from_slice(&texts);
        out.extend_from_slice(&places);
    }
    out
}

/// A column that is read value by value.
struct Column<'a> {
    kind: u8,
    nulls: Option<&'a [u8]>,
    /// How many values were read.
    at: usize,
    bytes: Bytes<'a>,
    before: i64,
    /// Where texts are in `texts`, each behind its length.
    places: Vec<u32>,
    texts: &'a [u8],
}

impl<'a> Column<'a> {
    fn open(mut bytes: Bytes<'a>, rows: u64) -> Result<Self, &'static str> {
        let [kind] = *bytes.take(1)?.0 else { return Err(SHORT) };
        let nulls = if kind & NULLS > 0 { Some(bytes.take(rows.div_ceil(8))?.0) } else { None };
        let kind = kind & !NULLS;
        if kind > TEXT {
            return Err("a kind of column that is not known");
        }
        let (mut texts, mut places) = (bytes.0, Vec::new());
        if kind == TEXT {
            let count = bytes.varint()?;
            texts = bytes.0;
            // Each has a length at least: places are four times the bytes at most.
            if count > rows || count > bytes.0.len() as u64 {
                return Err("more texts than rows");
            }
            for _ in 0..count {
                // Below 16 MiB.
                places.push((texts.len() - bytes.0.len()) as u32);
                let length = bytes.varint()?;
                bytes.take(length)?;
            }
        }
        Ok(Self { kind, nulls, at: 0, bytes, before: 0, places, texts })
    }

    fn next(&mut self, out: &mut Lines) -> Result<(), &'static str> {
        let at = self.at;
        self.at += 1;
        if self.nulls.is_some_and(|nulls| nulls[at / 8] >> (at % 8) & 1 > 0) {
            return out.put(b"null");
        }
        match self.kind {
            TEXT => {
                let place = self.bytes.varint()?;
                let place = usize::try_from(place).ok().and_then(|place| self.places.get(place));
                let at = *place.ok_or("a text that is not there")? as usize;
                let mut text = Bytes(&self.texts[at..]);
                let length = text.varint()?;
                out.put(text.take(length)?.0)
            }
            DECIMAL => {
                let (scale, number) = (self.bytes.varint()?, self.bytes.varint()?);
                if scale > SCALE_MAX {
                    return Err("more than 18 digits behind a point");
                }
                let (sign, scale) = (if number & 1 > 0 { "-" } else { "" }, scale as usize);
                let digits = format!("{:0>width$}", number >> 1, width = scale + 1);
                let (before, behind) = digits.split_at(digits.len() - scale);
                let point = if scale > 0 { "." } else { "" };
                out.put(format!("{sign}{before}{point}{behind}").as_bytes())
            }
            kind => {
                let number = unzigzag(self.bytes.varint()?);
                self.before = if kind == DELTA { self.before.wrapping_add(number) } else { number };
                out.put(self.before.to_string().as_bytes())
            }
        }
    }
}

/// A whole number that is written as we write it.
fn whole(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if !is_digits(digits) || text == b"-0" {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Digits, the lowest bit the sign; and how many of them stand behind the point.
fn decimal(text: &[u8]) -> Option<(u64, u64)> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let (before, behind) = match digits.iter().position(|byte| *byte == b'.') {
        Some(point) if point + 1 < digits.len() => (&digits[..point], &digits[point + 1..]),
        Some(_) => return None,
        None => (digits, &b""[..]),
    };
    if !is_digits(before)
        || !behind.iter().all(u8::is_ascii_digit)
        || behind.len() as u64 > SCALE_MAX
    {
        return None;
    }
    let number: u64 = std::str::from_utf8(&[before, behind].concat()).ok()?.parse().ok()?;
    let number = number.checked_mul(2)? | u64::from(digits.len() < text.len());
    Some((number, behind.len() as u64))
}

/// Digits without a zero in front that could be left out.
fn is_digits(text: &[u8]) -> bool {
    let zero = text.len() > 1 && text.starts_with(b"0");
    !text.is_empty() && !zero && text.iter().all(u8::is_ascii_digit)
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Seven bits a byte, the lowest first; the highest bit says that there are more.
fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

const SHORT: &str = "they end too early";

/// What is left of some bytes.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: u64) -> Result<Self, &'static str> {
        let count = usize::try_from(count).map_err(|_| SHORT)?;
        let (taken, rest) = self.0.split_at_checked(count).ok_or(SHORT)?;
        self.0 = rest;
        Ok(Bytes(taken))
    }

    fn varint(&mut self) -> Result<u64, &'static str> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(SHORT)?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number of more than 64 bits")
    }
}
