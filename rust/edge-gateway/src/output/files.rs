//! An output in files: `FOLDER/TOPIC/00000.ndjson` for each partition.
//!
//! ```text
//!   commit: rows -> files, sync, new names, sync -> a line of FOLDER/progress, sync -> acknowledged
//! ```
//! A line of `progress` is a checksum (CRC32C, eight digits) and JSON: how long each file is that has changed, and records that
//! have. Who opens the folder cuts each file where the last line has it. So rows that no line counts have never been there, and
//! `progress` is the only thing that has to be written in one. A last line that is not right was never synced, and goes. If a
//! line behind it is right, the file is damaged, and nothing is cut: rows would go that were acknowledged.
//!
//! # A sync that fails
//! The system takes what it could not write for written, keeps it in its cache, and a second sync succeeds. So the output is given
//! up ([`GatewayError::Sync`]). Who opens it reads `progress`, which may be in the cache alone, and writes all of it into a new
//! file before anything is acknowledged; rows behind the last commit are cut off, and written anew.
//!
//! `00000.committed` is for readers: bytes of `00000.ndjson` that stay, whatever happens.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::disk::{Disk, RealDisk, SyncPoint};
use super::{Output, topic};
use crate::error::{GatewayError, Result};
use crate::merge::{Refused, Row};

const PROGRESS: &str = "progress";
const PROGRESS_NEW: &str = "progress.new";
const LOCK: &str = "lock";
/// Bytes of `progress` from which on one line takes the place of all.
const PROGRESS_BYTES_MAX: u64 = 4 << 20;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Commit {
    files: BTreeMap<String, u64>,
    records: BTreeMap<String, String>,
}

/// See the module.
#[derive(Debug)]
pub struct FileOutput {
    folder: PathBuf,
    prefix: String,
    disk: Box<dyn Disk>,
    /// What all commits together say.
    whole: Commit,
    files: BTreeMap<String, Arc<File>>,
    progress: Option<Arc<File>>,
    progress_bytes: u64,
    /// A sync that failed.
    failed: Option<GatewayError>,
    /// Held as long as it lives.
    _lock: File,
}

impl FileOutput {
    /// In this folder, which is made if it is not there.
    ///
    /// # Errors
    /// It cannot be written, or another process has it.
    pub fn open(folder: &Path, prefix: &str) -> Result<Self> {
        Self::open_on(folder, prefix, Box::new(RealDisk))
    }

    /// The same, on a disk of tests.
    #[doc(hidden)]
    pub fn open_on(folder: &Path, prefix: &str, disk: Box<dyn Disk>) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
        let path = folder.join(LOCK);
        let options = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = options.map_err(failed(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let reason = "another gateway writes here".to_owned();
                return Err(GatewayError::File { path: folder.to_owned(), reason });
            }
            Err(TryLockError::Error(error)) => return Err(failed(&path)(error)),
        }
        Ok(Self {
            folder: folder.to_owned(),
            prefix: prefix.to_owned(),
            disk,
            whole: Commit::default(),
            files: BTreeMap::new(),
            progress: None,
            progress_bytes: 0,
            failed: None,
            _lock: lock,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn sync_folder(&mut self, folder: &Path) -> Result<()> {
        let file = File::open(folder).map_err(failed(folder))?;
        self.sync(SyncPoint::Names, folder, &file)
    }

    fn sync(&mut self, point: SyncPoint, path: &Path, file: &File) -> Result<()> {
        self.disk.sync(point, path, file).map_err(|error| {
            let error = GatewayError::Sync { path: path.to_owned(), reason: error.to_string() };
            self.failed = Some(error.clone());
            error
        })
    }

    /// After a sync that failed, nothing more is done.
    fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Opens a file of rows, and says whether it is new.
    fn file(&mut self, name: &str) -> Result<bool> {
        if self.files.contains_key(name) {
            return Ok(false);
        }
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed(parent))?;
        }
        let file =
            OpenOptions::new().create(true).append(true).open(&path).map_err(failed(&path))?;
        self.files.insert(name.to_owned(), Arc::new(file));
        Ok(!self.whole.files.contains_key(name))
    }

