//! Bodies in chunks of their own (`aws-chunked`), before s3s reads them: it keeps a whole chunk in memory, however long the client made it.
//!
//! ```text
//!   STREAMING-UNSIGNED-…   what arrives becomes chunks of its own: nothing has to be kept
//!   STREAMING-AWS4-…       the signature is that of a whole chunk: one may have `SIGNED_BYTES_MAX`, and a body with a longer one fails
//! ```
//!
//! A line that is none is passed on, with all that follows: s3s says what is wrong with it. A body that ends before its last chunk fails, which
//! would be no error to s3s between two chunks.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use hyper::body::{Body as HttpBody, Frame};

/// Of signed chunks. Clients make them of 64 KiB to 1 MiB.
pub(crate) const SIGNED_BYTES_MAX: u64 = 8 << 20;

/// Of the line before a chunk: its length, and perhaps a signature.
const LINE_BYTES_MAX: usize = 1024;

const LINE_END: &[u8] = b"\r\n";

/// How the chunks of a body are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chunks {
    Unsigned,
    Signed,
}

impl Chunks {
    /// `None` if the body does not come in chunks.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        match headers.get("x-amz-content-sha256")?.to_str().ok()? {
            "STREAMING-UNSIGNED-PAYLOAD-TRAILER" => Some(Chunks::Unsigned),
            other => other.starts_with("STREAMING-").then_some(Chunks::Signed),
        }
    }
}

/// A body whose chunks are short.
#[derive(Debug)]
pub(crate) struct ShortChunks<B> {
    body: B,
    chunks: Chunks,
    place: Place,
    /// Of the line that is read.
    line: BytesMut,
    /// Still to be passed on.
    out: VecDeque<Bytes>,
}

/// Where in the body what comes next belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Line,
    /// Of a chunk, so many bytes are to come.
    Chunk(u64),
    /// Behind a chunk, so many bytes of [`LINE_END`] are to come.
    ChunkEnd(usize),
    /// Behind the last chunk, or nothing that is known here.
    Rest,
}

impl<B> ShortChunks<B> {
    pub(crate) fn new(body: B, chunks: Chunks) -> Self {
        let (line, out) = (BytesMut::new(), VecDeque::new());
        ShortChunks { body, chunks, place: Place::Line, line, out }
    }

    fn is_signed(&self) -> bool {
        self.chunks == Chunks::Signed
    }

    /// What is passed on of what was taken since the last time.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn taken(&mut self) -> Vec<Bytes> {
        self.out.drain(..).collect()
    }

    pub(crate) fn take(&mut self, mut bytes: Bytes) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.place {
                Place::Line => self.line(&mut bytes)?,
                Place::Chunk(left) => self.chunk(left, &mut bytes),
                Place::ChunkEnd(left) => self.chunk_end(left, &mut bytes)?,
                Place::Rest => self.out.push_back(std::mem::take(&mut bytes)),
            }
        }
        Ok(())
    }

    fn line(&mut self, bytes: &mut Bytes) -> io::Result<()> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let piece = bytes.split_to(end.map_or(bytes.len(), |end| end + 1));
        self.line.extend_from_slice(&piece);
        if end.is_none() && self.line.len() <= LINE_BYTES_MAX {
            return Ok(());
        }
        let line = self.line.split().freeze();
        let length = chunk_bytes(&line).filter(|_| line.len() <= LINE_BYTES_MAX);
        if self.is_signed() && length.is_some_and(|length| length > SIGNED_BYTES_MAX) {
            return Err(invalid(format!("a signed chunk has more than {SIGNED_BYTES_MAX} bytes")));
        }
        self.place = match length {
            None | Some(0) => Place::Rest,
            Some(length) => Place::Chunk(length),
        };
        if self.is_signed() || self.place == Place::Rest {
            self.out.push_back(line);
        }
        Ok(())
    }

    fn chunk(&mut self, left: u64, bytes: &mut Bytes) {
        let most = usize::try_from(left).unwrap_or(usize::MAX);
        let piece = bytes.split_to(most.min(bytes.len()));
        let left = left - piece.len() as u64;
        self.place = if left == 0 { Place::ChunkEnd(LINE_END.len()) } else { Place::Chunk(left) };
        if self.is_signed() {
            self.out.push_back(piece);
        } else {
            let line = format!("{:x}\r\n", piece.len());
            self.out.extend([line.into(), piece, Bytes::from_static(LINE_END)]);
        }
    }

    fn chunk_end(&mut self, left: usize, bytes: &mut Bytes) -> io::Result<()> {
        let expected = &LINE_END[LINE_END.len() - left..];
        let piece = bytes.split_to(left.min(bytes.len()));
        if !self.is_signed() && !expected.starts_with(&piece) {
            return Err(invalid("a chunk is longer than it says".to_owned()));
        }
        self.place = match left - piece.len() {
            0 => Place::Line,
            left => Place::ChunkEnd(left),
        };
        if self.is_signed() {
            self.out.push_back(piece);
        }
        Ok(())
    }

    /// The body has ended: an error if that is not behind its last chunk.
    pub(crate) fn end(&self) -> io::Result<()> {
        match self.place {
            Place::Rest => Ok(()),
            _ => Err(invalid("the last chunk is missing".to_owned())),
        }
    }
}

