//! `key create`, `key ls`, `key delete`.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use afterbay_blob_client::{Grant, KeyEntry, NewKey};
use clap::{Args, Subcommand};

use super::client::Usage;
use super::values::{self, show_time};
use super::{Common, Failed, print, print_json};
use crate::keys::AccessKey;

/// Commands for keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Makes a key for a user or a program
    Create(CreateArgs),
    /// Lists keys and their rights
    Ls(ListArgs),
    /// Deletes keys; they open nothing any more from then on
    Delete(DeleteArgs),
}

/// Arguments of `key create`.
#[derive(Debug, Args)]
#[command(
    after_help = "Rights: read (get, list), write (put, delete), admin (delete the bucket, change its settings), with commas \
    between them. A user has all rights in buckets that they made. Several keys can have the same NAME: they are the same \
    user's, and one can replace another.\n\n\
    Examples:\n  \
    afterbay blob key create flink --bucket checkpoints=read,write --out flink.key\n  \
    afterbay blob key create reader --bucket '*=read'\n  \
    afterbay blob key create ann --create-buckets --bucket papers=read,write,admin\n  \
    afterbay blob get papers/report.pdf copy.pdf --key-file flink.key\n\
    The secret is shown once. In S3, access-key and secret-key are the access key id and the secret access key."
)]
pub(crate) struct CreateArgs {
    /// Whose key it is: the owner of the buckets that are made with it
    name: String,
    /// What it may do in a bucket, '*' being all of them; may be given several times
    #[arg(long, value_name = "BUCKET=RIGHTS", value_parser = values::grant)]
    bucket: Vec<Grant>,
    /// It may make buckets
    #[arg(long)]
    create_buckets: bool,
    /// Write the key into a new file that only its owner can read, and do not print the secret
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

pub(crate) async fn run(command: KeyCommand) -> Result<(), Failed> {
    match command {
        KeyCommand::Create(args) => create(args).await,
        KeyCommand::Ls(args) => list(args).await,
        KeyCommand::Delete(args) => delete(args).await,
    }
}

async fn create(args: CreateArgs) -> Result<(), Failed> {
    if args.bucket.is_empty() && !args.create_buckets {
        let text = "a key without any right; give --bucket BUCKET=read,write or --create-buckets";
        return Err(Usage(text.to_owned()).into());
    }
    let client = args.common.server.client()?;
    // Before the key is made: one whose secret nobody has is of no use.
    let file = args.out.as_deref().map(NewFile::create).transpose()?;
    let key =
        NewKey { user: args.name, may_create_buckets: args.create_buckets, grants: args.bucket };
    let created = client.create_key(key.clone()).await?;
    let made = AccessKey { access: created.access, secret: created.secret };
    let to_file = file.is_some();
    if let Some(file) = file
        && let Err(error) = file.fill(&made.text())
    {
        client.delete_key(made.access).await?;
        return Err(error);
    }
    match (args.common.json, to_file) {
        (true, _) => print_json(&json_of_new(&made, &key, args.out.as_deref())),
        (false, true) => print(&format!("{}\n", made.access)),
        (false, false) => print(&made.text()),
    }
}

fn json_of_new(made: &AccessKey, key: &NewKey, file: Option<&Path>) -> serde_json::Value {
    let mut json = json_of(&made.access, key);
    match file {
        Some(file) => json["file"] = file.display().to_string().into(),
        None => json["secret_key"] = made.secret.clone().into(),
    }
    json
}

fn json_of(access: &str, key: &NewKey) -> serde_json::Value {
    let rights = |grant: &Grant| (grant.bucket.clone(), values::show_rights(grant.rights).into());
    serde_json::json!({
        "name": key.user,
        "access_key": access,
        "create_buckets": key.may_create_buckets,
        "buckets": key.grants.iter().map(rights).collect::<serde_json::Map<_, _>>(),
    })
}

/// A file that was not there before. It goes again unless it is filled.
struct NewFile {
    path: PathBuf,
    file: Option<File>,
}

impl NewFile {
    fn create(path: &Path) -> Result<Self, Failed> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(NewFile { path: path.to_owned(), file: Some(file) })
    }

    fn fill(mut self, text: &str) -> Result<(), Failed> {
        if let Some(file) = &mut self.file {
            let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
            written.map_err(|e| format!("{}: {e}", self.path.display()))?;
        }
        self.file = None;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.file.is_some() {
            // Nothing is in it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Arguments of `key ls`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  afterbay blob key ls\n  afterbay blob key ls --json")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    common: Common,
}

async fn list(args: ListArgs) -> Result<(), Failed> {
    let mut text = String::new();
    for entry in args.common.server.client()?.keys().await? {
        let created = show_time(entry.created_ms);
        if args.common.json {
            let mut line = json_of(&entry.access, &entry.key);
            line["created"] = created.into();
            writeln!(text, "{line}")?;
        } else {
            let (access, rights) = (&entry.access, rights_of(&entry.key));
            writeln!(text, "{created}  {access}  {:<12}  {rights}", entry.key.user)?;
        }
    }
    print(&text)
}

fn rights_of(key: &NewKey) -> String {
    let create = key.may_create_buckets.then(|| "create-buckets".to_owned());
    let rights = |grant: &Grant| format!("{}={}", grant.bucket, values::show_rights(grant.rights));
    create.into_iter().chain(key.grants.iter().map(rights)).collect::<Vec<_>>().join(" ")
}

/// Arguments of `key delete`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay blob key delete ABQ3OZ6XN5SLT2WJ7K4M\n  \
    afterbay blob key delete flink      (if it has one key)\n\
    A request that has begun may end; the next one is refused. Buckets and objects stay.")]
pub(crate) struct DeleteArgs {
    /// Access keys, or names that have one key
    #[arg(required = true)]
    keys: Vec<String>,
    #[command(flatten)]
    common: Common,
}

async fn delete(args: DeleteArgs) -> Result<(), Failed> {
    let client = args.common.server.client()?;
    let all = client.keys().await?;
    // All of them are known before the first one goes.
    let found: Vec<String> =
        args.keys.iter().map(|key| find(&all, key)).collect::<Result<_, _>>()?;
    for access in found {
        client.delete_key(access.as_str()).await?;
        if args.common.json {
            print_json(&serde_json::json!({ "access_key": access, "done": "deleted" }))?;
        }
    }
    Ok(())
}

/// The access key that is meant.
fn find(all: &[KeyEntry], wanted: &str) -> Result<String, Failed> {
    if all.iter().any(|entry| entry.access == wanted) {
        return Ok(wanted.to_owned());
    }
    let named: Vec<&str> = all
        .iter()
        .filter(|entry| entry.key.user == wanted)
        .map(|entry| entry.access.as_str())
        .collect();
    match named[..] {
        [] => Err(format!("there is no key '{wanted}' ('key ls' shows all)").into()),
        [one] => Ok(one.to_owned()),
        _ => Err(format!("'{wanted}' has several keys, say which: {}", named.join(", ")).into()),
    }
}
