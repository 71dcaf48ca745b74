//! One connection.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use afterbay_blob_proto::{
    Binding, Code, Failure, FrameReader, Hello, Message, Nonce, ProtocolError, Request, Response,
    Result, client_proof, parse_request, prove, server_proof,
};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::AsyncRead;
use tokio::sync::{Mutex, Semaphore, watch};
use tokio::task::JoinSet;

use super::listener::Services;
use super::requests::{Answerer, Asker, respond};
use super::stall::Stalling;
use super::upload;
use super::writer::Writer;
use crate::caller::Caller;

/// What is known about the other side before it says anything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    /// What ties proofs to the TLS session.
    pub(crate) binding: Binding,
    /// Nobody else can read what is sent.
    pub(crate) private: bool,
}

/// The key that a client has proved to have.
struct Proved {
    access: String,
    secret: String,
}

/// One connection.
pub(crate) struct Session<R> {
    services: Arc<Services>,
    reader: FrameReader<Stalling<R>>,
    writer: Arc<Mutex<Writer>>,
    peer: Peer,
    /// Becomes true when the server stops.
    stop: watch::Receiver<bool>,
}

impl<R: AsyncRead + Unpin + Send> Session<R> {
    pub(crate) fn new(
        services: Arc<Services>,
        from: R,
        writer: Writer,
        peer: Peer,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let reader = FrameReader::new(Stalling::new(from, services.options.stall_timeout));
        Session { services, reader, writer: Arc::new(Mutex::new(writer)), peer, stop }
    }

    /// Serves the connection to its end.
    pub(crate) async fn run(mut self) {
        let limit = self.services.options.handshake_timeout;
        let proved = match tokio::time::timeout(limit, self.handshake()).await {
            Ok(Ok(Some(proved))) => proved,
            Ok(Ok(None)) => return self.writer.lock().await.close().await,
            Ok(Err(error)) => return tracing::debug!(%error, "no handshake"),
            Err(_) => return tracing::debug!(?limit, "no handshake in time"),
        };
        let mut running = JoinSet::new();
        let gone = self.writer.lock().await.gone();
        let served = tokio::select! {
            served = self.serve(&proved, &mut running) => served,
            () = gone.notified() => Err(ProtocolError::Closed),
        };
        // What was asked for before the end is answered.
        while running.join_next().await.is_some() {}
        let key = &proved.access;
        match served {
            Ok(()) => {}
            Err(ProtocolError::Closed) => tracing::debug!(key, "closed in the middle of a request"),
            Err(error) => {
                tracing::info!(key, %error, "connection closed");
                let failure = Failure::new(Code::Invalid, error.to_string());
                respond(&self.writer, 0, Err(failure)).await;
            }
        }
        self.writer.lock().await.close().await;
    }

    /// Lets both sides prove who they are. `None` if the client could not, and was told.
    async fn handshake(&mut self) -> Result<Option<Proved>> {
        let mut nonce: Nonce = [0; 32];
        SystemRandom::new().fill(&mut nonce).map_err(|_| {
            ProtocolError::Io(std::io::Error::other("no random numbers from the operating system"))
        })?;
        let hello = Hello { nonce, server: self.services.name.clone() };
        self.writer.lock().await.write(&hello.encode(0, 0)?).await?;
        let frame = self.reader.frame().await?.ok_or(ProtocolError::Closed)?;
        let number = frame.header.request;
        let Request::Authenticate { key, nonce: client, proof } = parse_request(&frame)? else {
            let failure = Failure::new(Code::Unauthorized, "authenticate first");
            respond(&self.writer, number, Err(failure)).await;
            return Ok(None);
        };
        let found = self.services.caller(&key);
        let is_known = found.is_some();
        // An unknown key takes as long as a wrong proof.
        let secret = found.map(|(_, secret)| secret).unwrap_or_default();
        let expected = client_proof(&secret, &key, &nonce, &client, &self.peer.binding);
        if !prove(&expected, &proof) || !is_known {
            metrics::counter!("afterbay_blob_unauthorized_total").increment(1);
            tracing::warn!("a client could not prove that it knows a key's secret");
            let text = "the key is not known (any more), or the secret is wrong; the root key is in the server's data directory";
            respond(&self.writer, number, Err(Failure::new(Code::Unauthorized, text))).await;
            return Ok(None);
        }
        let proof = server_proof(&secret, &key, &nonce, &client, &self.peer.binding);
        respond(&self.writer, number, Ok((Response::Welcome(proof), Vec::new()))).await;
        Ok(Some(Proved { access: key, secret }))
    }

    async fn serve(&mut self, proved: &Proved, running: &mut JoinSet<()>) -> Result<()> {
        let free = Arc::new(Semaphore::new(self.services.options.requests_max));
        loop {
            let Ok(permit) = free.clone().acquire_owned().await else {
                return Ok(());
            };
            while running.try_join_next().is_some() {}
            let Some(frame) = self.next_request().await? else {
                return Ok(());
            };
            let number = frame.header.request;
            let request = parse_request(&frame)?;
            let asker = Asker { caller: self.caller(proved), private: self.peer.private };
            let answerer = Answerer::new(self.services.clone(), self.writer.clone(), number, asker);
            if let Request::Put(head) = request {
                let (to, content) = upload::content();
                running.spawn(async move {
                    answerer.put(head, content).await;
                    drop(permit);
                });
                upload::receive(&mut self.reader, number, &to).await?;
            } else {
                let answered = async move {
                    answerer.answer(request).await;
                    drop(permit);
                };
                begin(running, Box::pin(answered)).await;
            }
        }
    }

    /// Who asks, at each request anew: a key that was deleted opens nothing any more.
    fn caller(&self, proved: &Proved) -> std::result::Result<Caller, Failure> {
        let found = self.services.caller(&proved.access);
        let current = found.filter(|(_, secret)| *secret == proved.secret);
        current.map(|(caller, _)| caller).ok_or_else(|| {
            metrics::counter!("afterbay_blob_unauthorized_total").increment(1);
            Failure::new(Code::Unauthorized, "the key was deleted")
        })
    }

    /// `None` if the client ends the connection, or does nothing for long, or the server stops.
    async fn next_request(&mut self) -> Result<Option<afterbay_blob_proto::Frame>> {
        let options = &self.services.options;
        let idle = tokio::time::sleep(options.idle_timeout);
        self.reader.get_mut().set_limit(options.idle_timeout * 2);
        let frame = tokio::select! {
            biased;
            _ = self.stop.wait_for(|stop| *stop) => return Ok(None),
            frame = self.reader.frame() => frame?,
            () = idle => return Ok(None),
        };
        self.reader.get_mut().set_limit(options.stall_timeout);
        Ok(frame)
    }
}

/// Goes as far as it can at once, and on in a task of its own. What is in memory and fits the socket needs none: no other thread is woken
/// for it.
async fn begin(
    running: &mut JoinSet<()>,
    mut answer: Pin<Box<impl Future<Output = ()> + Send + 'static>>,
) {
    let first = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
    if first.is_pending() {
        running.spawn(answer);
    }
}
