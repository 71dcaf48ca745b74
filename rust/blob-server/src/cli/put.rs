//! `put`.

use std::path::PathBuf;
use std::time::Duration;

use afterbay_blob_client::{Name, PutHead};
use afterbay_blob_router::{Durability, Properties, PropertyClass, PutOptions};
use afterbay_blob_store::{Clock, Policy, SystemClock};
use clap::Args;

use super::client::Usage;
use super::progress::Progress;
use super::values::Place;
use super::{Common, Failed, files, print, print_json, put_tree, values};
use crate::names::NAMES_DO_NOT_EXPIRE;

/// Arguments of `put`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay blob put report.pdf papers/report.pdf\n  \
    afterbay blob put report.pdf papers/        (the name of the file)\n  \
    afterbay blob put photos papers/photos/ --recursive   (the files in it, at any depth)\n  \
    tar c photos | afterbay blob put - --no-name --ttl 30d\n\
    With --recursive, the path of each file in DIR becomes its key, behind the prefix. Links are followed, unless one leads back to a \
    directory that it is in; that, and what is no file, is skipped and named. Empty directories leave nothing.")]
pub(crate) struct PutArgs {
    /// The file; '-' is the standard input; with --recursive, a directory
    pub(super) file: PathBuf,
    /// The name that it gets: bucket/key; with --recursive, a bucket or a prefix (bucket/prefix/)
    #[arg(required_unless_present = "no_name", conflicts_with = "no_name")]
    name: Option<String>,
    /// Give it no name, and print its id
    #[arg(long)]
    no_name: bool,
    /// What kind of content it is
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,
    /// Something to keep with it; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = values::pair)]
    meta: Vec<(String, String)>,
    /// After so long it is expired: 90s, 24h, 30d. Only without a name: one would stand for what is gone
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    ttl: Option<Duration>,
    /// When to take it for stored: fast, durable, paranoid. The default is the bucket's, or the server's
    #[arg(long, value_name = "CLASS", value_parser = values::durability)]
    durability: Option<Durability>,
    /// How many replicas of a cluster have to acknowledge it: one, majority, all, or a number. The default is that of its container
    /// (serve --container-policy), or else of the node that is asked (serve --policy)
    #[arg(long, value_name = "POLICY")]
    acks: Option<Policy>,
    /// The container that it belongs to
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    container: u32,
    /// The files of a directory, at any depth
    #[arg(long, short, conflicts_with = "no_name")]
    recursive: bool,
    /// So many at once, with --recursive
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(super) jobs: u8,
    #[command(flatten)]
    pub(super) common: Common,
}

impl PutArgs {
    fn target(&self) -> Result<Option<Name>, Failed> {
        let Some(text) = &self.name else {
            return Ok(None);
        };
        self.check_named()?;
        let file_name = self.file.file_name().and_then(|name| name.to_str());
        let text = match (text.ends_with('/'), file_name) {
            (true, Some(name)) if name != "-" => format!("{text}{name}"),
            _ => text.clone(),
        };
        Ok(Some(values::name(&text).map_err(Usage)?))
    }

    fn check_named(&self) -> Result<(), Usage> {
        match self.ttl {
            Some(_) => Err(Usage(NAMES_DO_NOT_EXPIRE.to_owned())),
            None => Ok(()),
        }
    }

    /// Where the files of the directory go.
    fn place(&self) -> Result<Place, Usage> {
        self.check_named()?;
        if !self.file.is_dir() {
            let file = self.file.display();
            return Err(Usage(format!("{file} is no directory; leave --recursive out")));
        }
        values::place(self.name.as_deref().unwrap_or_default()).map_err(Usage)
    }

    pub(super) fn options(&self, content_bytes: Option<u64>) -> PutOptions {
        let mut properties = Properties::default();
        if let Some(kind) = &self.content_type {
            properties =
                properties.with(PropertyClass::System, "content-type", kind.clone().into_bytes());
        }
        for (name, value) in &self.meta {
            properties = properties.with(PropertyClass::User, name, value.clone().into_bytes());
        }
        let expires_ms = self.ttl.map(|ttl| {
            SystemClock.now_ms().saturating_add(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
        });
        PutOptions {
            container: self.container,
            durability: self.durability,
            acks: self.acks,
            expires_ms,
            content_bytes,
            properties,
            ..PutOptions::default()
        }
    }
}

pub(crate) async fn run(args: PutArgs) -> Result<(), Failed> {
    if args.recursive {
        let to = args.place()?;
        return put_tree::run(args, to).await;
    }
    let name = args.target()?;
    let client = args.common.server.client()?;
    let (from, length) = files::open(&args.file).await?;
    let progress = Progress::new(&args.file.display().to_string(), length, args.common.quiet);
    let head = PutHead { options: args.options(length), name: name.clone() };
    let stored = client.put(head, files::stream_of(from, progress.clone())).await;
    progress.end();
    let stored = stored?;
    if args.common.json {
        return print_json(&serde_json::json!({
            "id": stored.id.to_string(),
            "name": name.map(|name| name.to_string()),
            "bytes": stored.content_bytes,
            "crc32c": format!("{:08x}", stored.crc32c),
        }));
    }
    match name {
        Some(name) => print(&format!("{name}\n")),
        None => print(&format!("{}\n", stored.id)),
    }
}
