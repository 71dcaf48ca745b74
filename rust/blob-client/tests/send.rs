//! Every future of the client can be spawned on a runtime of several threads.

#![allow(clippy::unwrap_used, reason = "tests")]

use afterbay_blob_client::{Client, ClientOptions, ListRequest, Name, PutHead, Secret, Target};
use afterbay_blob_format::{BlobId, PartitionId};
use afterbay_blob_router::{ByteRange, source};

fn sendable<T: Send>(future: T) -> T {
    future
}

#[tokio::test(flavor = "multi_thread")]
async fn futures_go_from_thread_to_thread() {
    let client = Client::new(ClientOptions::new("127.0.0.1:1", "key", Secret::new("secret")));
    let id = BlobId::random(PartitionId(1));
    let name = Name { bucket: "b".to_owned(), key: "k".to_owned() };
    // The compiler refuses the others; they are not run.
    drop(sendable(client.put(PutHead::default(), source("x"))));
    drop(sendable(client.stat(id)));
    drop(sendable(client.delete(Target::Name(name.clone()))));
    drop(sendable(client.list(ListRequest::default())));
    drop(sendable(client.status()));
    drop(sendable(client.get(id, None)));
    let got = tokio::spawn(async move {
        let got = client.get(Target::Name(name), Some(ByteRange::From(3))).await?;
        got.content.read_all().await
    });
    let error = got.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("cannot connect"), "{error}");
}
