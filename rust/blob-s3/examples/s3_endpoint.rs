//! The endpoint by itself, for tests with real clients: names in a file, blobs in memory.
//!
//! `s3_endpoint [--public-acls] DIRECTORY KEYS...`, each key as `ID:SECRET:USER[:RIGHTS]`, where RIGHTS is `create` or `BUCKET=rwa`.
//! Prints the address on one line once it listens, and ends when its standard input does.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_meta::{
    AccessKey, Collector, CollectorOptions, Command, Names, RedbNames, RedbOptions, Reservations,
    Rights, now_ms,
};
use afterbay_blob_router::testing::MemoryStore;
use afterbay_blob_router::{Router, RouterOptions};
use afterbay_blob_s3::{Backend, ReservingStore, S3Options, StoreDeleter, serve_s3};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::watch;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let public_acls = arguments.next_if(|first| first == "--public-acls").is_some();
    let directory = arguments.next().ok_or("a directory is needed")?;
    let path = std::path::Path::new(&directory).join("names.redb");
    let names: Arc<dyn Names> = Arc::new(RedbNames::open(&path, &RedbOptions::default())?);
    for key in arguments {
        names.apply(Command::PutKey(parse(&key)?)).await?;
    }
    let reservations = Reservations::begin(names.clone(), "local").await?;
    let store = Arc::new(MemoryStore::default());
    let reserving = Arc::new(ReservingStore::new(store.clone(), reservations.clone()));
    let router = Arc::new(Router::new(reserving, RouterOptions::default())?);
    let (stop, stopped) = watch::channel(false);
    let deleter = Arc::new(StoreDeleter::new(store.clone()));
    let grace = Duration::from_secs(20);
    let collector =
        Collector::new(names.clone(), deleter, CollectorOptions { grace, ..Default::default() });
    let collecting = tokio::spawn(collector.run(stopped.clone()));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let options = S3Options { public_acls, ..S3Options::default() };
    let backend = Backend { names, blobs: router, reservations };
    let serving = tokio::spawn(serve_s3(listener, backend, options, stopped));
    let mut input = Vec::new();
    tokio::io::stdin().read_to_end(&mut input).await?;
    stop.send(true)?;
    serving.await??;
    collecting.await?;
    Ok(())
}

fn parse(text: &str) -> Result<AccessKey, String> {
    let mut fields = text.split(':');
    let mut field = |name| fields.next().map(str::to_owned).ok_or(format!("{text}: no {name}"));
    let (id, secret, user) = (field("id")?, field("secret")?, field("user")?);
    let (mut rights, mut may_create_buckets) = (BTreeMap::new(), false);
    for right in fields {
        match right.split_once('=') {
            None if right == "create" => may_create_buckets = true,
            Some((bucket, letters)) => {
                let bits = letters.chars().fold(Rights::NONE, |all, letter| {
                    all.union(match letter {
                        'r' => Rights::READ,
                        'w' => Rights::WRITE,
                        'a' => Rights::ADMIN,
                        _ => Rights::NONE,
                    })
                });
                rights.insert(bucket.to_owned(), bits.0);
            }
            None => return Err(format!("{text}: '{right}' is no right")),
        }
    }
    let (created_ms, display_name) = (now_ms(), user.clone());
    Ok(AccessKey { id, secret, user, rights, may_create_buckets, created_ms, display_name })
}
