//! What requests do, and their answers.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use afterbay_blob_node::ScrubCommand;
use afterbay_blob_proto::{
    BucketSettings, Code, Failure, Message, NewKey, PutHead, Request, Response, Target, encode_keys,
};
use afterbay_blob_router::{
    BlobId, BlobService, ByteRange, ChunkPart, Error, GetBlob, Include, PutBlob, SourceStream,
};
use futures_util::StreamExt;
use tokio::sync::Mutex;

use super::listener::Services;
use super::writer::Writer;
use crate::caller::Caller;

/// A chunk that is no longer is sent from memory, with the answer's head in one write.
const FROM_MEMORY_BYTES: u32 = 32 << 10;

const BY_ID: &str = "a blob by its id";
const KEYS: &str = "to manage keys";

type Answer = std::result::Result<(Response, Vec<u8>), Failure>;

/// Whose request it is.
pub(crate) struct Asker {
    /// Or why it is refused.
    pub(crate) caller: Result<Caller, Failure>,
    /// Nobody else can read the answer.
    pub(crate) private: bool,
}

/// Answers one request.
pub(crate) struct Answerer {
    services: Arc<Services>,
    writer: Arc<Mutex<Writer>>,
    request: u64,
    asker: Asker,
    began: Instant,
}

/// Sends an answer. A connection that is gone is noticed where requests are read.
pub(crate) async fn respond(writer: &Mutex<Writer>, request: u64, answer: Answer) {
    let (response, body) = answer.unwrap_or_else(|failure| (Response::Failed(failure), Vec::new()));
    if let Err(error) = writer.lock().await.respond(request, &response, &body).await {
        tracing::debug!(%error, "an answer could not be sent");
    }
}

impl Answerer {
    pub(crate) fn new(
        services: Arc<Services>,
        writer: Arc<Mutex<Writer>>,
        request: u64,
        asker: Asker,
    ) -> Self {
        Answerer { services, writer, request, asker, began: Instant::now() }
    }

    fn caller(&self) -> Result<&Caller, Failure> {
        self.asker.caller.as_ref().map_err(Clone::clone)
    }

    /// For what users' keys must not do.
    fn require_root(&self, what: &str) -> Result<(), Failure> {
        self.caller()?.require_root(what)
    }

    /// Stores content as it comes.
    pub(crate) async fn put(self, head: PutHead, content: SourceStream) {
        let stored = self.try_put(head, content).await;
        let answer = stored.map(|put| (Response::Stored(put), Vec::new()));
        self.finish("put", answer).await;
    }

    async fn try_put(&self, head: PutHead, content: SourceStream) -> Result<PutBlob, Failure> {
        let PutHead { options, name } = head;
        match name {
            None => {
                self.require_root("a blob without a name")?;
                self.services.router.put(content, options).await.map_err(failure)
            }
            Some(name) => self.services.names()?.put(self.caller()?, &name, content, options).await,
        }
    }

    /// Does anything else.
    pub(crate) async fn answer(self, request: Request) {
        let (operation, answer) = match request {
            Request::Get { target, range } => return self.get(target, range).await,
            Request::Stat(target) => ("stat", self.stat(target).await),
            Request::Delete(target) => ("delete", self.delete(target).await),
            Request::Undelete(id) => ("undelete", self.undelete(id).await),
            Request::UpdateTtl { target, expires_ms } => {
                ("ttl", self.update_ttl(target, expires_ms).await)
            }
            Request::Status => ("status", self.status().await),
            Request::Ping => ("ping", self.caller().map(|_| done())),
            Request::List(list) => ("list", self.list(list).await),
            Request::CreateKey(key) => ("create-key", self.create_key(key).await),
            Request::DeleteKey(access) => ("delete-key", self.delete_key(&access).await),
            Request::ListKeys => ("list-keys", self.list_keys()),
            Request::SetBucket(settings) => ("set-bucket", self.set_bucket(settings).await),
            Request::DeleteBucket(bucket) => ("delete-bucket", self.delete_bucket(&bucket).await),
            Request::ScrubStart { bytes_per_s, partition } => {
                let partition = partition.map(|partition| partition.0);
                let command = ScrubCommand::Start { bytes_per_s, partition };
                ("scrub-start", self.scrub(command).await)
            }
            Request::ScrubStatus => ("scrub-status", self.scrub(ScrubCommand::Status).await),
            Request::ScrubStop => ("scrub-stop", self.scrub(ScrubCommand::Stop).await),
            Request::Authenticate { .. } | Request::Put(_) => {
                let text = "not at this point of a connection";
                ("other", Err(Failure::new(Code::Invalid, text)))
            }
        };
        self.finish(operation, answer).await;
    }

    async fn finish(&self, operation: &'static str, answer: Answer) {
        let result = match &answer {
            Ok(_) => "ok",
            Err(failure) => result_of(failure),
        };
        self.count(operation, result);
        if let Err(failure) = &answer
            && matches!(failure.code, Code::Damaged | Code::Unavailable | Code::OutOfSpace)
        {
            tracing::warn!(operation, error = failure.text, "refused");
        }
        respond(&self.writer, self.request, answer).await;
    }

