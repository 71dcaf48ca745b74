//! Files, and the standard input and output.

use std::path::{Path, PathBuf};

use afterbay_blob_router::SourceStream;
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::Failed;
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
        return Err(format!(
            "{}: is a directory; 'tar c DIR | ... put -' stores one",
            path.display()
        )
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

/// A file that is there only when all of it was written, or the standard output (`-`).
pub(crate) struct Output {
    to: Box<dyn AsyncWrite + Send + Unpin>,
    names: Option<(PathBuf, PathBuf)>,
}

impl Output {
    pub(crate) async fn create(path: &Path) -> Result<Self, Failed> {
        if path == Path::new("-") {
            return Ok(Output { to: Box::new(tokio::io::stdout()), names: None });
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file =
            tokio::fs::File::create(&part).await.map_err(|e| format!("{}: {e}", part.display()))?;
        Ok(Output { to: Box::new(file), names: Some((part, path.to_owned())) })
    }

    pub(crate) async fn write(&mut self, piece: &Bytes) -> Result<(), Failed> {
        Ok(self.to.write_all(piece).await?)
    }

    pub(crate) async fn finish(mut self) -> Result<(), Failed> {
        self.to.flush().await?;
        if let Some((part, path)) = self.names.take() {
            tokio::fs::rename(&part, &path)
                .await
                .map_err(|e| format!("{}: {e}", path.display()))?;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((part, _)) = &self.names {
            // A part of a blob is none.
            let _ = std::fs::remove_file(part);
        }
    }
}
