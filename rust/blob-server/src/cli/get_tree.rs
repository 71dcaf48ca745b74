//! `get --recursive`: the keys below a prefix, as the files of a directory.

use std::future::ready;
use std::path::{Path, PathBuf};

use afterbay_blob_client::{Client, Entry, Name, Target};
use futures_util::StreamExt;
use serde_json::json;

use super::get::GetArgs;
use super::many::{Account, Ended};
use super::pages;
use super::progress::Progress;
use super::values::{Place, show_bytes};
use super::{Failed, files, tree};

pub(crate) async fn run(args: GetArgs, from: Place, to: PathBuf) -> Result<(), Failed> {
    let client = args.common.server.client()?;
    let progress = Progress::new(&from.to_string(), Some(0), args.common.quiet);
    let mut account = Account::new("read", "file", args.common.json);
    let names = pages::below(client.clone(), from.clone(), progress.clone());
    let names = names.filter(|entry| ready(!entry.as_ref().is_ok_and(stands_for_directory)));
    let get = |entry: Result<Entry, Failed>| {
        get(client.clone(), from.clone(), entry, to.clone(), progress.clone())
    };
    let done = account.each(names, usize::from(args.jobs), get).await;
    progress.end();
    done?;
    if account.total() == 0 && !from.prefix.is_empty() {
        return Err(pages::nothing_below(&from).into());
    }
    account.end(|bytes| format!(", {}", show_bytes(bytes)))
}

/// What clients of S3 leave in the place of a directory.
fn stands_for_directory(entry: &Entry) -> bool {
    entry.content_bytes == 0 && entry.key.ends_with('/')
}

async fn get(
    client: Client,
    from: Place,
    entry: Result<Entry, Failed>,
    to: PathBuf,
    progress: Progress,
) -> Ended {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => return pages::broken(&from, error),
    };
    let name = Name { bucket: from.bucket.clone(), key: entry.key.clone() };
    let shown = name.to_string();
    let relative = &entry.key[from.prefix.len()..];
    let path = match tree::path_of(relative) {
        Ok(path) => to.join(path),
        Err(reason) => {
            return Ended::new(shown.clone(), json!({ "name": shown }), Err(reason.into()));
        }
    };
    let got = read(&client, name, &path, &progress).await;
    let file = path.display().to_string();
    let mut fields = json!({ "name": shown, "file": file });
    if let Ok(bytes) = &got {
        fields["bytes"] = (*bytes).into();
    }
    Ended::new(shown, fields, got)
}

async fn read(
    client: &Client,
    name: Name,
    path: &Path,
    progress: &Progress,
) -> Result<u64, Failed> {
    let got = client.get(Target::Name(name), None).await?;
    if let Some(folder) = path.parent() {
        files::make_folder(folder).await?;
    }
    files::write_all(got.content, path, progress).await
}
