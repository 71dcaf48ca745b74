//! What the heads of frames say.

use afterbay_blob_format::{BlobId, PartitionId, Properties};
use afterbay_blob_router::{BlobInfo, ByteRange, PutBlob, PutOptions};

use crate::auth::{Nonce, Proof};
use crate::buckets::{BucketSettings, ListRequest};
use crate::error::{ProtocolError, Result};
use crate::failure::Failure;
use crate::fields::{Fields, put_acknowledgement, put_id, put_optional_id};
use crate::frame::{Frame, Kind, encode_frame};
use crate::keys::{CreatedKey, NewKey};
use crate::target::{Name, Target};

/// Unknown lengths and "never" in fields of 8 bytes.
const UNKNOWN: u64 = u64::MAX;

/// What the server says first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The server's random number.
    pub nonce: Nonce,
    /// For people: which server it is.
    pub server: String,
}

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Proves who the client is.
    Authenticate {
        /// The key.
        key: String,
        /// The client's random number.
        nonce: Nonce,
        /// That it knows the key's secret.
        proof: Proof,
    },
    /// Stores the content of the frames that follow.
    Put(PutHead),
    /// Reads a blob, or a range of it.
    Get {
        /// Which blob.
        target: Target,
        /// Which bytes; all if `None`.
        range: Option<ByteRange>,
    },
    /// What is known about a blob.
    Stat(Target),
    /// Deletes a blob, and the name if it was asked by one. Answered by [`Response::Deleted`].
    Delete(Target),
    /// Takes back a delete.
    Undelete(BlobId),
    /// Lets a blob expire at another time.
    UpdateTtl {
        /// Which blob.
        target: Target,
        /// When, in milliseconds since 1970; `None` is never.
        expires_ms: Option<u64>,
    },
    /// What the server has.
    Status,
    /// Whether it answers.
    Ping,
    /// Names in a bucket, or buckets.
    List(ListRequest),
    /// Makes a key for a user.
    CreateKey(NewKey),
    /// Deletes a key, by its name.
    DeleteKey(String),
    /// All keys.
    ListKeys,
    /// Changes the settings of a bucket, which is made if there is none.
    SetBucket(BucketSettings),
    /// Deletes a bucket without objects, by its name. Uploads in it are aborted.
    DeleteBucket(String),
    /// Begins to verify everything that is stored, or tells about the scrub that runs.
    ScrubStart {
        /// Bytes that it reads in a second, of each disk; at least 1.
        bytes_per_s: u64,
        /// Of this partition alone.
        partition: Option<PartitionId>,
    },
    /// What the scrub that runs, or the last one, has found.
    ScrubStatus,
    /// Stops the scrub that runs.
    ScrubStop,
}

/// How to store a blob.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PutHead {
    /// How.
    pub options: PutOptions,
    /// The name that it gets.
    pub name: Option<Name>,
}

/// What a server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// The client is who it says; so is the server.
    Welcome(Proof),
    /// It was not done.
    Failed(Failure),
    /// It was done.
    Done,
    /// It was deleted: which blob. `None`: several, those of an upload in parts, of which none has all of it.
    Deleted(Option<BlobId>),
    /// The content is stored.
    Stored(PutBlob),
    /// A blob; after a get, content follows: bytes `begin` to `end` of the blob.
    Found {
        /// What is known about it.
        info: BlobInfo,
        /// First byte.
        begin: u64,
        /// Behind the last byte.
        end: u64,
    },
    /// JSON, as the body of the frame.
    Report,
    /// Names, as the body of the frame.
    Listed,
    /// The key that was made.
    KeyCreated(CreatedKey),
    /// Keys, as the body of the frame.
    Keys,
}

/// Something that is sent as the head of a frame.
pub trait Message {
    /// The frame up to its body.
    fn encode(&self, request: u64, body_bytes: u32) -> Result<Vec<u8>>;
}