    fn count(&self, operation: &'static str, result: &'static str) {
        metrics::counter!("afterbay_blob_requests_total", "operation" => operation, "result" => result)
            .increment(1);
        metrics::histogram!("afterbay_blob_request_seconds", "operation" => operation)
            .record(self.began.elapsed().as_secs_f64());
    }

    async fn stat(&self, target: Target) -> Answer {
        let info = match target {
            Target::Id(id) => {
                self.require_root(BY_ID)?;
                self.services.router.stat(id).await.map_err(failure)?
            }
            Target::Name(name) => self.services.names()?.stat(self.caller()?, &name).await?,
        };
        let end = info.content_bytes;
        Ok((Response::Found { info, begin: 0, end }, Vec::new()))
    }

    async fn delete(&self, target: Target) -> Answer {
        let deleted = match target {
            Target::Id(id) => {
                self.require_root(BY_ID)?;
                self.services.router.delete(id).await.map_err(failure)?;
                Some(id)
            }
            Target::Name(name) => self.services.names()?.delete(self.caller()?, &name).await?,
        };
        Ok((Response::Deleted(deleted), Vec::new()))
    }

    async fn undelete(&self, id: BlobId) -> Answer {
        self.require_root(BY_ID)?;
        self.services.router.undelete(id).await.map(|()| done()).map_err(failure)
    }

    async fn update_ttl(&self, target: Target, expires_ms: Option<u64>) -> Answer {
        match target {
            Target::Id(id) => {
                self.require_root(BY_ID)?;
                self.services.router.update_ttl(id, expires_ms).await.map_err(failure)?;
                Ok(done())
            }
            Target::Name(_) => {
                let text =
                    "the time to live of a name cannot be changed; that of a blob can, by its id";
                Err(Failure::new(Code::Unsupported, text))
            }
        }
    }

    async fn list(&self, request: afterbay_blob_proto::ListRequest) -> Answer {
        let listing = self.services.names()?.list(self.caller()?, request).await?;
        let body = listing.encode().map_err(|e| Failure::new(Code::Unavailable, e.to_string()))?;
        Ok((Response::Listed, body))
    }

    async fn set_bucket(&self, settings: BucketSettings) -> Answer {
        self.services.names()?.set_bucket(self.caller()?, settings).await?;
        Ok(done())
    }

    async fn delete_bucket(&self, bucket: &str) -> Answer {
        self.services.names()?.delete_bucket(self.caller()?, bucket).await?;
        Ok(done())
    }

    async fn create_key(&self, key: NewKey) -> Answer {
        self.require_root(KEYS)?;
        if !self.asker.private {
            let text = "the secret could be read on its way: use TLS (serve --tls-cert), or do this on the server's machine";
            return Err(Failure::new(Code::Unsupported, text));
        }
        let created = self.services.user_keys()?.create_key(key).await?;
        Ok((Response::KeyCreated(created), Vec::new()))
    }

    async fn delete_key(&self, access: &str) -> Answer {
        self.require_root(KEYS)?;
        self.services.user_keys()?.delete_key(access).await?;
        Ok(done())
    }

    fn list_keys(&self) -> Answer {
        self.require_root(KEYS)?;
        let keys = encode_keys(&self.services.user_keys()?.keys());
        Ok((Response::Keys, keys.map_err(|e| Failure::new(Code::Unavailable, e.to_string()))?))
    }

    async fn status(&self) -> Answer {
        self.require_root("status")?;
        let report = self.services.report().await.map_err(failure)?;
        Ok((Response::Report, report))
    }

    async fn scrub(&self, command: ScrubCommand) -> Answer {
        self.require_root("scrub")?;
        let report = self.services.node.scrub(command).await.map_err(failure)?;
        let report = serde_json::to_vec(&report);
        Ok((Response::Report, report.map_err(|e| Failure::new(Code::Unavailable, e.to_string()))?))
    }

    async fn get(self, target: Target, range: Option<ByteRange>) {
        let result = match self.try_get(target, range).await {
            Ok(()) => "ok",
            Err(Stopped::Refused(failure)) => {
                let result = result_of(&failure);
                if matches!(failure.code, Code::Damaged | Code::Unavailable) {
                    tracing::warn!(operation = "get", error = failure.text, "refused");
                }
                respond(&self.writer, self.request, Err(failure)).await;
                result
            }
            Err(Stopped::Connection(error)) => {
                tracing::debug!(%error, "content could not be sent");
                "broken"
            }
        };
        self.count("get", result);
    }

    async fn try_get(&self, target: Target, range: Option<ByteRange>) -> Result<(), Stopped> {
        let id = match &target {
            Target::Id(id) => {
                self.require_root(BY_ID)?;
                Some(*id)
            }
            Target::Name(name) => self.services.names()?.blob(self.caller()?, name).await?,
        };
        let from_files = self.services.node.has_files() && self.writer.lock().await.sends_files();
        match (id, target) {
            (Some(id), _) if from_files => self.send_chunks(id, range).await,
            (Some(id), _) => {
                self.send_stream(self.services.router.get(id, range).await.map_err(failure)?).await
            }
            (None, Target::Name(name)) => {
                let got = self.services.names()?.get(self.caller()?, &name, range).await?;
                self.send_stream(got).await
            }
            (None, Target::Id(id)) => Err(failure(Error::NotFound(id)).into()),
        }
    }

