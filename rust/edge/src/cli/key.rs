//! `key create`.

use std::path::PathBuf;

use afterbay_edge_link::SiteKey;
use clap::{Args, Subcommand};

use super::{Failed, Result, say};

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Makes the key of a site: a new file that only its owner can read. The gateway and the agent get the same one
    Create(CreateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The name of the site: letters, digits, - and _
    #[arg(value_name = "SITE", value_parser = super::name)]
    site: String,
    /// The file, called SITE.key in the gateway's folder
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(command: &KeyCommand) -> Result<()> {
    let KeyCommand::Create(args) = command;
    let done = |error: &dyn std::fmt::Display| Failed::Done(error.to_string());
    let key = SiteKey::random().map_err(|error| done(&error))?;
    key.write_new(&args.out).map_err(|error| done(&error))?;
    say(&serde_json::json!({"site": args.site, "accessKey": key.access}))
}
