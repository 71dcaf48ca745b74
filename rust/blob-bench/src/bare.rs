//! A bare server: what hyper takes for the same requests, without names, signatures or disks. It answers a GET from
//! memory, and computes the MD5 of what is PUT, as S3's ETags want it, on threads of its own.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use clap::Args;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::ETAG;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use md5::{Digest, Md5};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::error::{Error, Result, in_system};
use crate::sign::hex;

#[derive(Debug, Args)]
pub(crate) struct BareArguments {
    /// Where to listen; port 0: any that is free. The first line of standard output says which.
    #[arg(long, default_value = "127.0.0.1:0")]
    address: SocketAddr,

    /// Objects beyond so many bytes in all are answered as stored, and forgotten.
    #[arg(long, default_value_t = 1 << 30)]
    memory_bytes: usize,
}

#[derive(Debug, Default)]
struct Objects {
    by_path: HashMap<String, Bytes>,
    bytes: usize,
}

#[derive(Debug)]
struct Memory {
    bytes_max: usize,
    objects: Mutex<Objects>,
}

/// Serves until it is killed.
pub(crate) fn run(arguments: &BareArguments) -> Result<()> {
    Runtime::new().map_err(in_system("start threads"))?.block_on(listen(arguments))
}

async fn listen(arguments: &BareArguments) -> Result<()> {
    let listener = TcpListener::bind(arguments.address).await.map_err(in_system("listen"))?;
    let address = listener.local_addr().map_err(in_system("listen"))?;
    println!("listening {address}");
    std::io::stdout().flush().map_err(in_system("say where"))?;
    serve(listener, arguments.memory_bytes).await
}

async fn serve(listener: TcpListener, bytes_max: usize) -> Result<()> {
    let memory = Arc::new(Memory { bytes_max, objects: Mutex::default() });
    loop {
        let (stream, _) = listener.accept().await.map_err(in_system("accept"))?;
        stream.set_nodelay(true).map_err(in_system("set TCP_NODELAY"))?;
        let memory = memory.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| answer(memory.clone(), request));
            // A client that goes away is no news.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    memory: Arc<Memory>,
    request: Request<Incoming>,
) -> std::result::Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let response = match *request.method() {
        Method::PUT => put(&memory, path, request.into_body()).await,
        Method::GET => Ok(get(&memory, &path)),
        _ => Ok(status(StatusCode::METHOD_NOT_ALLOWED)),
    };
    Ok(response.unwrap_or_else(|_| status(StatusCode::BAD_REQUEST)))
}

fn get(memory: &Memory, path: &str) -> Response<Full<Bytes>> {
    match memory.lock().by_path.get(path) {
        Some(body) => Response::new(Full::new(body.clone())),
        None => status(StatusCode::NOT_FOUND),
    }
}

async fn put(memory: &Memory, path: String, mut body: Incoming) -> Result<Response<Full<Bytes>>> {
    let mut parts = Vec::new();
    while let Some(frame) = body.frame().await {
        parts.extend(frame?.into_data().ok());
    }
    let bytes = parts.iter().map(Bytes::len).sum();
    let (parts, etag) = tokio::task::spawn_blocking(move || {
        let etag = format!("\"{}\"", md5_of(&parts));
        (parts, etag)
    })
    .await?;
    memory.keep(path, &parts, bytes);
    let mut response = status(StatusCode::OK);
    let etag = etag.parse().map_err(|_| Error::Usage("no ETag".to_owned()))?;
    response.headers_mut().insert(ETAG, etag);
    Ok(response)
}

fn md5_of(parts: &[Bytes]) -> String {
    let mut md5 = Md5::new();
    parts.iter().for_each(|part| md5.update(part));
    hex(&md5.finalize())
}

fn status(code: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = code;
    response
}

impl Memory {
    fn lock(&self) -> std::sync::MutexGuard<'_, Objects> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, path: String, parts: &[Bytes], bytes: usize) {
        let fits = |objects: &Objects| objects.bytes + bytes <= self.bytes_max;
        if !fits(&self.lock()) {
            return;
        }
        // Copied outside the lock, and in one piece, as a GET sends it.
        let body = Bytes::from(parts.concat());
        let mut objects = self.lock();
        if fits(&objects) {
            objects.bytes += bytes;
            objects.by_path.insert(path, body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn etags_are_md5() {
        let parts = [Bytes::from_static(b"a"), Bytes::from_static(b"bc")];
        assert_eq!(md5_of(&parts), "900150983cd24fb0d6963f7d28e17f72");
    }

    #[test]
    fn memory_is_bounded() {
        let memory = Memory { bytes_max: 3, objects: Mutex::default() };
        for path in ["/a", "/b"] {
            memory.keep(path.to_owned(), &[Bytes::from_static(b"12")], 2);
        }
        assert_eq!(get(&memory, "/a").status(), StatusCode::OK);
        assert_eq!(get(&memory, "/b").status(), StatusCode::NOT_FOUND);
    }
}