impl Hello {
    /// Reads it.
    pub fn parse(frame: &Frame) -> Result<Self> {
        let mut fields = of_kind("hello", frame, Kind::Hello)?;
        let nonce = fields.array()?;
        let server = fields.text(fields.remaining())?;
        Ok(Hello { nonce, server })
    }
}

impl Message for Hello {
    fn encode(&self, request: u64, body_bytes: u32) -> Result<Vec<u8>> {
        let head = [&self.nonce[..], self.server.as_bytes()].concat();
        Ok(encode_frame(Kind::Hello, request, &head, body_bytes))
    }
}

fn of_kind(what: &'static str, frame: &Frame, kind: Kind) -> Result<Fields> {
    if frame.header.kind == kind {
        Ok(Fields::new(what, &frame.head))
    } else {
        let reason = format!("{:?} came instead", frame.header.kind);
        Err(ProtocolError::malformed(what, reason))
    }
}

impl Message for Request {
    fn encode(&self, request: u64, body_bytes: u32) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        let kind = match self {
            Request::Authenticate { key, nonce, proof } => {
                head.extend_from_slice(nonce);
                head.extend_from_slice(proof);
                head.extend_from_slice(key.as_bytes());
                Kind::Authenticate
            }
            Request::Put(put) => {
                put.encode(&mut head)?;
                Kind::Put
            }
            Request::Get { target, range } => {
                encode_range(*range, &mut head);
                target.encode(&mut head)?;
                Kind::Get
            }
            Request::Stat(target) => {
                target.encode(&mut head)?;
                Kind::Stat
            }
            Request::Delete(target) => {
                target.encode(&mut head)?;
                Kind::Delete
            }
            Request::Undelete(id) => {
                put_id(&mut head, *id);
                Kind::Undelete
            }
            Request::UpdateTtl { target, expires_ms } => {
                head.extend_from_slice(&expires_ms.unwrap_or(0).to_be_bytes());
                target.encode(&mut head)?;
                Kind::UpdateTtl
            }
            Request::Status => Kind::Status,
            Request::Ping => Kind::Ping,
            Request::List(list) => {
                list.encode(&mut head)?;
                Kind::List
            }
            Request::CreateKey(key) => {
                key.encode(&mut head)?;
                Kind::CreateKey
            }
            Request::DeleteKey(access) => {
                encode_text(access, &mut head)?;
                Kind::DeleteKey
            }
            Request::ListKeys => Kind::ListKeys,
            Request::SetBucket(settings) => {
                settings.encode(&mut head)?;
                Kind::SetBucket
            }
            Request::DeleteBucket(bucket) => {
                encode_text(bucket, &mut head)?;
                Kind::DeleteBucket
            }
            Request::ScrubStart { bytes_per_s, partition } => {
                head.extend_from_slice(&bytes_per_s.to_be_bytes());
                // Servers of before know none.
                if let Some(partition) = partition {
                    head.extend_from_slice(&partition.0.to_be_bytes());
                }
                Kind::ScrubStart
            }
            Request::ScrubStatus => Kind::ScrubStatus,
            Request::ScrubStop => Kind::ScrubStop,
        };
        Ok(encode_frame(kind, request, &head, body_bytes))
    }
}

