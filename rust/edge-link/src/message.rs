//! What is said over a link, in bytes.
//!
//! ```text
//!  0        4      5
//!  +--------+------+------+
//!  | bytes  | kind | body |      bytes: of kind and body. Numbers are big-endian; a text has its bytes in front (u16)
//!  | u32    | u8   |      |
//!  +--------+------+------+
//! ```

use crate::error::{LinkError, Result};

/// Bytes of kind and body: a frame, and a bit.
pub const MESSAGE_BYTES_MAX: usize = afterbay_edge_wire::PAYLOAD_BYTES_MAX + 1024;
/// Columns of a stream.
const COLUMNS_MAX: usize = 10_000;

/// Why somebody is not wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The key is not known, or is not this site's.
    Key,
    /// There is a newer epoch.
    Fenced,
    /// The stream has other columns.
    Columns,
    /// What was said is against the protocol.
    Protocol,
    /// Not now.
    Busy,
}

impl Refusal {
    const ALL: [Self; 5] = [Self::Key, Self::Fenced, Self::Columns, Self::Protocol, Self::Busy];

    /// Whether the same will be refused again until somebody does something.
    pub fn is_final(self) -> bool {
        self != Self::Busy
    }
}

/// What is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Cloud: the first word, with a number that nobody can guess.
    Hello {
        /// Used once.
        nonce: [u8; 32],
    },
    /// Site: who it is.
    Prove {
        /// The site.
        site: String,
        /// The name of its key.
        key: String,
        /// Used once.
        nonce: [u8; 32],
        /// That it knows the secret.
        proof: [u8; 32],
    },
    /// Cloud: the site is known, and so is its secret.
    Welcome {
        /// That the cloud knows the secret too.
        proof: [u8; 32],
    },
    /// Either: the last word.
    Refused {
        /// What kind of refusal it is.
        refusal: Refusal,
        /// What it says, for people.
        text: String,
    },
    /// Site: a stream begins, or goes on.
    Open {
        /// The stream.
        stream: String,
        /// Its epoch.
        epoch: u64,
        /// Names of its columns.
        columns: Vec<String>,
    },
    /// Cloud: everything before this number is safe. The answer to `Open`, and an acknowledgement.
    Next {
        /// Of which stream.
        stream: String,
        /// Of which epoch.
        epoch: u64,
        /// The number that comes next.
        next: u64,
    },
    /// Site: a frame of `edge-wire`.
    Frame(Vec<u8>),
    /// Site: frames that were dropped, and will never come.
    Skip {
        /// Of which stream.
        stream: String,
        /// Of which epoch.
        epoch: u64,
        /// The first one.
        from: u64,
        /// The one behind the last one.
        to: u64,
        /// Rows in them, at most: some may have come before.
        rows: u64,
    },
    /// Site: is anybody there?
    Ping,
    /// Cloud: yes.
    Pong,
}

impl Message {
    /// Writes it.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![0; 4];
        match self {
            Self::Hello { nonce } => {
                out.extend_from_slice(b"\x01ABEL\x01");
                out.extend_from_slice(nonce);
            }
            Self::Prove { site, key, nonce, proof } => {
                out.push(2);
                text(&mut out, site);
                text(&mut out, key);
                out.extend_from_slice(nonce);
                out.extend_from_slice(proof);
            }
            Self::Welcome { proof } => {
                out.push(3);
                out.extend_from_slice(proof);
            }
            Self::Refused { refusal, text: what } => {
                let code = Refusal::ALL.iter().position(|one| one == refusal).unwrap_or(0) as u8;
                out.extend_from_slice(&[4, code]);
                text(&mut out, what);
            }
            Self::Open { stream, epoch, columns } => {
                out.push(5);
                text(&mut out, stream);
                out.extend_from_slice(&epoch.to_be_bytes());
                out.extend_from_slice(&(columns.len().min(COLUMNS_MAX) as u16).to_be_bytes());
                columns.iter().take(COLUMNS_MAX).for_each(|column| text(&mut out, column));
            }
            Self::Next { stream, epoch, next } => {
                out.push(6);
                text(&mut out, stream);
                numbers(&mut out, &[*epoch, *next]);
            }
            Self::Frame(frame) => {
                out.push(7);
                out.extend_from_slice(frame);
            }
            Self::Skip { stream, epoch, from, to, rows } => {
                out.push(8);
                text(&mut out, stream);
                numbers(&mut out, &[*epoch, *from, *to, *rows]);
            }
            Self::Ping => out.push(9),
            Self::Pong => out.push(10),
        }
        // A frame and a bit: below 2^32.
        let length = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&length.to_be_bytes());
        out
    }

    /// Reads kind and body.
    ///
    /// # Errors
    /// They mean nothing.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let Some((&kind, body)) = bytes.split_first() else { return Err(cut_off()) };
        if kind == 7 {
            return Ok(Self::Frame(body.to_vec()));
        }
        let mut body = Body(body);
        let message = match kind {
            1 => {
                let (magic, version) = (body.array::<4>()?, body.array::<1>()?);
                if magic != *b"ABEL" || version != [1] {
                    return Err(wrong("the other side is no gateway of edge links, version 1"));
                }
                Self::Hello { nonce: body.array()? }
            }
            2 => Self::Prove {
                site: body.text()?,
                key: body.text()?,
                nonce: body.array()?,
                proof: body.array()?,
            },
            3 => Self::Welcome { proof: body.array()? },
            4 => {
                let [code] = body.array()?;
                let refusal = Refusal::ALL.get(usize::from(code)).copied();
                Self::Refused { refusal: refusal.unwrap_or(Refusal::Protocol), text: body.text()? }
            }
            5 => {
                let (stream, epoch) = (body.text()?, body.number()?);
                let count = usize::from(u16::from_be_bytes(body.array()?));
                let columns = (0..count).map(|_| body.text()).collect::<Result<_>>()?;
                Self::Open { stream, epoch, columns }
            }
            6 => Self::Next { stream: body.text()?, epoch: body.number()?, next: body.number()? },
            8 => Self::Skip {
                stream: body.text()?,
                epoch: body.number()?,
                from: body.number()?,
                to: body.number()?,
                rows: body.number()?,
            },
            9 => Self::Ping,
            10 => Self::Pong,
            other => return Err(wrong(&format!("a message of kind {other}: 1 to 10 are known"))),
        };
        if body.0.is_empty() {
            Ok(message)
        } else {
            Err(wrong(&format!("{} bytes follow a message of kind {kind}", body.0.len())))
        }
    }
}

fn wrong(what: &str) -> LinkError {
    LinkError::Protocol(what.to_owned())
}

fn cut_off() -> LinkError {
    wrong("a message ends too early")
}

fn numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
}

/// A text of more than 64 KiB is cut: none that matters is so long.
fn text(out: &mut Vec<u8>, text: &str) {
    let mut end = text.len().min(usize::from(u16::MAX));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    out.extend_from_slice(&(end as u16).to_be_bytes());
    out.extend_from_slice(&text.as_bytes()[..end]);
}

/// What is left of a body.
struct Body<'a>(&'a [u8]);

impl Body<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>().ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(*array)
    }

    fn number(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    fn text(&mut self) -> Result<String> {
        let length = usize::from(u16::from_be_bytes(self.array()?));
        let (text, rest) = self.0.split_at_checked(length).ok_or_else(cut_off)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).map_err(|_| wrong("a text is not UTF-8"))
    }
}
