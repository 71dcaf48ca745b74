//! `get`.

use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use afterbay_blob_client::Target;
use afterbay_blob_router::ByteRange;
use clap::Args;
use serde_json::json;

use super::client::Usage;
use super::progress::Progress;
use super::{Common, Failed, files, get_tree, print_json, tree, values};

/// Arguments of `get`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay blob get papers/report.pdf copy.pdf\n  \
    afterbay blob get papers/report.pdf .        (report.pdf)\n  \
    afterbay blob get papers/report.pdf | less\n  \
    afterbay blob get --range 0-1023 papers/report.pdf -\n  \
    afterbay blob get papers/2026/ copies --recursive\n  \
    afterbay blob get papers copies --recursive  (all of the bucket)\n\
    With --recursive, a key is the path of a file in DIR, and what is there already is replaced. Keys that are no such path ('..', \
    an empty part) fail by themselves, and so does 'a' beside 'a/b'. Empty objects whose key ends with '/' are passed over.")]
pub(crate) struct GetArgs {
    /// Its name (bucket/key), or its id; with --recursive, a bucket or a prefix (bucket/prefix/)
    target: String,
    /// The file that it is written to, or the directory: its name is the key's last part then, or the id; '-' is the standard output.
    /// Directories above it are made
    file: Option<PathBuf>,
    /// Only these bytes: FIRST-LAST, FIRST- or -COUNT
    #[arg(long, value_name = "RANGE", value_parser = values::range, allow_hyphen_values = true)]
    range: Option<ByteRange>,
    /// All names below a prefix, or in a bucket, into a directory, which is made if there is none
    #[arg(long, short, conflicts_with = "range")]
    recursive: bool,
    /// So many at once, with --recursive
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(super) jobs: u8,
    #[command(flatten)]
    pub(super) common: Common,
}

impl GetArgs {
    fn path(&self) -> Result<PathBuf, Usage> {
        match &self.file {
            Some(path) => Ok(path.clone()),
            None if std::io::stdout().is_terminal() => {
                let text =
                    "the standard output is a terminal; give a file, or '-' for the terminal";
                Err(Usage(text.to_owned()))
            }
            None => Ok(PathBuf::from("-")),
        }
    }

    fn folder(&self) -> Result<PathBuf, Usage> {
        let file = self.file.clone().filter(|path| path != Path::new("-"));
        let folder =
            file.ok_or_else(|| Usage("--recursive needs a directory to write to".to_owned()))?;
        if folder.exists() && !folder.is_dir() {
            return Err(Usage(format!("{} is no directory", folder.display())));
        }
        Ok(folder)
    }
}

pub(crate) async fn run(args: GetArgs) -> Result<(), Failed> {
    if args.recursive {
        let from = values::place(&args.target).map_err(Usage)?;
        let to = args.folder()?;
        return get_tree::run(args, from, to).await;
    }
    let target = values::target_not_place(&args.target).map_err(Usage)?;
    let path = in_directory(args.path()?, &target).map_err(Usage)?;
    let client = args.common.server.client()?;
    let got = client.get(target.clone(), args.range).await?;
    let to_stdout = path == Path::new("-");
    let quiet = args.common.quiet || to_stdout && std::io::stdout().is_terminal();
    let progress = Progress::new(&target.to_string(), Some(got.content.left()), quiet);
    if let Some(folder) = path.parent() {
        files::make_folder(folder).await?;
    }
    let bytes = files::write_all(got.content, &path, &progress).await;
    progress.end();
    let bytes = bytes?;
    if args.common.json && !to_stdout {
        let file = path.display().to_string();
        print_json(&json!({ "target": target.to_string(), "file": file, "bytes": bytes }))?;
    }
    Ok(())
}

/// The file that is written: in a directory, it has the last part of the key as its name, or the id.
fn in_directory(path: PathBuf, target: &Target) -> Result<PathBuf, String> {
    if !path.as_os_str().as_bytes().ends_with(b"/") && !path.is_dir() {
        return Ok(path);
    }
    let name = match target {
        Target::Id(id) => id.to_string(),
        Target::Name(name) => {
            let file = tree::file_name_of(&name.key);
            file.map_err(|reason| format!("{name}: {reason}"))?.to_owned()
        }
    };
    Ok(path.join(name))
}