    /// Writes rows, and returns how long their files are with them.
    fn write(&mut self, rows: &[Row]) -> Result<BTreeMap<String, u64>> {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for row in rows {
            let name = format!("{}/{:05}.ndjson", topic(&self.prefix, row), row.partition);
            let text = texts.entry(name).or_default();
            text.push_str(&row.json);
            text.push('\n');
        }
        let mut lengths = BTreeMap::new();
        let mut new = BTreeSet::new();
        for (name, text) in texts {
            if self.file(&name)? {
                new.extend(self.path(&name).parent().map(Path::to_owned));
            }
            let path = self.path(&name);
            let Some(file) = self.files.get(&name).cloned() else { continue };
            (&*file).write_all(text.as_bytes()).map_err(failed(&path))?;
            self.sync(SyncPoint::Rows, &path, &file)?;
            let before = self.whole.files.get(&name).copied().unwrap_or(0);
            lengths.insert(name, before + text.len() as u64);
        }
        for folder in &new {
            self.sync_folder(folder)?;
        }
        if !new.is_empty() {
            self.sync_folder(&self.folder.clone())?;
        }
        Ok(lengths)
    }

    fn record(&mut self, commit: Commit) -> Result<()> {
        let path = self.path(PROGRESS);
        let line = line_of(&commit);
        let Some(file) = self.progress.clone() else {
            let reason = "the output was not opened".to_owned();
            return Err(GatewayError::File { path, reason });
        };
        (&*file).write_all(line.as_bytes()).map_err(failed(&path))?;
        self.sync(SyncPoint::Record, &path, &file)?;
        self.progress_bytes += line.len() as u64;
        self.whole.files.extend(commit.files);
        self.whole.records.extend(commit.records);
        Ok(())
    }

    /// Replaces all lines of `progress` by one.
    fn shorten(&mut self) -> Result<()> {
        let (path, new) = (self.path(PROGRESS), self.path(PROGRESS_NEW));
        let line = line_of(&self.whole);
        let mut file = File::create(&new).map_err(failed(&new))?;
        file.write_all(line.as_bytes()).map_err(failed(&new))?;
        self.sync(SyncPoint::Whole, &new, &file)?;
        std::fs::rename(&new, &path).map_err(failed(&path))?;
        self.sync_folder(&self.folder.clone())?;
        self.progress = Some(Arc::new(file));
        self.progress_bytes = line.len() as u64;
        Ok(())
    }

    /// Says to readers how long a file is, once the record that says so is safe. Nobody else reads it: it is not synced.
    fn tell(&self, name: &str, bytes: u64) -> Result<()> {
        let path = self.path(name).with_extension("committed");
        let new = path.with_extension("committed.new");
        std::fs::write(&new, format!("{bytes}\n")).map_err(failed(&new))?;
        std::fs::rename(&new, &path).map_err(failed(&path))
    }

    /// Cuts each file where the last commit has it. Files that no commit knows are emptied.
    fn cut(&mut self) -> Result<()> {
        for (name, &bytes) in &self.whole.files {
            let path = self.path(name);
            let length = std::fs::metadata(&path).map_err(failed(&path))?.len();
            if length < bytes {
                let reason = format!(
                    "{bytes} bytes of it were committed, and it has {length}: somebody has changed it, or its disk has lost what it had synced; move the folder away, and sites have to send anew"
                );
                return Err(GatewayError::File { path, reason });
            }
        }
        for name in names(&self.folder)? {
            let path = self.path(&name);
            let bytes = self.whole.files.get(&name).copied().unwrap_or(0);
            let file = OpenOptions::new().write(true).open(&path).map_err(failed(&path))?;
            file.set_len(bytes).map_err(failed(&path))?;
        }
        Ok(())
    }

    /// The same as [`tell`](Self::tell), of all files.
    fn tell_all(&self) -> Result<()> {
        names(&self.folder)?
            .iter()
            .try_for_each(|name| self.tell(name, self.whole.files.get(name).copied().unwrap_or(0)))
    }
}

