//! A client of S3: HTTP/1.1 on a connection that is kept, and presigned URLs.

use std::sync::Arc;

use bytes::buf::Chain;
use bytes::{Buf, Bytes};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HOST;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::acknowledged::Stored;
use crate::content::{Check, Object};
use crate::error::{Error, Result, in_system};
use crate::sign::Signer;

const CONFLICT: &str = "BucketAlreadyOwnedByYou";

/// Of an answer that says what is wrong.
const SHOWN_MAX: usize = 300;

/// Two parts that are sent together, not copied.
type Body = Full<Chain<Bytes, Bytes>>;

pub(crate) struct S3 {
    sender: SendRequest<Body>,
    connection: JoinHandle<hyper::Result<()>>,
    host: String,
    bucket: String,
    signer: Arc<Signer>,
}

impl S3 {
    pub(crate) async fn connect(host: &str, bucket: &str, signer: Arc<Signer>) -> Result<Self> {
        let stream = TcpStream::connect(host).await.map_err(in_system("connect"))?;
        // Without, small requests wait for the acknowledgement of what was sent before.
        stream.set_nodelay(true).map_err(in_system("set TCP_NODELAY"))?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        Ok(S3 { sender, connection, host: host.to_owned(), bucket: bucket.to_owned(), signer })
    }

    /// Makes the bucket, if it is not there.
    pub(crate) async fn make_bucket(&mut self) -> Result<()> {
        let path = format!("/{}", self.bucket);
        let answer = self.send("PUT", &path, Bytes::new().chain(Bytes::new())).await?;
        match succeeded("PUT of the bucket", answer).await {
            Ok(mut answer) => drain(&mut answer).await,
            Err(Error::Status { body, .. }) if body.contains(CONFLICT) => Ok(()),
            Err(other) => Err(other),
        }
    }

    pub(crate) async fn put(&mut self, index: u64, object: Object) -> Result<Stored> {
        let body = object.head.chain(object.tail);
        let answer = self.send("PUT", &self.path(index), body).await?;
        drain(&mut succeeded("PUT", answer).await?).await?;
        Ok(Stored { index, id: None })
    }

    pub(crate) async fn get(&mut self, stored: Stored, check: &mut Check) -> Result<()> {
        let nothing = Bytes::new().chain(Bytes::new());
        let answer = self.send("GET", &self.path(stored.index), nothing).await?;
        let mut answer = succeeded("GET", answer).await?;
        while let Some(frame) = answer.body_mut().frame().await {
            if let Ok(piece) = frame?.into_data() {
                check.take(&piece);
            }
        }
        Ok(())
    }

    fn path(&self, index: u64) -> String {
        format!("/{}/objects/{index:012}", self.bucket)
    }

    async fn send(
        &mut self,
        method: &'static str,
        path: &str,
        body: Chain<Bytes, Bytes>,
    ) -> Result<Response<Incoming>> {
        let request = Request::builder()
            .method(method)
            .uri(self.signer.path(method, path))
            .header(HOST, &self.host)
            .body(Full::new(body))
            .map_err(|e| Error::Usage(e.to_string()))?;
        let S3 { sender, connection, .. } = self;
        let answer = async move {
            sender.ready().await?;
            sender.send_request(request).await
        };
        // hyper keeps a request that is sent in the moment in which the connection ends, and its sender would wait for ever
        // (hyper issue 4122).
        tokio::select! {
            biased;
            answer = answer => Ok(answer?),
            ended = connection => {
                ended??;
                Err(Error::Closed { address: self.host.clone() })
            }
        }
    }
}

async fn succeeded(
    method: &'static str,
    mut answer: Response<Incoming>,
) -> Result<Response<Incoming>> {
    if answer.status() == StatusCode::OK {
        return Ok(answer);
    }
    let status = answer.status().as_u16();
    let body = answer.body_mut().collect().await?.to_bytes();
    let body = String::from_utf8_lossy(&body).chars().take(SHOWN_MAX).collect();
    Err(Error::Status { method, status, body })
}

/// So that the connection can be used again.
async fn drain(answer: &mut Response<Incoming>) -> Result<()> {
    while let Some(frame) = answer.body_mut().frame().await {
        frame?;
    }
    Ok(())
}