fn chunk_bytes(line: &[u8]) -> Option<u64> {
    let line = std::str::from_utf8(line.strip_suffix(LINE_END)?).ok()?;
    let length = line.split(';').next()?;
    let is_hex = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u64::from_str_radix(length, 16).ok())?
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

impl<B> HttpBody for ShortChunks<B>
where
    B: HttpBody<Data = Bytes, Error = s3s::StdError> + Unpin,
{
    type Data = Bytes;
    type Error = s3s::StdError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, s3s::StdError>>> {
        let this = &mut *self;
        loop {
            if let Some(bytes) = this.out.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => this.take(bytes)?,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    this.end()?;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;
    use http_body_util::{BodyExt, StreamBody};
    use proptest::prelude::*;

    use super::*;

    /// What comes out of a body that comes in pieces, piece by piece.
    fn passed(chunks: Chunks, pieces: Vec<Bytes>) -> Result<Vec<Bytes>, String> {
        let frames = pieces.into_iter().map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
        let body = StreamBody::new(stream::iter(frames)).map_err(s3s::StdError::from);
        let mut body = ShortChunks::new(body, chunks);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut out = Vec::new();
            while let Some(frame) = body.frame().await {
                out.push(frame.map_err(|e| e.to_string())?.into_data().unwrap());
            }
            Ok(out)
        })
    }

    fn split(body: &[u8], piece: usize) -> Vec<Bytes> {
        body.chunks(piece).map(Bytes::copy_from_slice).collect()
    }

    fn chunked(content: &[u8], chunk: usize, extension: &str, trailer: &str) -> Vec<u8> {
        let mut body = Vec::new();
        for piece in content.chunks(chunk) {
            body.extend(format!("{:x}{extension}\r\n", piece.len()).bytes());
            body.extend_from_slice(piece);
            body.extend_from_slice(LINE_END);
        }
        body.extend(format!("0{extension}\r\n{trailer}\r\n").bytes());
        body
    }

    /// The content of a body, its longest chunk, and what is behind the last one.
    fn read(mut body: &[u8]) -> (Vec<u8>, usize, Vec<u8>) {
        let (mut content, mut longest) = (Vec::new(), 0);
        loop {
            let end = body.iter().position(|byte| *byte == b'\n').unwrap();
            let length = chunk_bytes(&body[..=end]).unwrap() as usize;
            body = &body[end + 1..];
            if length == 0 {
                return (content, longest, body.to_vec());
            }
            longest = longest.max(length);
            content.extend_from_slice(&body[..length]);
            assert_eq!(&body[length..length + 2], LINE_END);
            body = &body[length + 2..];
        }
    }

    proptest! {
        #[test]
        fn unsigned_chunks_become_short(
            content in proptest::collection::vec(any::<u8>(), 0..5000),
            chunk in 1..6000usize,
            piece in 1..300usize,
        ) {
            let trailer = "x-amz-checksum-crc32:AAAAAA==\r\n";
            let body = chunked(&content, chunk, "", trailer);
            let out = passed(Chunks::Unsigned, split(&body, piece)).unwrap().concat();
            let (read, longest, rest) = read(&out);
            prop_assert_eq!(read, content);
            prop_assert!(longest <= piece);
            prop_assert_eq!(rest, format!("{trailer}\r\n").into_bytes());
        }

        #[test]
        fn others_stay_as_they_are(
            content in proptest::collection::vec(any::<u8>(), 0..5000),
            chunk in 1..6000usize,
            piece in 1..300usize,
        ) {
            let body = chunked(&content, chunk, ";chunk-signature=0f", "");
            let out = passed(Chunks::Signed, split(&body, piece)).unwrap().concat();
            prop_assert_eq!(&out, &body);
            // Wherever before its last line it ends.
            let last = body.len() - "0;chunk-signature=0f\r\n\r\n".len();
            let cut = split(&body[..piece.min(last)], piece);
            prop_assert!(passed(Chunks::Signed, cut).unwrap_err().contains("last chunk"));
        }

        #[test]
        fn what_is_wrong_is_seen_behind(
            content in proptest::collection::vec(any::<u8>(), 0..500),
            piece in 1..300usize,
        ) {
            // Never a chunk of "x": it is passed on.
            let body = [b"x\n", &content[..]].concat();
            let out = passed(Chunks::Unsigned, split(&body, piece)).unwrap().concat();
            prop_assert_eq!(out, body);
        }
    }

    #[test]
    fn the_end_of_a_chunk_is_looked_at() {
        // Else what follows could be taken for a chunk.
        let error = passed(Chunks::Unsigned, split(b"3\r\nabc2\r\nhi\r\n", 4)).unwrap_err();
        assert!(error.contains("longer than it says"), "{error}");
    }

    #[test]
    fn the_last_chunk_has_to_come() {
        for chunks in [Chunks::Unsigned, Chunks::Signed] {
            for open in
                ["", "3", "3\r\nab", "3\r\nabc", "3\r\nabc\r\n", "3\r\nabc\r\n0", "3\r\nabc\r\n0\r"]
            {
                let error = passed(chunks, split(open.as_bytes(), 4)).unwrap_err();
                assert!(error.contains("the last chunk is missing"), "{open}: {error}");
            }
            assert!(passed(chunks, split(b"3\r\nabc\r\n0\r\n", 4)).is_ok());
        }
    }

    #[test]
    fn a_long_line_is_none_however_it_comes() {
        let body = format!("5;{}\r\nhello\r\n", "x".repeat(LINE_BYTES_MAX));
        for piece in [7, usize::MAX] {
            let out = passed(Chunks::Unsigned, split(body.as_bytes(), piece)).unwrap().concat();
            assert_eq!(out, body.as_bytes());
        }
    }

    #[test]
    fn long_signed_chunks_are_refused_before_they_come() {
        let head = format!("{:x};chunk-signature=0f\r\n", SIGNED_BYTES_MAX + 1);
        let error = passed(Chunks::Signed, vec![head.into()]).unwrap_err();
        assert!(error.contains("more than 8388608 bytes"), "{error}");
        let head = format!("{SIGNED_BYTES_MAX:x};chunk-signature=0f\r\n");
        let error = passed(Chunks::Signed, vec![head.into()]).unwrap_err();
        assert!(error.contains("the last chunk is missing"), "{error}");
    }
}