/// Reads what a client asks for.
pub fn parse_request(frame: &Frame) -> Result<Request> {
    let kind = frame.header.kind;
    if frame.header.body_bytes > 0 {
        return Err(ProtocolError::malformed("request", format!("{kind:?} has a body")));
    }
    let mut fields = Fields::new("request", &frame.head);
    let request = match kind {
        Kind::Authenticate => {
            let (nonce, proof) = (fields.array()?, fields.array()?);
            Request::Authenticate { nonce, proof, key: fields.text(fields.remaining())? }
        }
        Kind::Put => Request::Put(PutHead::parse(&mut fields)?),
        Kind::Get => {
            let range = parse_range(&mut fields)?;
            Request::Get { range, target: Target::parse(&mut fields)? }
        }
        Kind::Stat => Request::Stat(Target::parse(&mut fields)?),
        Kind::Delete => Request::Delete(Target::parse(&mut fields)?),
        Kind::Undelete => Request::Undelete(fields.id()?),
        Kind::UpdateTtl => {
            let expires_ms = Some(fields.u64()?).filter(|ms| *ms != 0);
            Request::UpdateTtl { expires_ms, target: Target::parse(&mut fields)? }
        }
        Kind::Status => Request::Status,
        Kind::Ping => Request::Ping,
        Kind::List => Request::List(ListRequest::parse(&mut fields)?),
        Kind::CreateKey => Request::CreateKey(NewKey::parse(&mut fields)?),
        Kind::DeleteKey => Request::DeleteKey(parse_text(&mut fields)?),
        Kind::ListKeys => Request::ListKeys,
        Kind::SetBucket => Request::SetBucket(BucketSettings::parse(&mut fields)?),
        Kind::DeleteBucket => Request::DeleteBucket(parse_text(&mut fields)?),
        Kind::ScrubStart => {
            let bytes_per_s = fields.u64()?;
            let partition = match fields.remaining() {
                0 => None,
                _ => Some(PartitionId(fields.u64()?)),
            };
            Request::ScrubStart { bytes_per_s, partition }
        }
        Kind::ScrubStatus => Request::ScrubStatus,
        Kind::ScrubStop => Request::ScrubStop,
        other => return Err(ProtocolError::malformed("request", format!("{other:?} is none"))),
    };
    fields.end()?;
    Ok(request)
}

fn encode_range(range: Option<ByteRange>, head: &mut Vec<u8>) {
    let (kind, a, b) = match range {
        None => (0, 0, 0),
        Some(ByteRange::From(first)) => (1, first, 0),
        Some(ByteRange::Inclusive(first, last)) => (2, first, last),
        Some(ByteRange::Last(count)) => (3, count, 0),
    };
    head.push(kind);
    head.extend_from_slice(&a.to_be_bytes());
    head.extend_from_slice(&b.to_be_bytes());
}

fn parse_range(fields: &mut Fields) -> Result<Option<ByteRange>> {
    let (kind, a, b) = (fields.u8()?, fields.u64()?, fields.u64()?);
    match (kind, b) {
        (0, 0) if a == 0 => Ok(None),
        (1, 0) => Ok(Some(ByteRange::From(a))),
        (2, last) => Ok(Some(ByteRange::Inclusive(a, last))),
        (3, 0) => Ok(Some(ByteRange::Last(a))),
        _ => Err(fields.malformed(format!("range {kind} {a} {b} is not known"))),
    }
}

impl PutHead {
    fn encode(&self, head: &mut Vec<u8>) -> Result<()> {
        let options = &self.options;
        head.extend_from_slice(&options.container.to_be_bytes());
        put_acknowledgement(head, options.durability, options.acks)?;
        head.extend_from_slice(&options.expires_ms.unwrap_or(0).to_be_bytes());
        head.extend_from_slice(&options.content_bytes.unwrap_or(UNKNOWN).to_be_bytes());
        head.extend_from_slice(&options.content_bytes_max.unwrap_or(UNKNOWN).to_be_bytes());
        Name::encode_optional(self.name.as_ref(), head)?;
        head.extend_from_slice(&encode_properties(&options.properties)?);
        Ok(())
    }

    fn parse(fields: &mut Fields) -> Result<Self> {
        let container = fields.u32()?;
        let (durability, acks) = fields.acknowledgement()?;
        let expires_ms = Some(fields.u64()?).filter(|ms| *ms != 0);
        let content_bytes = Some(fields.u64()?).filter(|bytes| *bytes != UNKNOWN);
        let content_bytes_max = Some(fields.u64()?).filter(|bytes| *bytes != UNKNOWN);
        let name = Name::parse_optional(fields)?;
        let properties = parse_properties(fields)?;
        let options = PutOptions {
            container,
            durability,
            acks,
            is_named: false, // not sent: the server sees the name
            expires_ms,
            content_bytes,
            content_bytes_max,
            properties,
        };
        Ok(PutHead { options, name })
    }
}

