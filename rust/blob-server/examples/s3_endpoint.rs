//! The server's S3 endpoint with keys of several rights, for tests with real clients: names and blobs in real files, `durable`.
//!
//! `s3_endpoint [--public-acls] DIRECTORY KEYS...`, each key as `ID:SECRET:USER[:RIGHTS]`, where RIGHTS is `create` or `BUCKET=rwa`.
//! Prints the address on one line once it listens, and ends when its standard input does.

use std::collections::BTreeMap;
use std::error::Error;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use afterbay_blob_meta::{
    AccessKey, CollectorOptions, Command, Names, RedbNames, RedbOptions, Rights, now_ms,
};
use afterbay_blob_s3::S3Options;
use afterbay_blob_server::node::{DataDirectory, NodeOptions};
use afterbay_blob_server::{Frontend, NamesAndS3, ServeOptions, start};
use tokio::io::AsyncReadExt;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let public_acls = arguments.next_if(|first| first == "--public-acls").is_some();
    let data = PathBuf::from(arguments.next().ok_or("a directory is needed")?);
    let keys = arguments.map(|key| parse(&key)).collect::<Result<_, _>>()?;
    put_keys(&data, keys).await?;
    // Segments are reserved on the disk when they are made: less than a server of a whole disk does.
    let node = NodeOptions {
        partition_bytes: Some(1 << 30),
        segment_bytes: Some(64 << 20),
        ..NodeOptions::default()
    };
    let options = ServeOptions {
        data: vec![data],
        listen: "127.0.0.1:0".to_owned(),
        admin: None,
        node,
        ..ServeOptions::default()
    };
    let s3 = NamesAndS3 {
        listen: Some("127.0.0.1:0".to_owned()),
        options: S3Options { public_acls, ..S3Options::default() },
        collector: CollectorOptions::default(),
    };
    let frontends: [Arc<dyn Frontend>; 1] = [Arc::new(s3)];
    let running = start(options, &frontends).await?;
    let (_, url) = running.endpoints.first().ok_or("no S3 endpoint")?;
    println!("{}", url.trim_start_matches("http://"));
    let mut input = Vec::new();
    tokio::io::stdin().read_to_end(&mut input).await?;
    running.shut_down().await;
    Ok(())
}

/// Into the names of a server that does not run.
async fn put_keys(data: &Path, keys: Vec<AccessKey>) -> Result<(), Box<dyn Error>> {
    // Held until the end: no server opens it meanwhile.
    let _directory = DataDirectory::open(data)?;
    let folder = data.join("names");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let names = RedbNames::open(&folder.join("names.redb"), &RedbOptions::default())?;
    for key in keys {
        names.apply(Command::PutKey(key)).await?;
    }
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
