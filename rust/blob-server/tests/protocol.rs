//! The native protocol, from the client's side and from that of clients who do not keep to it.

use std::time::Duration;

use afterbay_blob_client::{
    Client, ClientError, ClientOptions, Code, Connection, PutHead, Secret, Target, TlsRoots,
};
use afterbay_blob_proto::{DataHead, FrameReader, Kind, Message, Request, Response, encode_data};
use afterbay_blob_router::{
    BlobId, BlobService, ByteRange, Properties, PropertyClass, PutOptions, SourceStream, source,
};
use afterbay_blob_server::{Report, Running, ServeOptions, start};
use afterbay_test_form::{NEVER, PATIENCE, Wait};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::common::{client, client_options, content, get, put, serve_options};

async fn served(change: impl FnOnce(&mut ServeOptions)) -> (TempDir, Running) {
    let directory = tempfile::tempdir().unwrap();
    let mut options = serve_options(&directory.path().join("data"));
    change(&mut options);
    let running = start(options, &[]).await.unwrap();
    (directory, running)
}

fn pieces(content: &Bytes, size: usize) -> SourceStream {
    let pieces: Vec<_> = content.chunks(size).map(|p| Ok(Bytes::copy_from_slice(p))).collect();
    stream::iter(pieces).boxed()
}

