//! Files, and the standard input and output.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use afterbay_blob_client::Content;
use afterbay_blob_router::SourceStream;
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use uuid::Uuid;

use super::Failed;
use super::client::Usage;
use super::progress::Progress;

const READ_BYTES: usize = 1 << 20;
/// Bytes of a file's name that the name of its part has: with what follows, less than the 255 that file systems allow.
const NAME_BYTES: usize = 200;

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

/// A file that is there only when all of it was written, or what is no file: the standard output (`-`), a device, a pipe.
struct Output {
    to: Box<dyn AsyncWrite + Send + Unpin>,
    names: Option<(PathBuf, PathBuf)>,
}

impl Output {
    async fn create(path: &Path) -> Result<Self, Failed> {
        if path == Path::new("-") {
            return Ok(Output { to: Box::new(tokio::io::stdout()), names: None });
        }
        // A link stays, and what it leads to is written.
        let path = tokio::fs::canonicalize(path).await.unwrap_or_else(|_| path.to_owned());
        let failed = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
        match tokio::fs::metadata(&path).await {
            Ok(there) if there.is_dir() => return Err(is_directory(&path).into()),
            Ok(there) if !there.is_file() => {
                let file = tokio::fs::OpenOptions::new().write(true).open(&path).await;
                let to = Box::new(file.map_err(|e| failed(&path, e))?);
                return Ok(Output { to, names: None });
            }
            _ => {}
        }
        let part = part_of(&path);
        let file = tokio::fs::OpenOptions::new().write(true).create_new(true).open(&part).await;
        let to = Box::new(file.map_err(|e| failed(&path, e))?);
        Ok(Output { to, names: Some((part, path)) })
    }

    async fn write(&mut self, piece: &Bytes) -> Result<(), Failed> {
        Ok(self.to.write_all(piece).await?)
    }

    async fn finish(mut self) -> Result<(), Failed> {
        self.to.flush().await?;
        if let Some((part, path)) = &self.names {
            tokio::fs::rename(part, path).await.map_err(|e| match path.is_dir() {
                true => is_directory(path),
                false => format!("{}: {e}", path.display()),
            })?;
            self.names = None;
        }
        Ok(())
    }
}

fn is_directory(path: &Path) -> String {
    format!("{} is a directory, and no file that it could be", path.display())
}

/// A name that nobody else's file has, beside the file, and no longer than names may be.
fn part_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let mut part = name[..name.len().min(NAME_BYTES)].to_vec();
    part.extend_from_slice(format!(".{}.part", Uuid::new_v4().simple()).as_bytes());
    path.with_file_name(OsStr::from_bytes(&part))
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((part, _)) = &self.names {
            // A part of a blob is none.
            let _ = std::fs::remove_file(part);
        }
    }
}
