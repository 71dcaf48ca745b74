//! Programs that a machine may have, or that `tests/programs/fetch` got.

use std::path::{Path, PathBuf};

/// Where programs are.
#[derive(Debug)]
pub(crate) struct Installed {
    folder: PathBuf,
    libraries: Option<PathBuf>,
}

impl Installed {
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// So that they find their libraries, which are not installed.
    pub(crate) fn environment(&self) -> Option<(&'static str, PathBuf)> {
        self.libraries.clone().map(|libraries| ("LD_LIBRARY_PATH", libraries))
    }
}

/// Where `tests/programs/fetch` unpacks for `./afterbay test`.
fn fetched() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/net-programs")
}

/// redis, if there is one.
pub(crate) fn redis() -> Option<Installed> {
    let name = "redis-server";
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(folder) = std::env::split_paths(&path).find(|folder| folder.join(name).exists()) {
        return Some(Installed { folder, libraries: None });
    }
    let folder = fetched().join("root/usr/bin");
    if !folder.join(name).exists() {
        println!(
            "not run: there is no redis-server; rust/net/tests/programs/fetch rust/target/net-programs gets it"
        );
        return None;
    }
    let libraries = std::fs::read_dir(fetched().join("root/usr/lib")).ok()?;
    let libraries = libraries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let libraries = libraries.filter(|path| path.join("libjemalloc.so.2").exists()).last();
    Some(Installed { folder, libraries })
}

/// CPython's own tests, if they are there: what goes into `PYTHONPATH`.
pub(crate) fn python_suite() -> Option<PathBuf> {
    let suite = fetched().join("suite");
    if suite.join("test/test_socket.py").exists() {
        return Some(suite);
    }
    println!(
        "not run: CPython's tests are not here; rust/net/tests/programs/fetch rust/target/net-programs gets them"
    );
    None
}
