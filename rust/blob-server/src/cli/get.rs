//! `get`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use afterbay_blob_client::Target;
use afterbay_blob_router::ByteRange;
use clap::Args;

use super::client::Usage;
use super::progress::Progress;
use super::{Common, Failed, files, values};

/// Arguments of `get`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay blob get papers/report.pdf report.pdf\n  \
    afterbay blob get papers/report.pdf | less\n  \
    afterbay blob get --range 0-1023 papers/report.pdf -")]
pub(crate) struct GetArgs {
    /// Its name (bucket/key), or its id
    #[arg(value_parser = values::target)]
    target: Target,
    /// The file that it is written to; '-' is the standard output
    file: Option<PathBuf>,
    /// Only these bytes: FIRST-LAST, FIRST- or -COUNT
    #[arg(long, value_name = "RANGE", value_parser = values::range, allow_hyphen_values = true)]
    range: Option<ByteRange>,
    #[command(flatten)]
    common: Common,
}

pub(crate) async fn run(args: GetArgs) -> Result<(), Failed> {
    let path = match &args.file {
        Some(path) => path.clone(),
        None if std::io::stdout().is_terminal() => {
            let text = "the standard output is a terminal; give a file, or '-' for the terminal";
            return Err(Usage(text.to_owned()).into());
        }
        None => PathBuf::from("-"),
    };
    let client = args.common.server.client()?;
    let mut got = client.get(args.target.clone(), args.range).await?;
    let mut output = files::Output::create(&path).await?;
    let to_terminal = path == Path::new("-") && std::io::stdout().is_terminal();
    let quiet = args.common.quiet || to_terminal;
    let progress = Progress::new(&args.target.to_string(), Some(got.content.left()), quiet);
    while let Some(piece) = got.content.next().await? {
        output.write(&piece).await?;
        progress.add(piece.len() as u64);
    }
    progress.end();
    output.finish().await
}
