//! `ls`, `stat`.

use std::fmt::Write;

use afterbay_blob_client::{ListRequest, Target};
use afterbay_blob_router::{BlobInfo, PropertyClass};
use clap::Args;

use super::pages::PAGE;
use super::values::{self, show_bytes, show_durability, show_time};
use super::{Common, Failed, print, print_json};

/// Arguments of `ls`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay blob ls                    (buckets, with their durability classes)\n  \
    afterbay blob ls papers             (names in a bucket)\n  \
    afterbay blob ls papers/2026/")]
pub(crate) struct ListArgs {
    /// A bucket, or a bucket and how the names begin (bucket/prefix)
    target: Option<String>,
    /// At most so many names
    #[arg(long, value_name = "COUNT", default_value_t = u64::MAX, hide_default_value = true)]
    limit: u64,
    #[command(flatten)]
    common: Common,
}

pub(crate) async fn list(args: ListArgs) -> Result<(), Failed> {
    let client = args.common.server.client()?;
    let target = args.target.as_deref().unwrap_or_default();
    let (bucket, prefix) = target.split_once('/').unwrap_or((target, ""));
    let mut request = ListRequest {
        bucket: bucket.to_owned(),
        prefix: prefix.to_owned(),
        after: String::new(),
        limit: 0,
    };
    let mut left = args.limit;
    while left > 0 {
        request.limit = PAGE.min(u32::try_from(left).unwrap_or(PAGE));
        let listing = client.list(request.clone()).await?;
        left = left.saturating_sub(listing.entries.len() as u64);
        let mut text = String::new();
        for entry in &listing.entries {
            let name =
                if bucket.is_empty() { &entry.key } else { &format!("{bucket}/{}", entry.key) };
            if args.common.json {
                let mut line = serde_json::json!({
                    "name": name,
                    "bytes": entry.content_bytes,
                    "created": show_time(entry.created_ms),
                });
                if bucket.is_empty() {
                    line["durability"] = entry.durability.map(show_durability).into();
                }
                writeln!(text, "{line}")?;
            } else if bucket.is_empty() {
                let class = entry.durability.map_or("default", show_durability);
                writeln!(text, "{}  {class:<8}  {name}/", show_time(entry.created_ms))?;
            } else {
                let (time, size) = (show_time(entry.created_ms), show_bytes(entry.content_bytes));
                writeln!(text, "{time}  {size:>10}  {name}")?;
            }
        }
        print(&text)?;
        match listing.entries.last() {
            Some(last) if listing.truncated => request.after.clone_from(&last.key),
            _ => return Ok(()),
        }
    }
    Ok(())
}

/// Arguments of `stat`.
#[derive(Debug, Args)]
pub(crate) struct StatArgs {
    /// Its name (bucket/key), or its id
    #[arg(value_parser = values::target)]
    target: Target,
    #[command(flatten)]
    common: Common,
}

pub(crate) async fn stat(args: StatArgs) -> Result<(), Failed> {
    let info = args.common.server.client()?.stat(args.target).await?;
    if args.common.json { print_json(&json_of(&info)) } else { print(&text_of(&info)?) }
}

fn json_of(info: &BlobInfo) -> serde_json::Value {
    let of_class = |wanted| {
        let pairs = info.properties.iter().filter(|(class, _, _)| *class == wanted);
        let pair = |(_, name, value): (_, &str, &bytes::Bytes)| {
            (name.to_owned(), String::from_utf8_lossy(value).into_owned().into())
        };
        pairs.map(pair).collect::<serde_json::Map<_, _>>()
    };
    serde_json::json!({
        "id": info.id.to_string(),
        "bytes": info.content_bytes,
        "created": show_time(info.created_ms),
        "expires": info.expires_ms.map(show_time),
        "container": info.container,
        "properties": of_class(PropertyClass::System),
        "meta": of_class(PropertyClass::User),
    })
}

fn text_of(info: &BlobInfo) -> Result<String, Failed> {
    let mut text = String::new();
    writeln!(text, "id         {}", info.id)?;
    writeln!(text, "bytes      {}", info.content_bytes)?;
    writeln!(text, "created    {}", show_time(info.created_ms))?;
    let expires = info.expires_ms.map_or_else(|| "never".to_owned(), show_time);
    writeln!(text, "expires    {expires}")?;
    writeln!(text, "container  {}", info.container)?;
    for (class, name, value) in info.properties.iter() {
        let kind = if class == PropertyClass::System { "property" } else { "meta" };
        // What others wrote must not steer a terminal.
        let value = String::from_utf8_lossy(value).escape_debug().to_string();
        writeln!(text, "{kind:<9}  {}: {value}", name.escape_debug())?;
    }
    Ok(text)
}
