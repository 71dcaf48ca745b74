//! One frame: head, names, rows.

use std::borrow::Cow;

use thiserror::Error;

use crate::columns;

const MAGIC: [u8; 4] = *b"ABEF";
const VERSION: u8 = 1;
const HEAD_BYTES: usize = 40;
/// Where the checksum stands.
const CHECKSUM: std::ops::Range<usize> = 8..12;

/// Rows as JSON arrays, a line each.
pub const CODEC_JSON: u8 = 0;
/// The same as columns, with zstd.
pub const CODEC_COLUMNS: u8 = 1;
/// Bytes of a name.
pub const NAME_BYTES_MAX: usize = 63;
/// Bytes of the rows of one frame.
pub const PAYLOAD_BYTES_MAX: usize = 16 << 20;
/// Lines of one frame: whoever reads it holds more for a line than its bytes.
pub const LINES_MAX: usize = 1 << 17;

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Who sends it.
    pub site: Cow<'a, str>,
    /// Of which stream.
    pub stream: Cow<'a, str>,
    /// Of which life of the stream.
    pub epoch: u64,
    /// Its number in the epoch, from 0.
    pub sequence: u64,
    /// ms: what the site emitted last before the first row.
    pub watermark: i64,
    /// Lines, none if only the watermark moves on: rows, and watermarks between and behind them.
    pub payload: Cow<'a, [u8]>,
}

/// A line of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// A row, as a JSON array.
    Row(&'a str),
    /// ms: the site has emitted this behind the rows before.
    Watermark(i64),
}

/// Bytes that are no frame.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// Fewer than a frame has.
    #[error("{found} bytes are no frame: {needed} are needed")]
    Short {
        /// How many there are.
        found: usize,
        /// How many there have to be at least.
        needed: usize,
    },
    /// More than the frame has.
    #[error("{0} bytes follow the frame")]
    Long(usize),
    /// Something else.
    #[error("no frame: it begins with {0:02x?}")]
    Magic([u8; 4]),
    /// Of another version.
    #[error("version {0} of frames is not known: 1 is")]
    Version(u8),
    /// Compressed in another way.
    #[error("codec {0} is not known: 0 (rows as JSON) and 1 (columns with zstd) are")]
    Codec(u8),
    /// Bytes have changed.
    #[error("checksum {found:08x} of a frame whose bytes have {expected:08x}")]
    Checksum {
        /// What it says.
        found: u32,
        /// What it should say.
        expected: u32,
    },
    /// A name that is none.
    #[error("{0} is no name: 1 to {NAME_BYTES_MAX} letters, digits, - and _ are allowed")]
    Name(String),
    /// A line that is neither a row nor a watermark.
    #[error("line {0} of a frame is neither a JSON array nor a number")]
    Line(usize),
    /// Columns that are none.
    #[error("columns of a frame are damaged: {0}")]
    Columns(&'static str),
    /// More lines than a frame may have.
    #[error("{0} lines: {LINES_MAX} are allowed")]
    Lines(usize),
    /// More rows than a frame may have.
    #[error("{0} bytes of rows: {PAYLOAD_BYTES_MAX} are allowed")]
    Payload(usize),
}

/// A frame that cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(transparent)]
pub struct EncodeError(DecodeError);

