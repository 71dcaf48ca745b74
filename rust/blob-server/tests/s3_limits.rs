//! What clients of S3 can make the server hold: memory, connections, time.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use afterbay_blob_client::{Client, ClientOptions, Name, PutHead, TlsRoots};
use afterbay_blob_meta::CollectorOptions;
use afterbay_blob_router::source;
use afterbay_blob_s3::S3Options;
use afterbay_blob_server::{Frontend, NamesAndS3, Running, start};
use afterbay_test_form::{NEVER, PATIENCE, Wait};
use md5::Digest;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

use crate::common::{Process, client_options, content, serve_options};
use crate::cycles::s3::{Ask, S3};

const STALL: Duration = Duration::from_secs(1);
const OBJECT_BYTES: usize = 24 << 20;
const MEMORY_BYTES: u64 = 16 << 20;

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A server in this process with a short patience.
struct Server {
    running: Running,
    address: String,
    metrics: String,
    roots: Option<RootCertStore>,
    directory: TempDir,
}

impl Server {
    async fn start(tls: bool) -> Self {
        Self::start_with(tls, S3Options { stall_timeout: STALL, ..S3Options::default() }).await
    }

    /// For what has nothing to do with clients that stop: however slow we are ourselves, we are not cut off.
    async fn patient() -> Self {
        Self::start_with(false, S3Options { stall_timeout: NEVER, ..S3Options::default() }).await
    }

    async fn start_with(tls: bool, limits: S3Options) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut options = serve_options(&directory.path().join("data"));
        options.admin = Some("127.0.0.1:0".to_owned());
        options.router.memory_bytes = MEMORY_BYTES;
        // Objects are put by the native protocol.
        options.server.handshake_timeout = NEVER;
        options.server.stall_timeout = NEVER;
        let mut roots = None;
        if tls {
            let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
            let files = (directory.path().join("c.pem"), directory.path().join("k.pem"));
            std::fs::write(&files.0, made.cert.pem()).unwrap();
            std::fs::write(&files.1, made.signing_key.serialize_pem()).unwrap();
            options.tls = Some(files);
            let mut store = RootCertStore::empty();
            store.add(made.cert.der().clone()).unwrap();
            roots = Some(store);
        }
        let s3 = NamesAndS3 {
            listen: Some("127.0.0.1:0".to_owned()),
            options: limits,
            collector: CollectorOptions::default(),
            abort_uploads_after: Duration::MAX,
        };
        let running = start(options, &[Arc::new(s3) as Arc<dyn Frontend>]).await.unwrap();
        let address = running.endpoints[0].1.split("//").last().unwrap().to_owned();
        let metrics = running.admin.unwrap().to_string();
        Server { running, address, metrics, roots, directory }
    }

    fn s3(&self) -> S3 {
        S3::new(&self.address, &self.running.key)
    }

    async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        let stream = TcpStream::connect(&self.address).await?;
        let Some(roots) = &self.roots else { return Ok(Box::new(stream)) };
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots.clone())
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        Ok(Box::new(TlsConnector::from(Arc::new(config)).connect(name, stream).await?))
    }

    /// A connection of a client that has proved its key: the next request on it may come late.
    async fn known(&self) -> Box<dyn Stream> {
        known(&self.s3(), || self.connect()).await.0
    }

    /// A request and its answer, with the head; the connection is closed.
    async fn ask(&self, ask: Ask) -> Vec<u8> {
        self.try_ask(ask).await.unwrap()
    }

    async fn try_ask(&self, ask: Ask) -> io::Result<Vec<u8>> {
        let ask = ask.header("connection", "close");
        let mut stream = self.connect().await?;
        let head = self.s3().head(&ask, ask.body.len());
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&ask.body).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok(answer)
    }

    /// Asks until the answer is right: on a machine that has other work, we may be slower ourselves than the server waits.
    async fn ask_until(&self, ask: Ask, is_right: impl Fn(&[u8]) -> bool) {
        let wait = Wait::until("the answer is right");
        loop {
            let answer = self.try_ask(ask.clone()).await;
            if answer.as_ref().is_ok_and(|answer| is_right(answer)) {
                return;
            }
            let found = answer.map(|answer| {
                let begin = answer.get(..1000).unwrap_or(&answer);
                String::from_utf8_lossy(begin).into_owned()
            });
            wait.check((ask.path.clone(), found));
        }
    }

    /// By the native protocol, which has the time of a busy machine.
    async fn put_object(&self) {
        let mut stream = self.known().await;
        let make = self.s3().head(&Ask::new("PUT", "/papers"), 0);
        stream.write_all(make.as_bytes()).await.unwrap();
        let made = next_head(&mut *stream).await;
        assert!(made.starts_with("http/1.1 200"), "{made}");
        let name = Name { bucket: "papers".to_owned(), key: "large".to_owned() };
        let head = PutHead { name: Some(name), ..PutHead::default() };
        let tls = self.roots.as_ref().map(|_| TlsRoots {
            roots: self.directory.path().join("c.pem"),
            server_name: Some("localhost".to_owned()),
        });
        let options = client_options(self.running.address, &self.running.key);
        let client = Client::new(ClientOptions { tls, ..options });
        client.put(head, source(content(1, OBJECT_BYTES))).await.unwrap();
    }

    /// How many were cut off for a reason.
    async fn cut_off(&self, reason: &str) -> u64 {
        let mut stream = TcpStream::connect(&self.metrics).await.unwrap();
        let request = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let series = format!("afterbay_blob_s3_cut_off_total{{reason=\"{reason}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&series)?.parse().ok()).unwrap_or(0)
    }
}

