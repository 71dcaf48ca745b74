//! `bucket`.

use afterbay_blob_client::BucketSettings;
use clap::Args;

use super::values::{BucketClass, bucket_class};
use super::{Common, Failed, print_json};

/// Arguments of `bucket`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay blob bucket papers --durability paranoid\n  \
    afterbay blob bucket papers --durability default      (the server's)\n  \
    afterbay blob ls                                      (shows the classes)\n\
    Needs the right 'admin' in the bucket. The class holds for objects that are put from then on, by S3 and by name.")]
pub(crate) struct BucketArgs {
    /// Its name
    bucket: String,
    /// When its objects are taken for stored, at least: durable, paranoid, or default
    #[arg(long, value_name = "CLASS", required = true, value_parser = bucket_class)]
    durability: BucketClass,
    #[command(flatten)]
    common: Common,
}

pub(crate) async fn run(args: BucketArgs) -> Result<(), Failed> {
    let client = args.common.server.client()?;
    let BucketClass(durability) = args.durability;
    client.set_bucket(BucketSettings { bucket: args.bucket.clone(), durability }).await?;
    if args.common.json {
        let done = serde_json::json!({ "target": args.bucket, "done": "set" });
        print_json(&done)?;
    }
    Ok(())
}