fn encode_properties(properties: &Properties) -> Result<Vec<u8>> {
    properties.encode().map_err(|e| ProtocolError::malformed("properties", e.to_string()))
}

fn parse_properties(fields: &mut Fields) -> Result<Properties> {
    let stored = fields.rest();
    Properties::parse(&stored).map_err(|e| fields.malformed(e.to_string()))
}

pub(crate) fn encode_text(text: &str, head: &mut Vec<u8>) -> Result<()> {
    let bytes = u16::try_from(text.len())
        .map_err(|_| ProtocolError::malformed("text", "longer than 65535 bytes"))?;
    head.extend_from_slice(&bytes.to_be_bytes());
    head.extend_from_slice(text.as_bytes());
    Ok(())
}

pub(crate) fn parse_text(fields: &mut Fields) -> Result<String> {
    let bytes = fields.u16()?;
    fields.text(bytes.into())
}

impl Message for Response {
    fn encode(&self, request: u64, body_bytes: u32) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        let kind = match self {
            Response::Welcome(proof) => {
                head.extend_from_slice(proof);
                Kind::Welcome
            }
            Response::Failed(failure) => {
                head = failure.encode();
                Kind::Failed
            }
            Response::Done => Kind::Done,
            Response::Deleted(id) => {
                put_optional_id(&mut head, *id);
                Kind::Deleted
            }
            Response::Stored(put) => {
                put_id(&mut head, put.id);
                head.extend_from_slice(&put.content_bytes.to_be_bytes());
                head.extend_from_slice(&put.crc32c.to_be_bytes());
                Kind::Stored
            }
            Response::Found { info, begin, end } => {
                put_id(&mut head, info.id);
                for number in [
                    info.content_bytes,
                    info.created_ms,
                    info.expires_ms.unwrap_or(0),
                    *begin,
                    *end,
                ] {
                    head.extend_from_slice(&number.to_be_bytes());
                }
                head.extend_from_slice(&info.container.to_be_bytes());
                head.extend_from_slice(&encode_properties(&info.properties)?);
                Kind::Found
            }
            Response::Report => Kind::Report,
            Response::Listed => Kind::Listed,
            Response::KeyCreated(key) => {
                key.encode(&mut head)?;
                Kind::KeyCreated
            }
            Response::Keys => Kind::Keys,
        };
        Ok(encode_frame(kind, request, &head, body_bytes))
    }
}

impl Response {
    /// Reads what a server answers.
    pub fn parse(frame: &Frame) -> Result<Self> {
        let mut fields = Fields::new("response", &frame.head);
        let response = match frame.header.kind {
            Kind::Welcome => Response::Welcome(fields.array()?),
            Kind::Failed => return Failure::parse(&frame.head).map(Response::Failed),
            Kind::Done => Response::Done,
            Kind::Deleted => Response::Deleted(fields.optional_id()?),
            Kind::Stored => Response::Stored(PutBlob {
                id: fields.id()?,
                content_bytes: fields.u64()?,
                crc32c: fields.u32()?,
            }),
            Kind::Found => {
                let id = fields.id()?;
                let (content_bytes, created_ms) = (fields.u64()?, fields.u64()?);
                let expires_ms = Some(fields.u64()?).filter(|ms| *ms != 0);
                let (begin, end) = (fields.u64()?, fields.u64()?);
                if begin > end || end > content_bytes {
                    return Err(fields.malformed("the range is not within the blob"));
                }
                let container = fields.u32()?;
                let properties = parse_properties(&mut fields)?;
                let info =
                    BlobInfo { id, content_bytes, created_ms, expires_ms, container, properties };
                Response::Found { info, begin, end }
            }
            Kind::Report => Response::Report,
            Kind::Listed => Response::Listed,
            Kind::KeyCreated => Response::KeyCreated(CreatedKey::parse(&mut fields)?),
            Kind::Keys => Response::Keys,
            other => {
                return Err(ProtocolError::malformed("response", format!("{other:?} is none")));
            }
        };
        fields.end()?;
        Ok(response)
    }
}
