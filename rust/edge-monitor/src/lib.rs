//! GET requests about how an agent or a gateway is: `/status`, `/metrics`, `/healthz`.
//!
//! As much of HTTP/1.1 as `curl` and Prometheus need: a request without a body, an answer, and the end of the connection. One at
//! a time, each for a few seconds at most: it is for monitoring, and costs a site no memory.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// A request line and its headers have so many bytes at most.
const HEAD_BYTES_MAX: u64 = 16 << 10;
/// How long a word of the other side is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Such as `application/json`.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

/// Listens, and answers on a thread of its own for as long as the process lives. `answer` gets a path; none is 404.
///
/// # Errors
/// The address cannot be used.
pub fn serve(
    address: &str,
    answer: impl Fn(&str) -> Option<Answer> + Send + 'static,
) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let bound = listener.local_addr()?;
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            match socket {
                // Who does not wait for the answer does not want it.
                Ok(socket) => drop(talk(&socket, &answer)),
                // Without descriptors: some end.
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    });
    Ok(bound)
}

fn talk(socket: &TcpStream, answer: impl Fn(&str) -> Option<Answer>) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(socket.take(HEAD_BYTES_MAX));
    let mut request = String::new();
    lines.read_line(&mut request)?;
    let mut header = String::new();
    while lines.read_line(&mut header)? > 0 && header.trim_end() != "" {
        header.clear();
    }
    let mut words = request.split_ascii_whitespace();
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let path = target.split('?').next().unwrap_or("");
    match (method, answer(path)) {
        ("GET", Some(Answer { content_type, body })) => {
            write(socket, "200 OK", content_type, &body)
        }
        ("GET", None) => write(
            socket,
            "404 Not Found",
            "text/plain",
            "there is /status, /metrics and /healthz\n",
        ),
        _ => write(socket, "405 Method Not Allowed", "text/plain", "GET is allowed\n"),
    }
}

fn write(mut socket: &TcpStream, status: &str, content_type: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    socket.write_all(head.as_bytes())?;
    socket.write_all(body.as_bytes())
}

/// Asks for a path; the body of the answer.
///
/// # Errors
/// Nobody answers, or not with 200.
pub fn get(address: &str, path: &str) -> io::Result<String> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "a name without an address");
    for one in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&one, PATIENCE) {
            Ok(socket) => return ask(socket, address, path),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn ask(mut socket: TcpStream, address: &str, path: &str) -> io::Result<String> {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.1 200 ") => Ok(body.to_owned()),
        _ => {
            let first = answer.lines().next().unwrap_or("nothing");
            Err(io::Error::other(format!(
                "no agent and no gateway of Afterbay: it answers {first:?}"
            )))
        }
    }
}
