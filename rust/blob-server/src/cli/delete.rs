//! `delete`, `undelete`.

use afterbay_blob_client::{Client, Entry, Name, Target};
use afterbay_blob_router::BlobId;
use clap::Args;
use futures_util::StreamExt;
use serde_json::json;

use super::client::Usage;
use super::many::{Account, Ended};
use super::progress::Progress;
use super::values::{self, Place};
use super::{Common, Failed, pages, print, print_json};

/// Names that are deleted at once: they share the commits of the name index.
const AT_ONCE: usize = 16;

/// Arguments of `delete`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay blob delete papers/report.pdf\n  \
    afterbay blob delete papers/2026/ --recursive       (all names that begin with papers/2026/)\n  \
    afterbay blob delete papers --recursive             (all names in the bucket)\n  \
    afterbay blob delete --bucket papers                (the bucket, if it is empty)\n  \
    afterbay blob delete --bucket papers --recursive    (the bucket, with all that is in it)\n\
    For a name, it prints the id of the content that was deleted. 'get ID' reads it until --garbage-delay of 'serve' has passed; \
    after that, 'undelete ID' takes back its delete within the undelete window. What was uploaded by S3 in parts has no id ('-').")]
pub(crate) struct DeleteArgs {
    /// Names (bucket/key), or ids; with --recursive, buckets or prefixes (bucket/prefix/)
    #[arg(required_unless_present = "bucket")]
    targets: Vec<String>,
    /// All names that begin with the prefix, or all of the bucket
    #[arg(long, short)]
    recursive: bool,
    /// Delete this bucket, which must be empty unless --recursive is given. Needs the right 'admin'
    #[arg(long, value_name = "NAME", conflicts_with = "targets")]
    bucket: Option<String>,
    #[command(flatten)]
    common: Common,
}

pub(crate) async fn delete(args: DeleteArgs) -> Result<(), Failed> {
    match (&args.bucket, args.recursive) {
        (Some(bucket), recursive) => delete_bucket(&args, bucket, recursive).await,
        (None, true) => {
            let places = args.targets.iter().map(|text| values::place(text));
            let places = places.collect::<Result<Vec<_>, _>>().map_err(Usage)?;
            delete_below(&args, places).await
        }
        (None, false) => {
            let targets = args.targets.iter().map(|text| values::target_not_place(text));
            let targets = targets.collect::<Result<Vec<_>, _>>().map_err(Usage)?;
            delete_each(&args, targets).await
        }
    }
}

async fn delete_each(args: &DeleteArgs, targets: Vec<Target>) -> Result<(), Failed> {
    let client = args.common.server.client()?;
    let json = args.common.json;
    for_each(&client, targets, |client, target| async move {
        let id = client.delete(target.clone()).await?.map(|id| id.to_string());
        if json {
            let done = json!({ "target": target.to_string(), "done": "deleted", "id": id });
            return print_json(&done);
        }
        match target {
            Target::Id(_) => Ok(()),
            Target::Name(name) => print(&format!("{}  {name}\n", id.as_deref().unwrap_or("-"))),
        }
    })
    .await
}

async fn delete_bucket(args: &DeleteArgs, bucket: &str, recursive: bool) -> Result<(), Failed> {
    if recursive {
        let all = Place { bucket: bucket.to_owned(), prefix: String::new() };
        delete_below(args, vec![all]).await?;
    }
    args.common.server.client()?.delete_bucket(bucket).await?;
    if args.common.json {
        print_json(&json!({ "target": bucket, "done": "deleted" }))?;
    }
    Ok(())
}

async fn delete_below(args: &DeleteArgs, places: Vec<Place>) -> Result<(), Failed> {
    let client = args.common.server.client()?;
    let mut account = Account::new("deleted", "name", args.common.json);
    for place in places {
        let before = account.total();
        let names = pages::below(client.clone(), place.clone(), Progress::none()).boxed();
        let delete = |entry| delete_one(client.clone(), place.clone(), entry);
        account.each(names, AT_ONCE, delete).await?;
        if account.total() == before && !place.prefix.is_empty() {
            let error = pages::nothing_below(&place);
            let name = place.to_string();
            account.take(Ended::new(name.clone(), json!({ "name": name }), Err(error.into())))?;
        }
    }
    account.end(|_| String::new())
}

async fn delete_one(client: Client, place: Place, entry: Result<Entry, Failed>) -> Ended {
    let Entry { key, content_bytes, .. } = match entry {
        Ok(entry) => entry,
        Err(error) => return pages::broken(&place, error),
    };
    let name = Name { bucket: place.bucket, key };
    let shown = name.to_string();
    let deleted = client.delete(Target::Name(name)).await;
    let id = deleted.as_ref().ok().and_then(|id| id.as_ref()).map(ToString::to_string);
    let result = deleted.map(|_| content_bytes).map_err(Failed::from);
    Ended::new(shown.clone(), json!({ "name": shown, "id": id }), result)
}

/// Arguments of `undelete`.
#[derive(Debug, Args)]
#[command(
    after_help = "A name that was deleted does not come back: nothing of it is kept, and another object may have it. Its content \
    does, by its id, which 'delete' prints, and 'stat' before: until --garbage-delay of 'serve' has passed, 'get ID' reads it; after \
    that, 'undelete ID' takes back its delete within the undelete window."
)]
pub(crate) struct UndeleteArgs {
    /// Ids
    #[arg(required = true, value_parser = values::target)]
    ids: Vec<Target>,
    #[command(flatten)]
    common: Common,
}

pub(crate) async fn undelete(args: UndeleteArgs) -> Result<(), Failed> {
    // Before anything is done.
    let ids: Vec<BlobId> =
        args.ids.into_iter().map(only_id).collect::<Result<_, _>>().map_err(Usage)?;
    let client = args.common.server.client()?;
    let json = args.common.json;
    for_each(&client, ids, |client, id| async move {
        client.undelete(id).await?;
        if json {
            print_json(&json!({ "target": id.to_string(), "done": "undeleted" }))
        } else {
            Ok(())
        }
    })
    .await
}

fn only_id(target: Target) -> Result<BlobId, String> {
    match target {
        Target::Id(id) => Ok(id),
        Target::Name(name) => Err(format!(
            "{name}: a name cannot be undeleted, nothing of it is kept; if you know the id of its content ('delete' printed it), try \
             'get ID FILE', then 'undelete ID' ('undelete --help' says more)"
        )),
    }
}

/// Does something to each, also after one that failed; the first error is the command's.
async fn for_each<T: std::fmt::Display + Clone, F>(
    client: &Client,
    targets: Vec<T>,
    work: impl Fn(Client, T) -> F,
) -> Result<(), Failed>
where
    F: Future<Output = Result<(), Failed>>,
{
    let mut first = None;
    for target in targets {
        if let Err(error) = work(client.clone(), target.clone()).await {
            first.get_or_insert_with(|| Failed::from(format!("{target}: {error}")));
        }
    }
    first.map_or(Ok(()), Err)
}
