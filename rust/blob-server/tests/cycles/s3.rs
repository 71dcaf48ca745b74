//! A small client of S3: one connection that is made again when it breaks, signatures of version 4 in headers.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use afterbay_blob_server::AccessKey;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use ring::{digest, hmac};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

const REGION: &str = "us-east-1";

/// The connection broke off, or the server did not say whether it has done it.
#[derive(Debug)]
pub struct Unanswered;

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub etag: String,
    pub body: Bytes,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// What is between `<tag>` and `</tag>`, each time.
    pub fn all(&self, tag: &str) -> Vec<String> {
        all_between(&self.text(), &format!("<{tag}>"), &format!("</{tag}>"))
    }

    pub fn first(&self, tag: &str) -> Option<String> {
        self.all(tag).into_iter().next()
    }
}

fn all_between(text: &str, begin: &str, end: &str) -> Vec<String> {
    let rest = text.split(begin).skip(1);
    rest.filter_map(|part| Some(part.split_once(end)?.0.replace("&quot;", "\""))).collect()
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    pub method: &'static str,
    /// Of letters, digits, `/` and `-`.
    pub path: String,
    /// Sorted, of the same letters.
    pub query: Vec<(&'static str, String)>,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

impl Ask {
    pub fn new(method: &'static str, path: impl Into<String>) -> Self {
        Ask { method, path: path.into(), ..Ask::default() }
    }

    pub fn query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    pub fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }
}

/// A client with one connection.
#[derive(Debug)]
pub struct S3 {
    host: String,
    key: AccessKey,
    connection: Mutex<Option<Connection>>,
}

#[derive(Debug)]
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: JoinHandle<hyper::Result<()>>,
}

impl Connection {
    /// A request that is sent in the moment in which the connection ends is kept by hyper, and its sender waits for ever
    /// (hyper issue 4122): the end of the connection is an answer, too.
    async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Unanswered> {
        let Connection { sender, driver } = self;
        let answer = async move {
            sender.ready().await?;
            sender.send_request(request).await
        };
        tokio::select! {
            biased;
            answer = answer => answer.map_err(|_| Unanswered),
            _ = driver => Err(Unanswered),
        }
    }
}

impl S3 {
    pub fn new(endpoint: &str, key: &AccessKey) -> Self {
        let host = endpoint.split("//").last().unwrap_or_default().to_owned();
        S3 { host, key: key.clone(), connection: Mutex::new(None) }
    }

    /// Asks, and returns the answer if the server gave one and knows whether it did what was asked: any status but 5xx.
    pub async fn ask(&self, ask: Ask) -> Result<Answer, Unanswered> {
        self.ask_once(ask).await.filter_known()
    }

    /// Asks, and returns the answer whatever it is.
    pub async fn ask_once(&self, ask: Ask) -> Result<Answer, Unanswered> {
        let mut connection = self.connection.lock().await;
        let answer = self.try_ask(&mut connection, &ask).await;
        if answer.is_err() {
            *connection = None;
        }
        answer
    }

    async fn try_ask(
        &self,
        connection: &mut Option<Connection>,
        ask: &Ask,
    ) -> Result<Answer, Unanswered> {
        if connection.as_mut().is_none_or(|open| open.sender.is_closed()) {
            *connection = Some(self.connect().await?);
        }
        let connection = connection.as_mut().ok_or(Unanswered)?;
        let answer = connection.send(self.signed(ask)).await?;
        let status = answer.status().as_u16();
        let etag = answer.headers().get("etag").and_then(|tag| tag.to_str().ok());
        let etag = etag.unwrap_or_default().to_owned();
        let body = answer.into_body().collect().await.map_err(|_| Unanswered)?.to_bytes();
        Ok(Answer { status, etag, body })
    }

    /// The head of a request whose body the caller sends, of so many bytes.
    pub fn head(&self, ask: &Ask, body_bytes: usize) -> String {
        let request = self.signed(ask);
        let mut head = format!("{} {} HTTP/1.1\r\n", request.method(), request.uri());
        for (name, value) in request.headers() {
            write!(head, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
        }
        format!("{head}content-length: {body_bytes}\r\n\r\n")
    }

    async fn connect(&self) -> Result<Connection, Unanswered> {
        let stream = TcpStream::connect(&self.host).await.map_err(|_| Unanswered)?;
        stream.set_nodelay(true).map_err(|_| Unanswered)?;
        let (sender, driver) = handshake(TokioIo::new(stream)).await.map_err(|_| Unanswered)?;
        Ok(Connection { sender, driver: tokio::spawn(driver) })
    }

    fn signed(&self, ask: &Ask) -> Request<Full<Bytes>> {
        let time = time();
        let day = &time[..8];
        let query: Vec<_> =
            ask.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let query = query.join("&");
        let mut signed = vec![
            ("host", self.host.clone()),
            ("x-amz-content-sha256", "UNSIGNED-PAYLOAD".to_owned()),
            ("x-amz-date", time.clone()),
        ];
        signed.extend(ask.headers.iter().cloned());
        signed.sort();
        let names: Vec<_> = signed.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let mut canonical = format!("{}\n{}\n{query}\n", ask.method, ask.path);
        for (name, value) in &signed {
            writeln!(canonical, "{name}:{value}").unwrap();
        }
        write!(canonical, "\n{names}\nUNSIGNED-PAYLOAD").unwrap();
        let scope = format!("{day}/{REGION}/s3/aws4_request");
        let hash = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hash}");
        let mut key = format!("AWS4{}", self.key.secret).into_bytes();
        for part in [day, REGION, "s3", "aws4_request"] {
            key = mac(&key, part);
        }
        let signature = hex(&mac(&key, &to_sign));
        let separator = if query.is_empty() { "" } else { "?" };
        let mut request = Request::builder()
            .method(ask.method)
            .uri(format!("{}{separator}{query}", ask.path))
            .header(
                "authorization",
                format!(
                    "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
                    self.key.access
                ),
            );
        for (name, value) in signed {
            request = request.header(name, value);
        }
        request.body(Full::new(ask.body.clone())).unwrap()
    }
}

trait FilterKnown {
    fn filter_known(self) -> Self;
}

impl FilterKnown for Result<Answer, Unanswered> {
    fn filter_known(self) -> Self {
        match self {
            Ok(answer) if answer.status >= 500 => Err(Unanswered),
            other => other,
        }
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Now, as `20130524T000000Z`.
fn time() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (mut year, mut day) = (1970, seconds / 86_400);
    let leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{:02}T{hour:02}{minute:02}{second:02}Z", day + 1)
}