impl Output for FileOutput {
    fn recover(&mut self) -> Result<BTreeMap<String, String>> {
        self.check()?;
        self.files.clear();
        self.progress = None;
        self.whole = read(&self.path(PROGRESS))?;
        self.cut()?;
        // What was read may not be safe yet, and a sync of the same file may not make it so: it is acknowledged from now on.
        self.shorten()?;
        self.tell_all()?;
        Ok(self.whole.records.clone())
    }

    fn refuses(&mut self, stream: &str) -> Option<Refused> {
        let name = format!("{}{stream}", self.prefix);
        if [PROGRESS, PROGRESS_NEW, LOCK].contains(&name.as_str()) {
            return Some(Refused::Wrong(format!(
                "stream {stream} cannot be called so: the gateway has a file {name} of its own; give the agent another --stream, or the gateway another --topic-prefix"
            )));
        }
        let path = self.path(&name);
        let is_other = path.symlink_metadata().is_ok() && !path.is_dir();
        let what = format!("{}: it is no folder; move it away", path.display());
        is_other.then_some(Refused::NotNow(what))
    }

    fn commit(&mut self, rows: &[Row], records: &[(String, String)]) -> Result<()> {
        self.check()?;
        let files = self.write(rows)?;
        let changed: Vec<(String, u64)> = files.clone().into_iter().collect();
        self.record(Commit { files, records: records.iter().cloned().collect() })?;
        if self.progress_bytes > PROGRESS_BYTES_MAX {
            self.shorten()?;
        }
        changed.iter().try_for_each(|(name, bytes)| self.tell(name, *bytes))
    }
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> GatewayError + use<> {
    let path = path.to_owned();
    move |error| GatewayError::File { path: path.clone(), reason: error.to_string() }
}

fn line_of(commit: &Commit) -> String {
    // Numbers and texts: there is nothing in them that JSON has not.
    let json = serde_json::to_string(commit).unwrap_or_default();
    format!("{:08x} {json}\n", crc_fast::crc32_iscsi(json.as_bytes()))
}

/// What all commits say.
fn read(path: &Path) -> Result<Commit> {
    let mut whole = Commit::default();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(whole),
        Err(error) => return Err(failed(path)(error)),
    };
    let mut lines = BufReader::new(file);
    // The first line that is not right: a torn end, if nothing that is right follows.
    let mut wrong = None;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let count = lines.read_until(b'\n', &mut line).map_err(failed(path))?;
        if count == 0 {
            break;
        }
        match (commit_of(&line), wrong) {
            (Some(commit), None) => {
                whole.files.extend(commit.files);
                whole.records.extend(commit.records);
            }
            (Some(_), Some(wrong)) => return Err(damaged(path, wrong)),
            (None, _) => wrong = wrong.or(Some(number)),
        }
    }
    Ok(whole)
}

fn damaged(path: &Path, line: u64) -> GatewayError {
    let reason = format!(
        "damaged at line {line}, and commits follow: rows behind it were acknowledged. Nothing has been changed; restore the file, or move the folder away: sites go on from what they have, and rows of it stay where they are"
    );
    GatewayError::File { path: path.to_owned(), reason }
}

fn commit_of(line: &[u8]) -> Option<Commit> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (checksum, json) = line.split_at_checked(8)?;
    let json = json.strip_prefix(' ')?;
    let checksum = u32::from_str_radix(checksum, 16).ok()?;
    let right = crc_fast::crc32_iscsi(json.as_bytes()) == checksum;
    if right { serde_json::from_str(json).ok() } else { None }
}

/// Files of rows that there are.
fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let topic = entry.map_err(failed(folder))?.path();
        if !topic.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&topic).map_err(failed(&topic))? {
            let path = file.map_err(failed(&topic))?.path();
            let is_rows = path.extension().is_some_and(|extension| extension == "ndjson");
            let name = path.strip_prefix(folder).ok().and_then(Path::to_str);
            names.extend(name.filter(|_| is_rows).map(str::to_owned));
        }
    }
    Ok(names)
}