/// A connection on which a request was answered, and when that was sent. One that waits for its first request, or for TLS, is closed
/// by a server with a short patience if we are slow ourselves; another one is opened then.
async fn known(
    s3: &S3,
    connect: impl AsyncFn() -> io::Result<Box<dyn Stream>>,
) -> (Box<dyn Stream>, Instant) {
    let wait = Wait::until("a request is answered");
    loop {
        let asked = async {
            let mut stream = connect().await?;
            let began = Instant::now();
            stream.write_all(s3.head(&Ask::new("GET", "/"), 0).as_bytes()).await?;
            let head = try_next_head(&mut *stream).await?;
            Ok::<_, io::Error>((stream, began, head))
        };
        match tokio::time::timeout(PATIENCE, asked).await.expect("it ends") {
            Ok((stream, began, head)) => {
                assert!(head.starts_with("http/1.1 200"), "{head}");
                return (stream, began);
            }
            Err(error) => wait.check(error),
        }
    }
}

async fn clients_that_take_nothing(tls: bool) {
    let server = Server::start(tls).await;
    server.put_object().await;
    let before = server.cut_off("takes-nothing").await;
    let mut stalled = Vec::new();
    for _ in 0..8 {
        stalled.push(server.known().await);
    }
    for stream in &mut stalled {
        let get = server.s3().head(&Ask::new("GET", "/papers/large"), 0);
        stream.write_all(get.as_bytes()).await.unwrap();
    }
    let free = || server.running.services.router.memory_free_bytes();
    let wait = Wait::until("they hold memory");
    // Who looks too late finds all of them cut off already.
    while free() == MEMORY_BYTES && server.cut_off("takes-nothing").await < before + 8 {
        wait.check(free());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let wait = Wait::until("they are cut off, and what they held is free again");
    while free() < MEMORY_BYTES || server.cut_off("takes-nothing").await < before + 8 {
        wait.check((free(), server.cut_off("takes-nothing").await - before));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Others get all of it.
    let content = content(1, OBJECT_BYTES);
    server.ask_until(Ask::new("GET", "/papers/large"), |got| got.ends_with(&content)).await;
    drop(stalled);
    server.running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_take_nothing_are_cut_off_and_hold_no_memory() {
    clients_that_take_nothing(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_by_tls() {
    clients_that_take_nothing(true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_client_gets_all_of_it() {
    let server = Server::start(false).await;
    server.put_object().await;
    let content = content(1, OBJECT_BYTES);
    let wait = Wait::until("all of it came");
    loop {
        let began = Instant::now();
        let got = get_slowly(&server).await;
        assert!(began.elapsed() > STALL, "it was slower than what is waited for");
        match got {
            Ok(answer) if answer.ends_with(&content) => break,
            // On a machine that has other work, one of the pauses may be too long.
            got => wait.check(got.map(|answer| answer.len())),
        }
    }
    server.running.shut_down().await;
}

async fn get_slowly(server: &Server) -> io::Result<Vec<u8>> {
    let mut stream = server.known().await;
    let ask = Ask::new("GET", "/papers/large").header("connection", "close");
    stream.write_all(server.s3().head(&ask, 0).as_bytes()).await?;
    let (mut answer, mut piece) = (Vec::new(), vec![0; 1 << 20]);
    loop {
        tokio::time::sleep(Duration::from_millis(60)).await;
        match stream.read(&mut piece).await? {
            0 => return Ok(answer),
            count => answer.extend_from_slice(&piece[..count]),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_stop_are_answered() {
    let server = Server::start(false).await;
    server.put_object().await;
    for ask in [
        Ask::new("PUT", "/papers/stops"),
        Ask::new("POST", "/papers").query("delete", ""),
        Ask::new("PUT", "/papers").query("tagging", ""),
    ] {
        let before = server.cut_off("sends-nothing").await;
        let mut stream = server.known().await;
        let head = server.s3().head(&ask, 100_000);
        stream.write_all(&[head.as_bytes(), &[b'<'; 500]].concat()).await.unwrap();
        let mut answer = String::new();
        let read = stream.read_to_string(&mut answer);
        tokio::time::timeout(PATIENCE, read).await.expect("it ends").unwrap();
        assert!(answer.starts_with("HTTP/1.1 400"), "{ask:?}: {answer}");
        assert!(answer.contains("<Code>RequestTimeout</Code>"), "{ask:?}: {answer}");
        assert!(server.cut_off("sends-nothing").await > before);
    }
    server.running.shut_down().await;
}

/// s3s would take all of it into memory before it asks who it is.
#[tokio::test(flavor = "multi_thread")]
async fn forms_are_refused_before_their_bodies() {
    let server = Server::patient().await;
    let mut stream = server.connect().await.unwrap();
    let head = format!(
        "POST /papers HTTP/1.1\r\nhost: {}\r\ncontent-type: multipart/form-data; boundary=x\r\n\
         content-length: 1000000000\r\nconnection: close\r\n\r\n",
        server.address
    );
    let form = "--x\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nk\r\n\
        --x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n";
    stream.write_all(format!("{head}{form}").as_bytes()).await.unwrap();
    let mut answer = vec![0; 12];
    let read = stream.read_exact(&mut answer);
    tokio::time::timeout(PATIENCE, read).await.expect("it is answered").unwrap();
    assert_eq!(answer, b"HTTP/1.1 501");
    server.running.shut_down().await;
}

/// The status and the code in the XML of an answer.
fn refused(answer: &[u8]) -> (u16, String) {
    let answer = String::from_utf8_lossy(answer);
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let code = answer.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    (status, code.map(|(code, _)| code.to_owned()).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_long_is_refused_by_the_codes_of_s3() {
    const PUT_MAX: usize = 100_000;
    const XML_MAX: usize = 20_000;
    let limits = S3Options {
        put_bytes_max: PUT_MAX as u64,
        xml_bytes_max: XML_MAX,
        stall_timeout: NEVER,
        ..S3Options::default()
    };
    let head_max = limits.header_bytes_max;
    let server = Server::start_with(false, limits).await;
    assert_eq!(refused(&server.ask(Ask::new("PUT", "/papers")).await), (200, String::new()));
    let begun = server.ask(Ask::new("POST", "/papers/parts").query("uploads", "")).await;
    let begun = String::from_utf8(begun).unwrap();
    let (_, rest) = begun.split_once("<UploadId>").unwrap();
    let upload = rest.split_once("</UploadId>").unwrap().0.to_owned();

    let put = |key: &str| Ask::new("PUT", format!("/papers/{key}"));
    let key = |length: usize| put(&"k".repeat(length));
    let body = |length: usize| put("body").body(vec![b'x'; length]);
    // The names of metadata count, and are as long as "a".
    let metadata = |length: usize| put("meta").header("x-amz-meta-a", "v".repeat(length - 1));
    let part = |number: u32, length: usize| {
        let ask = put("parts").query("partNumber", number).query("uploadId", &upload);
        ask.body(vec![b'x'; length])
    };
    let delete = |length: usize| {
        let (begin, end) = ("<Delete><Object><Key>k</Key></Object>", "</Delete>");
        let room = length - begin.len() - end.len();
        let body = format!("{begin}{}{end}", " ".repeat(room));
        let md5 = base64_simd::STANDARD.encode_to_string(md5::Md5::digest(&body));
        Ask::new("POST", "/papers").query("delete", "").header("content-md5", md5).body(body)
    };
    let head = |length: usize| put("head").header("x-other", "h".repeat(length));
    for (what, most, more, code) in [
        ("body", body(PUT_MAX), body(PUT_MAX + 1), "EntityTooLarge"),
        ("part", part(1, PUT_MAX), part(1, PUT_MAX + 1), "EntityTooLarge"),
        ("part number", part(10_000, 1), part(10_001, 1), "InvalidArgument"),
        ("first part", part(1, 1), part(0, 1), "InvalidArgument"),
        ("key", key(1024), key(1025), "KeyTooLongError"),
        ("metadata", metadata(2048), metadata(2049), "MetadataTooLarge"),
        ("XML", delete(XML_MAX), delete(XML_MAX + 1), "MaxMessageLengthExceeded"),
        ("head", head(head_max - 1000), head(head_max + 1), "RequestHeaderSectionTooLarge"),
    ] {
        let taken = server.ask(most).await;
        assert_eq!(refused(&taken).0, 200, "{what}: {}", String::from_utf8_lossy(&taken));
        assert_eq!(refused(&server.ask(more).await), (400, code.to_owned()), "{what}");
    }
    // Nobody reads that much to be polite.
    let much = server.ask(head(2 * head_max)).await;
    assert!(much.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&much));
    server.running.shut_down().await;
}

/// The head of an answer, whose body is read as well if it has one.
async fn try_next_head(stream: &mut dyn Stream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await?;
    Ok(head)
}

async fn next_head(stream: &mut dyn Stream) -> String {
    try_next_head(stream).await.expect("the connection is open")
}

/// Else the next request of a client comes into a connection that is being closed.
#[tokio::test(flavor = "multi_thread")]
async fn behind_a_body_that_nobody_read_a_connection_goes_on_or_says_that_it_does_not() {
    let server = Server::patient().await;
    let put = || Ask::new("PUT", "/missing/key");
    let not_sent = || put().header("expect", "100-continue");
    for (ask, said, sent, goes_on) in [
        (put(), 0, 0, true),
        (put(), 5, 5, true),
        (put(), 200_000, 200_000, true),
        (put(), 5 << 30, 1000, false),
        (not_sent(), 5, 0, false),
    ] {
        let mut stream = server.connect().await.unwrap();
        let request = [server.s3().head(&ask, said).into_bytes(), vec![b'x'; sent]].concat();
        stream.write_all(&request).await.unwrap();
        let head = tokio::time::timeout(PATIENCE, next_head(&mut *stream));
        let head = head.await.expect("it is answered");
        assert!(head.starts_with("http/1.1 404"), "{head}");
        let closes = head.contains("\r\nconnection: close\r\n");
        assert_eq!(closes, !goes_on, "{ask:?}, {sent} of {said} bytes: {head}");
        if goes_on {
            let list = server.s3().head(&Ask::new("GET", "/"), 0);
            stream.write_all(list.as_bytes()).await.unwrap();
            assert!(next_head(&mut *stream).await.starts_with("http/1.1 200"));
        }
    }
    server.running.shut_down().await;
}

/// The limit of S3, of a body that does not have to come for it.
#[tokio::test(flavor = "multi_thread")]
async fn five_gib_are_put_at_once_at_most() {
    let server = Server::patient().await;
    assert_eq!(refused(&server.ask(Ask::new("PUT", "/papers")).await).0, 200);
    for (length, begins) in
        [(5 << 30, "HTTP/1.1 100 Continue"), ((5 << 30) + 1, "HTTP/1.1 400 Bad Request")]
    {
        let ask = Ask::new("PUT", "/papers/large").header("expect", "100-continue");
        let mut stream = server.connect().await.unwrap();
        stream.write_all(server.s3().head(&ask, length).as_bytes()).await.unwrap();
        let mut answer = vec![0; begins.len()];
        let read = stream.read_exact(&mut answer);
        tokio::time::timeout(PATIENCE, read).await.expect("it is answered").unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), begins);
    }
    server.running.shut_down().await;
}

/// Waits until a request is answered, which needs a free connection.
async fn answered(s3: &S3) {
    let wait = Wait::until("a connection is free and a request answered");
    loop {
        let answer = tokio::time::timeout(PATIENCE, s3.ask(Ask::new("GET", "/"))).await;
        match answer.expect("a connection becomes free") {
            Ok(answer) => return assert_eq!(answer.status, 200),
            // We were slower ourselves than the server waits for the head.
            Err(unanswered) => wait.check(unanswered),
        }
    }
}

/// The options of the program hold for S3 too.
#[tokio::test(flavor = "multi_thread")]
async fn connections_of_nobody_do_not_hold_all_for_long() {
    let directory = tempfile::tempdir().unwrap();
    let stall = format!("{}ms", STALL.as_millis());
    let arguments = ["--admin", "none", "--unknown-connections", "2", "--idle-timeout", "1h"];
    let arguments = [&arguments[..], &["--stall-timeout", &stall]].concat();
    let process = Process::start(&directory.path().join("data"), &arguments);
    let endpoint = process.s3.clone().unwrap();
    let address = endpoint.strip_prefix("http://").unwrap().to_owned();
    let connect = || async { TcpStream::connect(&address).await.unwrap() };
    // Without a key.
    let refused = || async {
        let mut stream = TcpStream::connect(&address).await?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await?;
        assert_eq!(&answer, b"HTTP/1.1 403");
        Ok::<_, io::Error>(stream)
    };

    let silent = [connect().await, connect().await];
    answered(&S3::new(&endpoint, &process.key)).await;
    drop(silent);

    let (mut strangers, wait) = (Vec::new(), Wait::until("two are refused"));
    while strangers.len() < 2 {
        match tokio::time::timeout(PATIENCE, refused()).await.expect("it ends") {
            Ok(stream) => strangers.push(stream),
            // We were slower ourselves than the server waits for the head.
            Err(error) => wait.check(error),
        }
    }
    answered(&S3::new(&endpoint, &process.key)).await;
    drop(strangers);

    // Byte by byte, without an end.
    let slow: Vec<_> = [connect().await, connect().await]
        .map(|mut stream| {
            tokio::spawn(async move {
                stream.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
                while stream.write_all(b"x").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            })
        })
        .into();
    answered(&S3::new(&endpoint, &process.key)).await;
    for stream in slow {
        stream.await.unwrap();
    }

    // Who has a key may think for longer.
    let s3 = S3::new(&endpoint, &process.key);
    let boxed = async || Ok(Box::new(TcpStream::connect(&address).await?) as Box<dyn Stream>);
    let (mut known, _) = known(&s3, boxed).await;
    tokio::time::sleep(4 * STALL).await;
    known.write_all(s3.head(&Ask::new("GET", "/"), 0).as_bytes()).await.unwrap();
    let again = tokio::time::timeout(PATIENCE, next_head(&mut *known)).await;
    assert!(again.expect("it is answered").starts_with("http/1.1 200"));
}

/// However many there are: who has a key is answered, and stays connected.
#[tokio::test(flavor = "multi_thread")]
async fn connections_of_nobody_take_seats_from_each_other_only() {
    let limits = S3Options {
        unknown_connections_max: 4,
        connections_max: 2,
        stall_timeout: NEVER,
        ..S3Options::default()
    };
    let server = Server::start_with(false, limits).await;
    let list = server.s3().head(&Ask::new("GET", "/"), 0);
    let mut known = server.connect().await.unwrap();
    known.write_all(list.as_bytes()).await.unwrap();
    assert!(next_head(&mut *known).await.starts_with("http/1.1 200"));
    let before = server.cut_off("crowded").await;
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(server.connect().await.unwrap());
        if silent.len() % 10 == 0 {
            server
                .ask_until(Ask::new("GET", "/"), |answer| answer.starts_with(b"HTTP/1.1 200"))
                .await;
        }
    }
    let wait = Wait::until("all but some were cut off");
    while server.cut_off("crowded").await < before + 36 {
        wait.check(server.cut_off("crowded").await - before);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut answer = Vec::new();
    let read = silent[0].read_to_end(&mut answer);
    let _ = tokio::time::timeout(PATIENCE, read).await.expect("it was cut off");
    assert!(answer.is_empty());
    server.running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_connections_than_there_are_seats_are_refused_with_a_reason() {
    let limits = S3Options {
        connections_max: 2,
        idle_timeout: NEVER,
        stall_timeout: NEVER,
        ..S3Options::default()
    };
    let server = Server::start_with(false, limits).await;
    let list = server.s3().head(&Ask::new("GET", "/"), 0);
    let mut seated = [server.connect().await.unwrap(), server.connect().await.unwrap()];
    for stream in &mut seated {
        stream.write_all(list.as_bytes()).await.unwrap();
        assert!(next_head(&mut **stream).await.starts_with("http/1.1 200"));
    }
    let mut third = server.connect().await.unwrap();
    third.write_all(list.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = third.read_to_end(&mut answer);
    tokio::time::timeout(PATIENCE, read).await.expect("the connection ends").unwrap();
    assert_eq!(refused(&answer), (503, "SlowDown".to_owned()));
    assert!(String::from_utf8_lossy(&answer).contains("--connections"));
    // The others go on; when one leaves, its seat is free.
    let [mut stays, leaves] = seated;
    drop(leaves);
    server.ask_until(Ask::new("GET", "/"), |answer| answer.starts_with(b"HTTP/1.1 200")).await;
    stays.write_all(list.as_bytes()).await.unwrap();
    assert!(next_head(&mut *stays).await.starts_with("http/1.1 200"));
    server.running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_without_requests_are_closed() {
    let directory = tempfile::tempdir().unwrap();
    let arguments = ["--admin", "none", "--stall-timeout", "1h", "--idle-timeout", "900ms"];
    let process = Process::start(&directory.path().join("data"), &arguments);
    let s3 = S3::new(process.s3.as_ref().unwrap(), &process.key);
    let address = process.s3.as_ref().unwrap().split("//").last().unwrap();
    let connect = async || Ok(Box::new(TcpStream::connect(address).await?) as Box<dyn Stream>);
    let (mut stream, began) = known(&s3, connect).await;
    let mut more = String::new();
    let read = stream.read_to_string(&mut more);
    tokio::time::timeout(PATIENCE, read).await.expect("it is closed").unwrap();
    assert_eq!(more, "");
    assert!(began.elapsed() >= Duration::from_millis(800), "{:?}", began.elapsed());
}
