//! The output in files when power goes, and when a sync fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use afterbay_edge_gateway::Row;
use afterbay_edge_gateway::output::{Disk, FileOutput, Output, SyncPoint};
use afterbay_test_form::edge_powers;

/// A disk of which only what was synced is left when power goes.
///
/// Files whose inodes it knows stay open: another file would get the number of one that has gone.
#[derive(Debug, Clone, Default)]
struct WornDisk {
    /// Bytes of each file that are safe, and names that are.
    safe: Arc<Mutex<BTreeMap<PathBuf, u64>>>,
    named: Arc<Mutex<BTreeSet<PathBuf>>>,
    ignored: Option<SyncPoint>,
    /// The next sync of this kind fails. Then the system takes what it could not write for written: no later sync of that file makes
    /// more of it safe, and all of them succeed.
    fails: Arc<Mutex<Option<SyncPoint>>>,
    lost: Arc<Mutex<BTreeMap<u64, (File, u64)>>>,
    /// The inode of `progress`.
    progress: Arc<Mutex<Option<(u64, File)>>>,
}

impl Disk for WornDisk {
    fn sync(&mut self, point: SyncPoint, path: &Path, file: &File) -> std::io::Result<()> {
        if self.ignored == Some(point) {
            return Ok(());
        }
        let (inode, safe) = (file.metadata()?.ino(), &self.safe);
        if self.fails.lock().unwrap().take_if(|one| *one == point).is_some() {
            let safe = safe.lock().unwrap().get(path).copied().unwrap_or(0);
            self.lost.lock().unwrap().insert(inode, (file.try_clone()?, safe));
            return Err(std::io::Error::other("the disk is worn"));
        }
        if point == SyncPoint::Names {
            self.look_at_progress(path);
            let entries = std::fs::read_dir(path)?;
            self.named.lock().unwrap().extend(entries.map(|entry| entry.unwrap().path()));
        } else {
            let length = file.metadata()?.len();
            let length = self.lost.lock().unwrap().get(&inode).map_or(length, |lost| lost.1);
            safe.lock().unwrap().insert(path.to_owned(), length);
        }
        Ok(())
    }
}

impl WornDisk {
    /// The record that replaces all others has its bytes under another name first: what is safe goes along.
    fn look_at_progress(&self, folder: &Path) {
        let (progress, new) = (folder.join("progress"), folder.join("progress.new"));
        let Ok(file) = File::open(&progress) else { return };
        let inode = file.metadata().unwrap().ino();
        let before = self.progress.lock().unwrap().replace((inode, file));
        if before.is_none_or(|(before, _)| before != inode) {
            let mut safe = self.safe.lock().unwrap();
            let bytes = safe.remove(&new).unwrap_or(0);
            safe.insert(progress, bytes);
        }
    }

    /// Power goes: of what was not synced, `luck` decides how much is left.
    fn lose_power(&self, folder: &Path, luck: &mut impl FnMut(u64) -> u64) {
        let mut safe = self.safe.lock().unwrap();
        let mut named = self.named.lock().unwrap();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.file_name().unwrap().to_str().unwrap();
                // What readers have read stays read.
                if name == "lock" || name.contains("committed") {
                    continue;
                }
                let is_named = named.contains(&path)
                    && named.contains(&path.parent().unwrap().to_owned())
                    || (path.parent() == Some(folder.as_path()) && named.contains(&path));
                if !is_named && luck(2) == 0 {
                    std::fs::remove_file(&path).unwrap();
                    named.remove(&path);
                    safe.remove(&path);
                    continue;
                }
                let length = std::fs::metadata(&path).unwrap().len();
                let least = safe.get(&path).copied().unwrap_or(0).min(length);
                let left = least + luck(length - least + 1);
                File::options().write(true).open(&path).unwrap().set_len(left).unwrap();
            }
        }
    }
}

