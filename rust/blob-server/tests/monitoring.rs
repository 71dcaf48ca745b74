//! The address for monitoring: what it says, and what clients, which anybody can be, can make the server hold.

use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_client::PutHead;
use afterbay_blob_router::source;
use afterbay_blob_server::node::{Datanode, Volume};
use afterbay_blob_server::{AccessKey, Opened, Running, start, start_over};
use afterbay_test_form::{NEVER, PATIENCE};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::common::{SimVolume, client, content, serve_options};

const ASK: &str = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

async fn served(stall_timeout: Duration) -> (TempDir, Running, String) {
    let directory = tempfile::tempdir().unwrap();
    let mut options = serve_options(&directory.path().join("data"));
    options.admin = Some("127.0.0.1:0".to_owned());
    options.server.stall_timeout = stall_timeout;
    options.server.drain_timeout = NEVER;
    let running = start(options, &[]).await.unwrap();
    let address = running.admin.unwrap().to_string();
    (directory, running, address)
}

/// The answer, up to the end of the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // What came before the connection was reset counts.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("it is closed");
    String::from_utf8(answer).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_for_one_request() {
    let (_directory, running, address) = served(NEVER).await;
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(format!("{ASK}{ASK}").as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("ok\n"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_says_nothing_or_too_little_is_cut_off() {
    let (_directory, running, address) = served(Duration::from_millis(300)).await;
    for said in ["", "GET /metrics HTTP/1.1\r\nHost: "] {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        assert_eq!(rest(&mut stream).await, "", "{said}");
    }
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_have_a_limit() {
    let (_directory, running, address) = served(NEVER).await;
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let head = format!("GET /metrics HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(20 << 10));
    let _ = stream.write_all(head.as_bytes()).await;
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_have_a_limit() {
    let (_directory, running, address) = served(NEVER).await;
    let mut silent = Vec::new();
    for _ in 0..32 {
        silent.push(TcpStream::connect(&address).await.unwrap());
    }
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(ASK.as_bytes()).await.unwrap();
    let early = timeout(Duration::from_millis(500), stream.readable()).await;
    assert!(early.is_err(), "it waits for a free connection");
    silent.pop();
    assert!(rest(&mut stream).await.ends_with("ok\n"));
    // Those that ask for nothing do not hold up the end either.
    timeout(PATIENCE, running.shut_down()).await.expect("it ends");
}

async fn healthz(running: &Running) -> String {
    let mut stream = TcpStream::connect(running.admin.unwrap()).await.unwrap();
    stream.write_all(ASK.as_bytes()).await.unwrap();
    rest(&mut stream).await
}

/// Each partition takes writes, and none has room for a chunk.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_room_is_not_healthy() {
    let mut options = serve_options("nowhere".as_ref());
    options.admin = Some("127.0.0.1:0".to_owned());
    options.node.partition_bytes = Some(16 << 20);
    options.node.segment_bytes = Some(5 << 20);
    options.node.reserve_bytes = 0;
    let volume = SimVolume::new(40 << 20, Duration::ZERO);
    let node = Datanode::open(vec![volume as Arc<dyn Volume>], &options.node).unwrap();
    let key = AccessKey { access: "AB".to_owned(), secret: "s".repeat(40) };
    let opened = Opened { node, key, read_only: false };
    let running = start_over(opened, "nowhere".into(), options, &[]).await.unwrap();
    assert!(healthz(&running).await.ends_with("ok\n"));
    let client = client(&running);
    for number in 0.. {
        let put = client.put(PutHead::default(), source(content(number, 4_000_000))).await;
        if let Err(refused) = put {
            assert!(refused.to_string().contains("out of space"), "{refused}");
            break;
        }
    }
    let answer = healthz(&running).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("no partition takes new blobs"), "{answer}");
    running.shut_down().await;
}
