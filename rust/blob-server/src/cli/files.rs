//! Files, and the standard input and output.

use std::path::Path;

use afterbay_blob_client::Content;
use afterbay_blob_router::SourceStream;
use bytes::BytesMut;
use futures_util::{StreamExt, stream};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::Failed;
use super::client::Usage;
use super::output::Output;
use super::progress::Progress;

const READ_BYTES: usize = 1 << 20;

/// A file to be put, or the standard input (`-`); and its length, if that is known.
pub(crate) async fn open(
    path: &Path,
) -> Result<(Box<dyn AsyncRead + Send + Unpin>, Option<u64>), Failed> {
    if path == Path::new("-") {
        return Ok((Box::new(tokio::io::stdin()), None));
    }
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    let file = tokio::fs::File::open(path).await.map_err(failed)?;
    let metadata = file.metadata().await.map_err(failed)?;
    if metadata.is_dir() {
        return Err(Usage(format!(
            "{0} is a directory; --recursive stores its files, one by one ('tar c {0} | ... put -' stores it as one blob)",
            path.display()
        ))
        .into());
    }
    let length = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(file), length))
}

/// What is read, piece by piece.
pub(crate) fn stream_of(
    from: Box<dyn AsyncRead + Send + Unpin>,
    progress: Progress,
) -> SourceStream {
    stream::unfold(Some((from, progress)), |state| async {
        let (mut from, progress) = state?;
        let mut buffer = BytesMut::with_capacity(READ_BYTES);
        match from.read_buf(&mut buffer).await {
            Ok(0) => None,
            Ok(count) => {
                progress.add(count as u64);
                Some((Ok(buffer.freeze()), Some((from, progress))))
            }
            Err(error) => Some((Err(error.into()), None)),
        }
    })
    .boxed()
}

/// Makes a directory and those above it.
pub(crate) async fn make_folder(folder: &Path) -> Result<(), Failed> {
    let Err(error) = tokio::fs::create_dir_all(folder).await else { return Ok(()) };
    let file = folder.ancestors().find(|path| path.exists() && !path.is_dir());
    Err(match file {
        Some(file) => format!("{} is a file, and no directory that it could go to", file.display()),
        None => format!("{}: {error}", folder.display()),
    }
    .into())
}

/// Writes what is read into a file, or to the standard output (`-`): how many bytes.
pub(crate) async fn write_all(
    mut content: Content,
    path: &Path,
    progress: &Progress,
) -> Result<u64, Failed> {
    let mut output = Output::create(path).await?;
    let mut bytes = 0;
    while let Some(piece) = content.next().await? {
        output.write(&piece).await?;
        progress.add(piece.len() as u64);
        bytes += piece.len() as u64;
    }
    output.finish().await?;
    Ok(bytes)
}