/// A file that is new has nothing to do with one that has gone, whatever number the file system gives it.
#[test]
fn what_was_lost_of_a_file_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    let mut disk = WornDisk::default();
    *disk.fails.lock().unwrap() = Some(SyncPoint::Rows);
    disk.sync(SyncPoint::Rows, &path, &File::create(&path).unwrap()).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    for number in 0..20 {
        let path = folder.path().join(number.to_string());
        std::fs::write(&path, "new").unwrap();
        disk.sync(SyncPoint::Rows, &path, &File::open(&path).unwrap()).unwrap();
        assert_eq!(disk.safe.lock().unwrap()[&path], 3, "file {number}");
    }
}

/// Commits rows, loses power at a random moment, and goes on. Whether every row of a commit that was done is there, once.
fn survives(seed: u64, ignored: Option<SyncPoint>) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut luck = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let disk = WornDisk { ignored, ..WornDisk::default() };
    let mut done: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let mut next = 0;
    for _ in 0..4 {
        let Ok(mut output) = FileOutput::open_on(&path, "t-", Box::new(disk.clone())) else {
            return false;
        };
        let Ok(records) = output.recover() else { return false };
        // The record says how far it is: never less than was done, and rows are of it.
        let number = records.get("next").map_or(0, |text| text.parse().unwrap());
        if number != next {
            return false;
        }
        for _ in 0..luck(5) {
            let rows: Vec<Row> = (0..luck(20))
                .map(|_| {
                    next += 1;
                    let partition = luck(2) as u32;
                    done.entry(partition).or_default().push(next);
                    let json = format!("{{\"x\":{next}}}");
                    Row { stream: "rows".to_owned(), late: false, partition, json }
                })
                .collect();
            output.commit(&rows, &[("next".to_owned(), next.to_string())]).unwrap();
        }
        drop(output);
        disk.lose_power(&path, &mut luck);
    }
    let Ok(mut output) = FileOutput::open_on(&path, "t-", Box::new(disk)) else { return false };
    if output.recover().is_err() {
        return false;
    }
    done.iter().all(|(partition, rows)| {
        let text = std::fs::read_to_string(path.join(format!("t-rows/{partition:05}.ndjson")));
        let found = text.unwrap_or_default();
        let found = found
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["x"].as_u64());
        found.collect::<Option<Vec<u64>>>().as_ref() == Some(rows)
    })
}

#[test]
fn what_is_committed_survives_a_loss_of_power() {
    for seed in 0..edge_powers() {
        assert!(survives(seed, None), "seed {seed}");
    }
}

/// The controls: each sync that is left out must be noticed.
#[test]
fn each_sync_is_needed() {
    // The record of a long log replaces it only after megabytes: it is looked at below.
    for point in SyncPoint::ALL.into_iter().filter(|point| *point != SyncPoint::Whole) {
        let noticed = (0..500).any(|seed| !survives(seed, Some(point)));
        assert!(noticed, "nobody noticed that {point:?} was left out");
    }
}

/// Whether a record that replaced a long log is there when power goes.
fn long_log_survives(ignored: Option<SyncPoint>) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let disk = WornDisk { ignored, ..WornDisk::default() };
    let mut output = FileOutput::open_on(folder.path(), "", Box::new(disk.clone())).unwrap();
    output.recover().unwrap();
    let long = "x".repeat(1 << 20);
    for number in 0..4 {
        output.commit(&[], &[("long".to_owned(), format!("{number}{long}"))]).unwrap();
    }
    let length = std::fs::metadata(folder.path().join("progress")).unwrap().len();
    assert!(length < 2 << 20, "one line took the place of all");
    drop(output);
    disk.lose_power(folder.path(), &mut |_| 0);
    let mut output = FileOutput::open(folder.path(), "").unwrap();
    output
        .recover()
        .is_ok_and(|records| records.get("long").is_some_and(|text| text.starts_with('3')))
}

#[test]
fn a_long_log_is_replaced_safely() {
    assert!(long_log_survives(None));
    assert!(!long_log_survives(Some(SyncPoint::Whole)), "nobody noticed");
}

/// Rows of a partition, and what the record says of them.
fn batch(numbers: std::ops::Range<u64>) -> (Vec<Row>, Vec<(String, String)>) {
    let row = |x: u64| Row {
        stream: "rows".into(),
        late: false,
        partition: 0,
        json: format!("{{\"x\":{x}}}"),
    };
    (numbers.clone().map(row).collect(), vec![("next".into(), numbers.end.to_string())])
}