    /// From the files to the socket.
    async fn send_chunks(&self, id: BlobId, range: Option<ByteRange>) -> Result<(), Stopped> {
        let blob = self.services.router.open(id).await.map_err(failure)?;
        let range = blob.resolve(range).map_err(failure)?;
        let parts = blob.parts(&range);
        let info = blob.info().clone();
        let found = Response::Found { info, begin: range.start, end: range.end };
        let mut before = found.encode(self.request, 0).map_err(io::Error::other)?;
        // Opened before the answer begins: most errors are known then.
        let mut next = self.open_part(parts.first()).await?;
        let mut writer = self.writer.lock().await;
        if next.is_none() {
            writer.data(self.request, before, &bytes::Bytes::new(), true).await?;
            return Ok(());
        }
        for (i, part) in parts.iter().enumerate() {
            let Some(chunk) = next.take() else {
                return Err(damaged(part).into());
            };
            let last = i + 1 == parts.len();
            let before = std::mem::take(&mut before);
            if chunk.body_bytes() <= FROM_MEMORY_BYTES {
                let content = chunk.read(part.range.clone()).await.map_err(failure)?;
                writer.data(self.request, before, &content, last).await?;
            } else {
                // The next chunk is opened while this one is sent.
                let send = writer.chunk(self.request, before, &chunk, &part.range, last);
                let open = self.open_part(parts.get(i + 1));
                let (sent, opened) = tokio::join!(send, open);
                sent?.ok_or_else(|| damaged(part))?;
                next = opened?;
                count_sent(u64::from(part.range.end - part.range.start));
                continue;
            }
            count_sent(u64::from(part.range.end - part.range.start));
            next = self.open_part(parts.get(i + 1)).await?;
        }
        Ok(())
    }

    async fn open_part(
        &self,
        part: Option<&ChunkPart>,
    ) -> Result<Option<Arc<dyn afterbay_blob_router::Chunk>>, Failure> {
        let Some(part) = part.filter(|part| !part.range.is_empty()) else {
            return Ok(None);
        };
        if let Some(chunk) = &part.chunk {
            return Ok(Some(chunk.clone()));
        }
        match self.services.router.store().open(part.id, Include::All).await {
            Ok(chunk) if chunk.body_bytes() >= part.range.end => Ok(Some(chunk)),
            Ok(_) | Err(Error::NotFound(_) | Error::Lost(_)) => Err(damaged(part)),
            Err(error) => Err(failure(error)),
        }
    }

    /// Through the router, verified.
    async fn send_stream(&self, mut blob: GetBlob) -> Result<(), Stopped> {
        let (begin, end) = (blob.range.start, blob.range.end);
        let found = Response::Found { info: blob.info, begin, end };
        let mut before = found.encode(self.request, 0).map_err(io::Error::other)?;
        let mut left = end - begin;
        let mut writer = self.writer.lock().await;
        while left > 0 {
            let Some(piece) = blob.content.next().await else {
                let text = "the content ended early";
                return Err(Failure::new(Code::Unavailable, text).into());
            };
            let piece = piece.map_err(failure)?;
            left = left.saturating_sub(piece.len() as u64);
            writer.data(self.request, std::mem::take(&mut before), &piece, left == 0).await?;
            count_sent(piece.len() as u64);
        }
        if begin == end {
            writer.data(self.request, before, &bytes::Bytes::new(), true).await?;
        }
        Ok(())
    }
}

/// Why content is not sent to its end.
enum Stopped {
    /// The client can be told: at most whole frames were sent.
    Refused(Failure),
    /// It cannot.
    Connection(io::Error),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Stopped::Refused(failure)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Stopped::Connection(error)
    }
}

fn count_sent(bytes: u64) {
    metrics::counter!("afterbay_blob_sent_bytes_total").increment(bytes);
}

fn done() -> (Response, Vec<u8>) {
    (Response::Done, Vec::new())
}

fn failure(error: Error) -> Failure {
    Failure::from(&error)
}

fn damaged(part: &ChunkPart) -> Failure {
    let text = format!("chunk {} is not what its blob lists; restore the blob", part.id);
    Failure { code: Code::Damaged, id: Some(part.id), number: 0, text }
}

fn result_of(failure: &Failure) -> &'static str {
    match failure.code {
        Code::NotFound | Code::NoSuchName | Code::Deleted | Code::Expired | Code::NotDeleted => {
            "absent"
        }
        Code::OutOfSpace | Code::ReadOnly => "out-of-space",
        Code::Damaged => "damaged",
        Code::Unavailable | Code::NotHere | Code::ShuttingDown | Code::TooMany => "unavailable",
        _ => "refused",
    }
}
