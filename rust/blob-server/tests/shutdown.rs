//! How the server ends: what is under way may end, what does not is cut off, and a second signal waits for nothing.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use afterbay_blob_client::{ClientError, PutHead};
use afterbay_blob_meta::CollectorOptions;
use afterbay_blob_router::PutBlob;
use afterbay_blob_s3::S3Options;
use afterbay_blob_server::{Frontend, NamesAndS3, start};
use afterbay_test_form::{NEVER, PATIENCE, Wait};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::common::{Process, content, get, program, serve_options};
use crate::cycles::s3::{Ask, S3};

const BODY_BYTES: usize = 100_000;

/// A put by S3 whose body comes when it is sent. The server waits for it.
async fn begun_put(s3: &S3, address: &str) -> TcpStream {
    let ask = Ask::new("PUT", "/papers/slow").header("expect", "100-continue");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(s3.head(&ask, BODY_BYTES).as_bytes()).await.unwrap();
    let mut answer = [0; 25];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

/// A process that logs into a file.
struct Server {
    directory: TempDir,
    process: Process,
    s3: S3,
    address: String,
}

impl Server {
    async fn start(drain_timeout: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (data, log) = (directory.path().join("data"), directory.path().join("log"));
        let arguments =
            ["--admin", "none", "--drain-timeout", drain_timeout, "--stall-timeout", "1h"];
        let process = Process::start_logging(&data, &arguments, &log);
        let endpoint = process.s3.clone().unwrap();
        let address = endpoint.strip_prefix("http://").unwrap().to_owned();
        let s3 = S3::new(&endpoint, &process.key);
        assert_eq!(s3.ask(Ask::new("PUT", "/papers")).await.unwrap().status, 200);
        Server { directory, process, s3, address }
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap()
    }

    /// Asks it to stop, and waits until nobody listens any more.
    async fn stop_listening(&self) {
        self.process.terminate();
        for address in [&self.address, &self.process.address] {
            let wait = Wait::until("nobody listens");
            while TcpStream::connect(address).await.is_ok() {
                wait.check(address);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// How it ended.
    async fn ended(&mut self) -> ExitStatus {
        let wait = Wait::until("the server has ended");
        loop {
            if let Some(status) = self.process.child.try_wait().unwrap() {
                return status;
            }
            wait.check(self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// A put by the native protocol whose content ends when `end` is sent. The server waits for it.
    async fn begun_native_put(
        &self,
    ) -> (oneshot::Sender<()>, JoinHandle<Result<PutBlob, ClientError>>) {
        let (end, ended) = oneshot::channel::<()>();
        let (sent, taken) = oneshot::channel();
        let pieces = stream::once(async { Ok(content(1, 3 << 20)) })
            .chain(stream::once(async move {
                // Asked for only once the first piece is on its way.
                let _ = sent.send(());
                let _ = ended.await;
                Ok(Bytes::from_static(b"the end"))
            }))
            .boxed();
        let client = self.process.client();
        let put = tokio::spawn(async move { client.put(PutHead::default(), pieces).await });
        taken.await.unwrap();
        (end, put)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn puts_under_way_are_acknowledged_and_connections_refused() {
    let mut server = Server::start("1h").await;
    let body = content(2, BODY_BYTES);
    let mut put = begun_put(&server.s3, &server.address).await;
    let (end, native) = server.begun_native_put().await;
    server.stop_listening().await;
    put.write_all(&body).await.unwrap();
    let mut answer = [0; 15];
    put.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    end.send(()).unwrap();
    let id = native.await.unwrap().unwrap().id;
    assert_eq!(server.ended().await.code(), Some(0), "{}", server.log());
    let log = server.log();
    assert!(!log.contains("cut off") && log.contains("shut down"), "{log}");

    let again = Process::start(&server.data(), &["--admin", "none"]);
    let s3 = S3::new(again.s3.as_ref().unwrap(), &again.key);
    assert!(s3.ask(Ask::new("GET", "/papers/slow")).await.unwrap().body == body);
    let got = get(&again.client(), id).await;
    assert!(got == [&content(1, 3 << 20)[..], b"the end"].concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_do_not_end_are_cut_off_and_logged() {
    let mut server = Server::start("300ms").await;
    let mut put = begun_put(&server.s3, &server.address).await;
    let (_end, native) = server.begun_native_put().await;
    server.process.terminate();
    assert_eq!(server.ended().await.code(), Some(0), "{}", server.log());
    let mut answer = Vec::new();
    let _ = put.read_to_end(&mut answer).await;
    assert!(answer.is_empty(), "nothing was acknowledged: {answer:?}");
    native.abort();
    let log = server.log();
    assert!(log.contains("S3 requests did not end in time; cut off"), "{log}");
    assert!(log.contains(": requests did not end in time; cut off"), "{log}");
    assert!(log.contains("shut down"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_it_at_once() {
    let mut server = Server::start("1h").await;
    let _put = begun_put(&server.s3, &server.address).await;
    server.stop_listening().await;
    assert!(server.process.child.try_wait().unwrap().is_none(), "it waits for the put");
    server.process.terminate();
    assert_eq!(server.ended().await.code(), Some(1));
    let log = server.log();
    assert!(log.contains("stopped at once by a second signal"), "{log}");
}

/// In a process that goes on, as one that has a server in itself.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_connection_lives_behind_the_shutdown() {
    let directory = tempfile::tempdir().unwrap();
    let s3 = NamesAndS3 {
        listen: Some("127.0.0.1:0".to_owned()),
        options: S3Options {
            stall_timeout: NEVER,
            idle_timeout: NEVER,
            shutdown_timeout: Duration::from_millis(100),
            ..S3Options::default()
        },
        collector: CollectorOptions::default(),
        abort_uploads_after: Duration::MAX,
    };
    let options = serve_options(&directory.path().join("data"));
    let running = start(options, &[Arc::new(s3) as Arc<dyn Frontend>]).await.unwrap();
    let address = running.endpoints[0].1.split("//").last().unwrap().to_owned();
    let client = S3::new(&address, &running.key);
    assert_eq!(client.ask(Ask::new("PUT", "/papers")).await.unwrap().status, 200);
    let mut put = begun_put(&client, &address).await;
    running.shut_down().await;
    let mut answer = [0];
    let closed = tokio::time::timeout(PATIENCE, put.read(&mut answer)).await;
    assert!(matches!(closed.expect("it is closed"), Ok(0) | Err(_)));
}

/// A thread that waits for the standard input does not hold up the end of a command.
#[tokio::test(flavor = "multi_thread")]
async fn a_put_from_a_pipe_ends_with_its_server() {
    let mut server = Server::start("1h").await;
    let mut command = program();
    command.args(["put", "-", "--no-name", "--server", &server.process.address]);
    command.arg("--key-file").arg(server.data().join("root-key"));
    let mut put = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = put.stdin.take().unwrap();
    input.write_all(&content(1, 5 << 20)).unwrap();
    // All of it was taken, so that the next read waits.
    tokio::time::sleep(Duration::from_millis(300)).await;
    server.process.child.kill().unwrap();
    server.process.child.wait().unwrap();
    let began = Instant::now();
    let status = loop {
        if let Some(status) = put.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > PATIENCE {
            put.kill().unwrap();
            panic!("it waits for its input");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(status.code(), Some(1));
    drop(input);
}
