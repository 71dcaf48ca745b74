//! `put --recursive`: the files of a directory, as keys below a prefix.

use std::path::PathBuf;

use afterbay_blob_client::{Client, Name, PutHead};
use futures_util::stream;
use serde_json::json;

use super::many::{Account, Ended};
use super::progress::Progress;
use super::put::PutArgs;
use super::tree::{Found, Tree};
use super::values::{Place, printable, show_bytes};
use super::{Failed, files, print_json};

pub(crate) async fn run(args: PutArgs, to: Place) -> Result<(), Failed> {
    let client = args.common.server.client()?;
    let root = args.file.clone();
    let tree = tokio::task::spawn_blocking(move || Tree::of(&root)).await?;
    let Tree { files, skipped, failed } =
        tree.map_err(|e| format!("{}: {e}", args.file.display()))?;
    // One that cannot be reached is said once, and not for each file.
    client.ping().await?;
    let json = args.common.json;
    let mut account = Account::new("stored", "file", json);
    for (path, reason) in failed {
        let file = path.display().to_string();
        account.take(Ended::new(file.clone(), json!({ "file": file }), Err(reason.into())))?;
    }
    let total = files.iter().map(|file| file.bytes).sum();
    let progress = Progress::new(&to.to_string(), Some(total), args.common.quiet);
    let jobs = usize::from(args.jobs);
    let put = |file: Found| {
        let head = PutHead {
            options: args.options(None),
            name: Some(Name { bucket: to.bucket.clone(), key: to.prefix.clone() + &file.key }),
        };
        put(client.clone(), file.path, head, progress.clone())
    };
    let done = account.each(stream::iter(files), jobs, put).await;
    progress.end();
    done?;
    say_skipped(skipped, json)?;
    account.end(|bytes| format!(", {}", show_bytes(bytes)))
}

async fn put(client: Client, path: PathBuf, mut head: PutHead, progress: Progress) -> Ended {
    let (file, name) = (path.display().to_string(), head.name.as_ref().map(Name::to_string));
    let stored = async {
        let (from, length) = files::open(&path).await?;
        head.options.content_bytes = length;
        Ok(client.put(head, files::stream_of(from, progress)).await?)
    };
    let stored: Result<_, Failed> = stored.await;
    let mut fields = json!({ "file": file, "name": name });
    if let Ok(stored) = &stored {
        fields["id"] = stored.id.to_string().into();
        fields["bytes"] = stored.content_bytes.into();
        fields["crc32c"] = format!("{:08x}", stored.crc32c).into();
    }
    Ended::new(file, fields, stored.map(|stored| stored.content_bytes))
}

/// What is no file is no failure, and not passed over in silence.
fn say_skipped(skipped: Vec<(PathBuf, &'static str)>, json: bool) -> Result<(), Failed> {
    for (path, what) in &skipped {
        let file = path.display();
        if json {
            print_json(&json!({ "file": file.to_string(), "skipped": what }))?;
        } else {
            eprintln_quietly(&printable(&format!("skipped {file}: {what}")));
        }
    }
    if !json && skipped.len() > 1 {
        eprintln_quietly(&format!("skipped {} in all", skipped.len()));
    }
    Ok(())
}

/// Without a standard error there is nobody to tell.
fn eprintln_quietly(text: &str) {
    let _ =
        std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("afterbay blob: {text}\n"));
}
