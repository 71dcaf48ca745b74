//! One connection: the handshake, and frames.

use std::time::Instant;

use afterbay_blob_proto::{
    Binding, Frame, FrameReader, Hello, Kind, Message, ProtocolError, Request, Response,
    client_proof, prove, server_proof,
};
use afterbay_tls::{TlsError, client_config, server_name};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, rustls};

use crate::error::{ClientError, Result};
use crate::options::ClientOptions;

/// What a connection runs over. Shared between threads, so that a future which borrows a connection can go to another one.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + Sync {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync> Stream for T {}

/// The receiving side.
pub(crate) type Reader = FrameReader<ReadHalf<Box<dyn Stream>>>;

/// A connection that is authenticated. Requests may be sent before answers were read; answers carry the number of their
/// request and come in any order.
pub struct Connection {
    pub(crate) reader: Reader,
    writer: WriteHalf<Box<dyn Stream>>,
    requests: u64,
    pub(crate) used: Instant,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("requests", &self.requests).finish()
    }
}

impl Connection {
    /// Connects, and proves and has proved who is there.
    pub async fn open(options: &ClientOptions) -> Result<Self> {
        match tokio::time::timeout(options.connect_timeout, connect(options)).await {
            Ok(connected) => connected,
            Err(_) => {
                let limit = options.connect_timeout;
                // Each side waits for the other one's first word.
                let tls = match options.tls {
                    None => {
                        "; if the server speaks TLS, give --tls-roots; or the port is another one's"
                    }
                    Some(_) => "",
                };
                Err(failed(options, &format!("no answer in {limit:?}{tls}")))
            }
        }
    }

    /// Sends a request; its number.
    pub async fn send(&mut self, request: &Request) -> Result<u64> {
        self.requests += 1;
        let frame = request.encode(self.requests, 0)?;
        self.write(&frame).await?;
        Ok(self.requests)
    }

    /// Sends bytes of a frame.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).await.map_err(ProtocolError::Io)?;
        Ok(self.writer.flush().await.map_err(ProtocolError::Io)?)
    }

    /// The next frame without its body, which must be read next.
    pub async fn frame(&mut self) -> Result<Frame> {
        next_frame(&mut self.reader).await
    }

    /// The answer to request `number`, which is the only one under way; an error if it was refused.
    pub async fn answer(&mut self, number: u64) -> Result<Response> {
        let frame = self.frame().await?;
        answer_of(&frame, number)
    }

    /// Both directions, to be used at the same time.
    pub(crate) fn halves(&mut self) -> (&mut Reader, &mut WriteHalf<Box<dyn Stream>>) {
        (&mut self.reader, &mut self.writer)
    }

    /// The body of the frame that was read last.
    pub async fn body(&mut self, count: usize) -> Result<bytes::Bytes> {
        Ok(self.reader.body(count).await?)
    }
}

pub(crate) async fn next_frame(reader: &mut Reader) -> Result<Frame> {
    Ok(reader.frame().await?.ok_or(ProtocolError::Closed)?)
}

/// What a frame answers to request `number`.
pub(crate) fn answer_of(frame: &Frame, number: u64) -> Result<Response> {
    let response = Response::parse(frame)?;
    match response {
        // Request 0 is the connection as a whole.
        Response::Failed(failure) if [0, number].contains(&frame.header.request) => {
            Err(failure.into())
        }
        _ if frame.header.request != number => Err(ClientError::unexpected(&frame.header)),
        other => Ok(other),
    }
}

fn failed(options: &ClientOptions, reason: &dyn std::fmt::Display) -> ClientError {
    ClientError::Connect { address: options.address.clone(), reason: reason.to_string() }
}

async fn connect(options: &ClientOptions) -> Result<Connection> {
    let stream = TcpStream::connect(&options.address).await.map_err(|e| {
        failed(options, &format!("{e}; is the server started ('afterbay blob serve')?"))
    })?;
    // Without, the last part of a request waits for an acknowledgement of the one before.
    stream.set_nodelay(true).map_err(ProtocolError::Io)?;
    let (stream, binding): (Box<dyn Stream>, Binding) = match &options.tls {
        None => (Box::new(stream), [0; 32]),
        Some(roots) => {
            let wrong = |error: TlsError| ClientError::Options(error.to_string());
            let config = client_config(&roots.roots).map_err(wrong)?;
            let name = server_name(&options.address, roots.server_name.as_deref());
            let stream = TlsConnector::from(config)
                .connect(name.map_err(wrong)?, stream)
                .await
                .map_err(|e| failed(options, &in_handshake(&e)))?;
            let binding = stream
                .get_ref()
                .1
                .export_keying_material([0; 32], b"EXPORTER-Channel-Binding", Some(b""))
                .map_err(|e| failed(options, &format!("TLS: {e}")))?;
            (Box::new(stream), binding)
        }
    };
    let (reader, writer) = tokio::io::split(stream);
    let reader = FrameReader::new(reader);
    let mut connection = Connection { reader, writer, requests: 0, used: Instant::now() };
    authenticate(&mut connection, options, &binding).await?;
    Ok(connection)
}

/// Why there is no TLS, with the way out where one is known.
fn in_handshake(error: &std::io::Error) -> String {
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    let of_tls = error.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>());
    let way_out = match of_tls {
        Some(rustls::Error::InvalidMessage(_)) => {
            "; the other side does not speak TLS. If the server has none, leave out --tls-roots; or the port is another program's"
        }
        None if matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe) => {
            "; the server has too many connections, or does not speak TLS 1.3"
        }
        _ => "",
    };
    format!("TLS: {error}{way_out}")
}

async fn authenticate(
    connection: &mut Connection,
    options: &ClientOptions,
    binding: &Binding,
) -> Result<()> {
    let frame = connection.frame().await?;
    if frame.header.kind == Kind::Failed {
        answer_of(&frame, 0)?;
    }
    let hello = Hello::parse(&frame)?;
    let mut nonce = [0; 32];
    SystemRandom::new()
        .fill(&mut nonce)
        .map_err(|_| failed(options, &"the operating system gives no random numbers"))?;
    let (key, secret) = (options.key.clone(), options.secret.expose());
    let proof = client_proof(secret, &key, &hello.nonce, &nonce, binding);
    let number = connection.send(&Request::Authenticate { key, nonce, proof }).await?;
    let expected = server_proof(secret, &options.key, &hello.nonce, &nonce, binding);
    match connection.answer(number).await? {
        Response::Welcome(proof) if prove(&expected, &proof) => Ok(()),
        Response::Welcome(_) => Err(ClientError::WrongServer {
            address: options.address.clone(),
            key: options.key.clone(),
        }),
        other => Err(ClientError::unexpected(&other)),
    }
}