impl<'a> Frame<'a> {
    /// Writes the frame.
    ///
    /// # Errors
    /// A name or the rows are not allowed.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        self.encode_as(CODEC_JSON, &self.payload)
    }

    /// Writes the frame with its lines as columns, or as [`encode`](Self::encode) does if that is no longer.
    ///
    /// # Errors
    /// A name or the rows are not allowed.
    pub fn encode_columns(&self) -> Result<Vec<u8>, EncodeError> {
        if self.payload.len() > PAYLOAD_BYTES_MAX {
            return Err(EncodeError(DecodeError::Payload(self.payload.len())));
        }
        let columns = columns::write(&self.payload, self.watermark);
        match columns.filter(|columns| columns.len() < self.payload.len()) {
            Some(columns) => self.encode_as(CODEC_COLUMNS, &columns),
            None => self.encode(),
        }
    }

    fn encode_as(&self, codec: u8, payload: &[u8]) -> Result<Vec<u8>, EncodeError> {
        for name in [&self.site, &self.stream] {
            check_name(name).map_err(EncodeError)?;
        }
        let length = u32::try_from(payload.len())
            .ok()
            .filter(|length| *length as usize <= PAYLOAD_BYTES_MAX)
            .ok_or(EncodeError(DecodeError::Payload(payload.len())))?;
        check_lines(&self.payload).map_err(EncodeError)?;
        let mut bytes = Vec::with_capacity(HEAD_BYTES + 2 * NAME_BYTES_MAX + payload.len());
        bytes.extend_from_slice(&MAGIC);
        // Names have been checked: their lengths are below 64.
        bytes.extend_from_slice(&[VERSION, codec, self.site.len() as u8, self.stream.len() as u8]);
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.epoch.to_be_bytes());
        bytes.extend_from_slice(&self.sequence.to_be_bytes());
        bytes.extend_from_slice(&self.watermark.to_be_bytes());
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(self.site.as_bytes());
        bytes.extend_from_slice(self.stream.as_bytes());
        bytes.extend_from_slice(payload);
        let checksum = crc_fast::crc32_iscsi(&bytes).to_be_bytes();
        bytes[CHECKSUM].copy_from_slice(&checksum);
        Ok(bytes)
    }

    /// The same, with bytes of its own.
    pub fn into_owned(self) -> Frame<'static> {
        let Self { site, stream, epoch, sequence, watermark, payload } = self;
        let (site, stream) = (site.into_owned().into(), stream.into_owned().into());
        let payload = payload.into_owned().into();
        Frame { site, stream, epoch, sequence, watermark, payload }
    }

    /// Its lines, in their order.
    ///
    /// # Errors
    /// One of them is neither a row nor a watermark. A row is not looked into.
    pub fn lines(&self) -> Result<Vec<Line<'_>>, DecodeError> {
        let text = std::str::from_utf8(&self.payload).map_err(|_| DecodeError::Line(0))?;
        let lines = text.split_terminator('\n').enumerate().map(|(index, line)| {
            if line.starts_with('[') && line.ends_with(']') {
                return Ok(Line::Row(line));
            }
            line.parse().map(Line::Watermark).map_err(|_| DecodeError::Line(index + 1))
        });
        lines.collect()
    }

    /// How many of them are rows.
    pub fn rows(&self) -> u64 {
        self.lines().map_or(0, |lines| {
            lines.iter().filter(|line| matches!(line, Line::Row(_))).count() as u64
        })
    }

    /// Reads a frame that is all of these bytes.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
            return Err(DecodeError::Short { found: bytes.len(), needed: HEAD_BYTES });
        };
        let magic = [head[0], head[1], head[2], head[3]];
        if magic != MAGIC {
            return Err(DecodeError::Magic(magic));
        }
        if head[4] != VERSION {
            return Err(DecodeError::Version(head[4]));
        }
        if head[5] > CODEC_COLUMNS {
            return Err(DecodeError::Codec(head[5]));
        }
        let payload = u32_at(head, 36) as usize;
        if payload > PAYLOAD_BYTES_MAX {
            return Err(DecodeError::Payload(payload));
        }
        let (site, stream) = (usize::from(head[6]), usize::from(head[7]));
        let needed = site + stream + payload;
        if rest.len() < needed {
            let (found, needed) = (bytes.len(), HEAD_BYTES + needed);
            return Err(DecodeError::Short { found, needed });
        }
        if rest.len() > needed {
            return Err(DecodeError::Long(rest.len() - needed));
        }
        let found = u32_at(head, CHECKSUM.start);
        let expected = checksum(bytes);
        if found != expected {
            return Err(DecodeError::Checksum { found, expected });
        }
        let (site, rest) = rest.split_at(site);
        let (stream, payload) = rest.split_at(stream);
        let watermark = u64_at(head, 28).cast_signed();
        let payload = if head[5] == CODEC_COLUMNS {
            Cow::Owned(columns::read(payload, watermark).map_err(DecodeError::Columns)?)
        } else {
            Cow::Borrowed(payload)
        };
        check_lines(&payload)?;
        Ok(Self {
            site: name(site)?,
            stream: name(stream)?,
            epoch: u64_at(head, 12),
            sequence: u64_at(head, 20),
            watermark,
            payload,
        })
    }
}

fn check_lines(payload: &[u8]) -> Result<(), DecodeError> {
    let lines = payload.iter().filter(|byte| **byte == b'\n').count();
    if lines > LINES_MAX { Err(DecodeError::Lines(lines)) } else { Ok(()) }
}

/// Of the whole frame, with zeros for the checksum.
fn checksum(bytes: &[u8]) -> u32 {
    let mut zeroed = bytes.to_vec();
    zeroed[CHECKSUM].fill(0);
    crc_fast::crc32_iscsi(&zeroed)
}

fn u32_at(head: &[u8; HEAD_BYTES], at: usize) -> u32 {
    u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
}

fn u64_at(head: &[u8; HEAD_BYTES], at: usize) -> u64 {
    u64::from(u32_at(head, at)) << 32 | u64::from(u32_at(head, at + 4))
}

fn name(bytes: &[u8]) -> Result<Cow<'_, str>, DecodeError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| DecodeError::Name(format!("{:?}", String::from_utf8_lossy(bytes))))?;
    check_name(text)?;
    Ok(Cow::Borrowed(text))
}

fn check_name(text: &str) -> Result<(), DecodeError> {
    if is_name(text) { Ok(()) } else { Err(DecodeError::Name(format!("{text:?}"))) }
}

/// Whether it is a name of a site or a stream: 1 to [`NAME_BYTES_MAX`] letters, digits, `-` and `_`. So it is one of a file, too.
pub fn is_name(text: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=NAME_BYTES_MAX).contains(&text.len()) && text.chars().all(known)
}
