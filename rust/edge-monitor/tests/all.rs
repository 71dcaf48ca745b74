//! Answers, as a client gets them.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::io::{Read, Write};
use std::net::TcpStream;

use afterbay_edge_monitor::{Answer, get, serve};

#[test]
fn a_path_is_answered_and_everything_else_is_refused() {
    let answer = |path: &str| {
        (path == "/status").then(|| Answer { content_type: "text/plain", body: "fine\n".into() })
    };
    let address = serve("127.0.0.1:0", answer).unwrap().to_string();
    assert_eq!(get(&address, "/status").unwrap(), "fine\n");
    assert_eq!(get(&address, "/status?x=1").unwrap(), "fine\n");
    let error = get(&address, "/other").unwrap_err().to_string();
    assert!(error.contains("404"), "{error}");
    let mut socket = TcpStream::connect(&address).unwrap();
    socket.write_all(b"POST /status HTTP/1.1\r\n\r\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 405 "), "{text}");
    // Somebody who says too much is cut off, and the next one is answered.
    let mut socket = TcpStream::connect(&address).unwrap();
    let _ = socket.write_all(&vec![b'x'; 64 << 10]);
    drop(socket);
    assert_eq!(get(&address, "/status").unwrap(), "fine\n");
    // Nobody listens there any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(get(&gone.to_string(), "/status").is_err());
}