/// After a sync that failed, the cache has what the disk has not, and says that all is well.
#[test]
fn after_a_sync_that_failed_nothing_is_believed() {
    for point in [SyncPoint::Rows, SyncPoint::Record, SyncPoint::Names] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let disk = WornDisk::default();
        let mut output = FileOutput::open_on(&path, "", Box::new(disk.clone())).unwrap();
        output.recover().unwrap();
        let is_first = point == SyncPoint::Names;
        let done = if is_first { 0 } else { 5 };
        let (rows, records) = batch(0..done);
        if !is_first {
            output.commit(&rows, &records).unwrap();
        }
        *disk.fails.lock().unwrap() = Some(point);
        let (rows, records) = batch(done..9);
        let error = output.commit(&rows, &records).unwrap_err();
        assert!(error.is_final(), "{error}");
        assert!(error.to_string().contains("a sync failed (the disk is worn)"), "{error}");
        // Neither this one goes on, nor one that is opened anew in the same process.
        assert!(output.commit(&rows, &records).unwrap_err().is_final());
        assert!(output.recover().unwrap_err().is_final());
        drop(output);
        // Another process goes on, and what it acknowledges is safe.
        let mut output = FileOutput::open_on(&path, "", Box::new(disk.clone())).unwrap();
        let records = output.recover().unwrap();
        let next: u64 = records.get("next").map_or(0, |text| text.parse().unwrap());
        assert!(next == done || next == 9, "{point:?}: {next}");
        if point != SyncPoint::Rows {
            disk.lose_power(&path, &mut |_| 0);
        } else {
            // Its file is cut, and what is written then is new to the disk.
            disk.lost.lock().unwrap().clear();
        }
        drop(output);
        let mut output = FileOutput::open_on(&path, "", Box::new(disk.clone())).unwrap();
        let records = output.recover().unwrap();
        assert_eq!(records.get("next").map_or(0, |text| text.parse().unwrap()), next, "{point:?}");
        let (rows, records) = batch(next..12);
        output.commit(&rows, &records).unwrap();
        disk.lose_power(&path, &mut |_| 0);
        drop(output);
        let mut output = FileOutput::open_on(&path, "", Box::new(disk)).unwrap();
        assert_eq!(output.recover().unwrap()["next"], "12", "{point:?}");
        let text = std::fs::read_to_string(path.join("rows/00000.ndjson")).unwrap();
        assert_eq!(text.lines().count(), 12, "{point:?}");
    }
}

/// Who reads along has read so far: none of it may be taken back, also if a record that was only in the cache is lost.
#[test]
fn readers_are_told_only_what_is_safe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let disk = WornDisk::default();
    let rows_path = path.join("rows/00000.ndjson");
    let told = || -> u64 {
        let text = std::fs::read_to_string(rows_path.with_extension("committed")).unwrap();
        text.trim_end().parse().unwrap()
    };
    let mut output = FileOutput::open_on(&path, "", Box::new(disk.clone())).unwrap();
    output.recover().unwrap();
    let (rows, records) = batch(0..5);
    output.commit(&rows, &records).unwrap();
    let safe = told();
    *disk.fails.lock().unwrap() = Some(SyncPoint::Record);
    let (rows, records) = batch(5..9);
    output.commit(&rows, &records).unwrap_err();
    drop(output);
    // The next process finds the record in the cache, cannot make it safe either, and power goes.
    *disk.fails.lock().unwrap() = Some(SyncPoint::Whole);
    let mut output = FileOutput::open_on(&path, "", Box::new(disk.clone())).unwrap();
    output.recover().unwrap_err();
    drop(output);
    assert!(std::fs::metadata(&rows_path).unwrap().len() > safe, "the cache has more");
    assert_eq!(told(), safe);
    disk.lose_power(&path, &mut |_| 0);
    let mut output = FileOutput::open_on(&path, "", Box::new(disk)).unwrap();
    assert_eq!(output.recover().unwrap()["next"], "5");
    assert_eq!((std::fs::metadata(&rows_path).unwrap().len(), told()), (safe, safe));
}