async fn everything(client: &Client) {
    let lengths = [0, 1, 65_536, 65_537, 1 << 20, (4 << 20) + 1, 9 << 20];
    for (number, length) in lengths.into_iter().enumerate() {
        let content = content(number as u64, length);
        let head = PutHead {
            options: PutOptions {
                properties: Properties::default().with(PropertyClass::User, "a", "b"),
                container: 3,
                ..PutOptions::default()
            },
            name: None,
        };
        let stored = client.put(head, pieces(&content, 300_000)).await.unwrap();
        assert_eq!(stored.content_bytes, length as u64);
        assert_eq!(get(client, stored.id).await, content, "{length}");
        let info = client.stat(stored.id).await.unwrap();
        assert_eq!((info.content_bytes, info.container), (length as u64, 3));
        assert_eq!(info.properties.get(PropertyClass::User, "a").unwrap(), "b");
        for (first, last) in [(0, 0), (65_535, 65_536), (length / 2, length), (4 << 20, 5 << 20)] {
            let range = ByteRange::Inclusive(first as u64, last as u64);
            let got = client.get(stored.id, Some(range)).await;
            if first >= length {
                assert_eq!(got.unwrap_err().code(), Some(Code::Range));
                continue;
            }
            let got = got.unwrap();
            assert_eq!((got.begin, got.info.content_bytes), (first as u64, length as u64));
            let end = length.min(last + 1);
            assert_eq!(got.content.read_all().await.unwrap(), content[first..end], "{length}");
        }
        client.delete(stored.id).await.unwrap();
        assert_eq!(client.stat(stored.id).await.unwrap_err().code(), Some(Code::Deleted));
        client.undelete(stored.id).await.unwrap();
        assert_eq!(get(client, stored.id).await, content);
        client.update_ttl(stored.id, Some(1)).await.unwrap();
        let expired = client.get(stored.id, None).await.unwrap_err();
        assert_eq!(expired.code(), Some(Code::Expired), "{expired}");
    }
    client.ping().await.unwrap();
    let report: Report = serde_json::from_slice(&client.status().await.unwrap()).unwrap();
    assert_eq!(report.node.disks.len(), 1);
    assert!(report.requests["put"] >= 7, "{report:?}");
    let partition = &report.node.disks[0].partitions[0].id;
    let partition = afterbay_blob_router::PartitionId(u64::from_str_radix(partition, 16).unwrap());
    let unknown = BlobId::random(partition);
    assert_eq!(client.get(unknown, None).await.unwrap_err().code(), Some(Code::NotFound));
    let elsewhere = BlobId::random(afterbay_blob_router::PartitionId(1));
    assert_eq!(client.get(elsewhere, None).await.unwrap_err().code(), Some(Code::NotHere));
    let name = Target::Name(afterbay_blob_client::Name {
        bucket: "papers".to_owned(),
        key: "report".to_owned(),
    });
    let no_names = client.get(name, None).await.unwrap_err();
    assert_eq!(no_names.code(), Some(Code::Unsupported));
    assert!(no_names.to_string().contains("--no-name"), "{no_names}");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_on_plaintext() {
    let (_directory, running) = served(|_| ()).await;
    everything(&client(&running)).await;
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_on_tls_and_not_with_others() {
    let directory = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (directory.path().join("c.pem"), directory.path().join("k.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = Some((certificate.clone(), key));
    let (_directory, running) = served(|options| options.tls = tls).await;
    let options = |server_name: &str| ClientOptions {
        tls: Some(TlsRoots {
            roots: certificate.clone(),
            server_name: Some(server_name.to_owned()),
        }),
        ..client_options(running.address, &running.key)
    };
    everything(&Client::new(options("localhost"))).await;
    let other = Client::new(options("example.org")).ping().await.unwrap_err().to_string();
    assert!(other.contains("TLS"), "{other}");
    // Who speaks plaintext gets no answer, and no hint of a secret.
    let mut plain = client_options(running.address, &running.key);
    plain.connect_timeout = Duration::from_millis(300);
    assert!(Client::new(plain).ping().await.is_err());
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_knows_the_secret() {
    let (_directory, running) = served(|options| options.server.handshake_timeout = NEVER).await;
    let good = client_options(running.address, &running.key);
    for (key, secret) in [
        (good.key.clone(), "wrong"),
        ("nobody".to_owned(), good.secret.expose()),
        ("nobody".to_owned(), ""),
    ] {
        let options = ClientOptions { key, secret: Secret::new(secret), ..good.clone() };
        let refused = Client::new(options).ping().await.unwrap_err();
        assert_eq!(refused.code(), Some(Code::Unauthorized), "{refused}");
        assert!(!refused.to_string().contains(good.secret.expose()));
    }
    // A request without a handshake.
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(&Request::Status.encode(1, 0).unwrap()).await.unwrap();
    let mut reader = FrameReader::new(stream);
    assert_eq!(reader.frame().await.unwrap().unwrap().header.kind, Kind::Hello);
    let refused = Response::parse(&reader.frame().await.unwrap().unwrap()).unwrap();
    assert!(matches!(refused, Response::Failed(f) if f.code == Code::Unauthorized));
    assert!(reader.frame().await.unwrap().is_none(), "and it is closed");
    assert!(Client::new(good).ping().await.is_ok());
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_connection_are_carried_out_together() {
    let (_directory, running) = served(|_| ()).await;
    let options = client_options(running.address, &running.key);
    let mut connection = Connection::open(&options).await.unwrap();
    let mut sent = std::collections::HashMap::new();
    for number in 0..20u64 {
        let content = content(number, 2000);
        let request = connection.send(&Request::Put(PutHead::default())).await.unwrap();
        let frame = encode_data(request, &DataHead::of(&content, true), 2000);
        connection.write(&[&frame, &content[..]].concat()).await.unwrap();
        sent.insert(request, content);
    }
    let ping = connection.send(&Request::Ping).await.unwrap();
    let mut stored = Vec::new();
    let mut pinged = false;
    while stored.len() < 20 || !pinged {
        let frame = connection.frame().await.unwrap();
        match Response::parse(&frame).unwrap() {
            Response::Stored(put) => {
                stored.push((put.id, sent.remove(&frame.header.request).unwrap()))
            }
            Response::Done => pinged = frame.header.request == ping,
            other => panic!("{other:?}"),
        }
    }
    let client = client(&running);
    for (id, content) in stored {
        assert_eq!(get(&client, id).await, content);
    }
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn content_that_is_not_what_was_sent_is_not_stored() {
    let (_directory, running) = served(|_| ()).await;
    let options = client_options(running.address, &running.key);
    let mut connection = Connection::open(&options).await.unwrap();
    let request = connection.send(&Request::Put(PutHead::default())).await.unwrap();
    let frame = encode_data(request, &DataHead::of(b"what was meant", true), 14);
    connection.write(&[&frame, &b"what was leant"[..]].concat()).await.unwrap();
    let refused = Response::parse(&connection.frame().await.unwrap()).unwrap();
    assert!(matches!(refused, Response::Failed(_)), "{refused:?}");
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_put_that_breaks_leaves_nothing() {
    let (_directory, running) = served(|_| ()).await;
    let client = client(&running);
    let records = async || {
        let status = running.services.node.status().await.unwrap();
        status.disks[0].partitions.iter().map(|p| p.records).sum::<u64>()
    };
    let before = records().await;
    let broken = pieces(&content(1, 9 << 20), 1 << 20)
        .chain(stream::iter([Err("unplugged".into())]))
        .boxed();
    let error = client.put(PutHead::default(), broken).await.unwrap_err();
    assert!(matches!(error, ClientError::Source(_)), "{error}");
    // Two chunks, and a delete for each.
    let wait = Wait::until("the deletes are there");
    while records().await != before + 4 {
        wait.check((before, records().await));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // A length that was not kept.
    let options = PutOptions { content_bytes: Some(5), ..PutOptions::default() };
    let head = PutHead { options, name: None };
    let error = client.put(head, source("four")).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::Length), "{error}");
    client.ping().await.unwrap();
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_protocol_close_the_connection() {
    let (_directory, running) = served(|_| ()).await;
    for bytes in
        [&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], &[0xff; 4096], b"AB\x01\x11\xff\xff\xff\xff"]
    {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let read = stream.read_to_end(&mut rest);
        // Closed with what was not read is a reset.
        let _ = tokio::time::timeout(PATIENCE, read).await.unwrap();
    }
    assert!(client(&running).ping().await.is_ok());
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_connections_are_told_so() {
    let (_directory, running) = served(|options| options.server.connections_max = 3).await;
    let options = client_options(running.address, &running.key);
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(Connection::open(&options).await.unwrap());
    }
    let refused = Connection::open(&options).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::TooMany), "{refused}");
    open.pop();
    let wait = Wait::until("a connection that is closed makes room for another one");
    while let Err(error) = Connection::open(&options).await {
        wait.check(error);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_open_connections_are_closed() {
    let (_directory, running) = served(|options| {
        options.server.connections_max = 1;
        options.server.handshake_timeout = Duration::from_millis(100);
        options.server.idle_timeout = Duration::from_millis(200);
        options.server.stall_timeout = Duration::from_millis(300);
    })
    .await;
    // Says nothing; says nothing after the handshake; stops in the middle of content.
    let _silent = TcpStream::connect(running.address).await.unwrap();
    let _idle = connect(&running).await;
    let mut stops = connect(&running).await;
    // If we are slow ourselves, it is idle too.
    if let Ok(request) = stops.send(&Request::Put(PutHead::default())).await {
        let frame = encode_data(request, &DataHead::of(&[1; 1000], true), 1000);
        let _ = stops.write(&[&frame[..], &[1; 500]].concat()).await;
    }
    let _last = connect(&running).await;
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_takes_nothing_is_cut_off_and_holds_nobody_up() {
    let (_directory, running) = served(|options| {
        options.server.stall_timeout = Duration::from_millis(300);
    })
    .await;
    let good = client(&running);
    let id = put_directly(&running, &content(1, LONG)).await;
    let wait = Wait::until("who takes nothing is cut off, and others are served meanwhile");
    loop {
        let got = take_late(&running, id).await;
        // On a machine that has other work, this one may itself be slower than the server waits.
        let put = good.put(PutHead::default(), source(content(2, 1000))).await;
        if got < LONG && put.is_ok_and(|put| put.content_bytes == 1000) {
            break;
        }
        wait.check(got);
    }
    running.shut_down().await;
}

/// More than the buffers of a connection hold.
const LONG: usize = 24 << 20;

/// Connects to a server that ends connections soon, this one too if we are slow ourselves, or has no place for another one yet.
async fn connect(running: &Running) -> Connection {
    let options = client_options(running.address, &running.key);
    let wait = Wait::until("there is a connection");
    loop {
        match Connection::open(&options).await {
            Ok(connection) => return connection,
            Err(error) => wait.check(error),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Without a connection that could be too slow.
async fn put_directly(running: &Running, content: &Bytes) -> BlobId {
    let put = running.services.router.put(source(content.clone()), PutOptions::default());
    put.await.unwrap().id
}

/// Asks for a blob, and takes it only after the server has waited long enough: how many bytes came.
async fn take_late(running: &Running, id: BlobId) -> usize {
    let mut slow = connect(running).await;
    if slow.send(&Request::Get { target: id.into(), range: None }).await.is_err() {
        return LONG;
    }
    let other = client(running);
    let _ = tokio::join!(other.ping(), tokio::time::sleep(Duration::from_millis(900)));
    let mut got = 0;
    let read = async {
        while got < LONG {
            let Ok(frame) = slow.frame().await else { return };
            let Ok(body) = slow.body(frame.header.body_bytes as usize).await else { return };
            got += body.len();
        }
    };
    tokio::time::timeout(PATIENCE, read).await.expect("it ends");
    got
}

/// The connection ends with the answer, in the middle of the put behind it: what came of that is not all of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_put_behind_an_answer_that_nobody_takes_is_not_stored() {
    let (_directory, running) = served(|options| {
        options.server.stall_timeout = Duration::from_secs(1);
    })
    .await;
    let id = put_directly(&running, &content(1, LONG)).await;
    let records = async || {
        let status = running.services.node.status().await.unwrap();
        status.disks[0].partitions.iter().map(|p| p.records).sum::<u64>()
    };
    let before = records().await;
    let mut slow = connect(&running).await;
    // If we are slow ourselves, the connection has ended.
    let _ = slow.send(&Request::Get { target: id.into(), range: None }).await;
    // So the server waits longer for the content than for the answer to be taken.
    tokio::time::sleep(Duration::from_millis(600)).await;
    if let Ok(request) = slow.send(&Request::Put(PutHead::default())).await {
        let frame = encode_data(request, &DataHead::of(&[1; 1000], false), 1000);
        let _ = slow.write(&[&frame[..], &[1; 1000]].concat()).await;
    }
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(records().await, before);
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_client_gets_all_of_it() {
    let (_directory, running) = served(|options| options.server.stall_timeout = NEVER).await;
    let client = client(&running);
    let content = content(1, 12 << 20);
    let id = put(&client, &content).await;
    let mut got = client.get(id, None).await.unwrap();
    let mut all = Vec::new();
    while let Some(piece) = got.content.next().await.unwrap() {
        all.extend_from_slice(&piece);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(all == content);
    running.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_under_way_end_before_the_server_does() {
    let (_directory, running) = served(|options| {
        options.server.drain_timeout = NEVER;
        options.server.stall_timeout = NEVER;
    })
    .await;
    let client = client(&running);
    let id = put(&client, &content(1, 16 << 20)).await;
    let mut got = client.get(id, None).await.unwrap();
    let mut stopping = running.stopping();
    let stops = tokio::spawn(running.shut_down());
    stopping.wait_for(|stop| *stop).await.unwrap();
    assert!(client.ping().await.is_err(), "nothing new is begun");
    let mut bytes = 0;
    while let Some(piece) = got.content.next().await.unwrap() {
        bytes += piece.len();
    }
    assert_eq!(bytes, 16 << 20);
    stops.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_on_the_disk_is_not_served() {
    let (directory, running) = served(|_| ()).await;
    let client = client(&running);
    let content = content(1, 300_000);
    let id = put(&client, &content).await;
    let partitions = directory.path().join("data/partitions");
    let log = partitions.join(id.partition.to_string()).join("0000000000000001.log");
    let mut bytes = std::fs::read(&log).unwrap();
    let begin = bytes.windows(64).position(|window| window == &content[..64]).unwrap();
    let at = begin + 200_000;
    bytes[at] ^= 1;
    use std::os::unix::fs::FileExt;
    let file = std::fs::OpenOptions::new().write(true).open(&log).unwrap();
    file.write_all_at(&bytes[at..=at], at as u64).unwrap();
    let whole = client.get(id, None).await.unwrap().content.read_all().await.unwrap_err();
    assert!(whole.to_string().contains("checksum"), "{whole}");
    // What is not damaged is.
    let range = Some(ByteRange::Inclusive(0, 99_999));
    let part = client.get(id, range).await.unwrap().content.read_all().await.unwrap();
    assert_eq!(part, content[..100_000]);
    running.shut_down().await;
}

/// A frontend that keeps names in memory, as small as can be.
#[derive(Debug, Default)]
struct Names {
    router: std::sync::OnceLock<afterbay_blob_router::Router>,
    names: std::sync::Mutex<std::collections::BTreeMap<String, BlobId>>,
}

impl Names {
    fn find(
        &self,
        name: &afterbay_blob_client::Name,
    ) -> Result<BlobId, afterbay_blob_client::Failure> {
        let missing = || {
            afterbay_blob_client::Failure::new(Code::NoSuchName, format!("{name}: no such name"))
        };
        self.names.lock().unwrap().get(&name.to_string()).copied().ok_or_else(missing)
    }

    fn router(&self) -> &afterbay_blob_router::Router {
        self.router.get().unwrap()
    }
}

mod frontend {
    use super::Names;
    use afterbay_blob_client::{BucketSettings, Entry, Failure, ListRequest, Listing, Name};
    use afterbay_blob_router::{
        BlobId, BlobInfo, BlobService, ByteRange, GetBlob, PutBlob, PutOptions, SourceStream,
    };
    use afterbay_blob_server::{
        Caller, Frontend, Host, NamedBlobs, NamesReport, StartError, Started,
    };
    use async_trait::async_trait;
    use std::sync::Arc;

    #[derive(Debug)]
    pub(super) struct InMemory(pub(super) Arc<Names>);

    #[async_trait]
    impl Frontend for InMemory {
        async fn start(&self, host: &Host) -> Result<Started, StartError> {
            self.0.router.set(host.router.clone()).unwrap();
            let endpoints = vec![("names".to_owned(), host.data.display().to_string())];
            Ok(Started { names: Some(self.0.clone()), endpoints, ..Started::default() })
        }
    }

    #[async_trait]
    impl NamedBlobs for Names {
        async fn put(
            &self,
            _by: &Caller,
            name: &Name,
            content: SourceStream,
            options: PutOptions,
        ) -> Result<PutBlob, Failure> {
            let put = self.router().put(content, options).await.map_err(|e| Failure::from(&e))?;
            self.names.lock().unwrap().insert(name.to_string(), put.id);
            Ok(put)
        }

        async fn blob(&self, _by: &Caller, name: &Name) -> Result<Option<BlobId>, Failure> {
            // Names that say so are read through the service.
            if name.key.starts_with("stream") { Ok(None) } else { self.find(name).map(Some) }
        }

        async fn get(
            &self,
            _by: &Caller,
            name: &Name,
            range: Option<ByteRange>,
        ) -> Result<GetBlob, Failure> {
            self.router().get(self.find(name)?, range).await.map_err(|e| Failure::from(&e))
        }

        async fn stat(&self, _by: &Caller, name: &Name) -> Result<BlobInfo, Failure> {
            self.router().stat(self.find(name)?).await.map_err(|e| Failure::from(&e))
        }

        async fn delete(&self, _by: &Caller, name: &Name) -> Result<Option<BlobId>, Failure> {
            let id = self.find(name)?;
            self.names.lock().unwrap().remove(&name.to_string());
            let deleted = self.router().delete(id).await;
            deleted.map(|()| Some(id)).map_err(|e| Failure::from(&e))
        }

        async fn list(&self, _by: &Caller, request: ListRequest) -> Result<Listing, Failure> {
            let names = self.names.lock().unwrap();
            let prefix = format!("{}/{}", request.bucket, request.prefix);
            let entries = names.keys().filter_map(|name| {
                let key = name
                    .starts_with(&prefix)
                    .then(|| name[request.bucket.len() + 1..].to_owned())?;
                Some(Entry { key, content_bytes: 0, created_ms: 0, durability: None })
            });
            Ok(Listing { entries: entries.collect(), truncated: false })
        }

        async fn set_bucket(&self, _by: &Caller, _settings: BucketSettings) -> Result<(), Failure> {
            Ok(())
        }

        async fn delete_bucket(&self, _by: &Caller, _bucket: &str) -> Result<(), Failure> {
            Ok(())
        }

        async fn report(&self) -> Result<NamesReport, Failure> {
            let objects = self.names.lock().unwrap().len() as u64;
            Ok(NamesReport { objects, ..NamesReport::default() })
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_a_frontend() {
    let directory = tempfile::tempdir().unwrap();
    let frontend: std::sync::Arc<dyn afterbay_blob_server::Frontend> =
        std::sync::Arc::new(frontend::InMemory(std::sync::Arc::default()));
    let options = serve_options(&directory.path().join("data"));
    let running = start(options, &[frontend]).await.unwrap();
    assert_eq!(running.endpoints[0].0, "names");
    let client = client(&running);
    let name =
        |key: &str| afterbay_blob_client::Name { bucket: "b".to_owned(), key: key.to_owned() };
    for (key, length) in
        [("file", 100), ("file", 5 << 20), ("stream", 100), ("stream", 5 << 20), ("stream", 0)]
    {
        let content = content(length as u64, length);
        let head = PutHead { options: PutOptions::default(), name: Some(name(key)) };
        let put = client.put(head, pieces(&content, 100_000)).await.unwrap();
        let target = || Target::Name(name(key));
        assert_eq!(client.stat(target()).await.unwrap().id, put.id);
        let got = client.get(target(), None).await.unwrap().content.read_all().await.unwrap();
        assert!(got == content, "{key}, {length}");
    }
    let listing = client.list(afterbay_blob_client::ListRequest {
        bucket: "b".to_owned(),
        prefix: "s".to_owned(),
        ..Default::default()
    });
    let keys: Vec<_> = listing.await.unwrap().entries.into_iter().map(|entry| entry.key).collect();
    assert_eq!(keys, ["stream"]);
    let id = client.stat(Target::Name(name("file"))).await.unwrap().id;
    assert_eq!(client.delete(Target::Name(name("file"))).await.unwrap(), Some(id));
    let gone = client.get(Target::Name(name("file")), None).await.unwrap_err();
    assert_eq!(gone.code(), Some(Code::NoSuchName));
    running.shut_down().await;
}
