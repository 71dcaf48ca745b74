//! Commands beside a server, as somebody types them.

use std::path::PathBuf;
use std::process::Output;

use tempfile::TempDir;

use super::{Process, program};

/// A server with its data in `data` of a directory, in which the commands run.
pub struct Shell {
    pub directory: TempDir,
    pub process: Process,
}

impl Shell {
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A command with the key of a file in the directory.
    pub fn run_as(&self, key: &str, arguments: &[&str]) -> Output {
        program()
            .args(arguments)
            .env("AFTERBAY_BLOB_SERVER", &self.process.address)
            .env("AFTERBAY_BLOB_KEY_FILE", self.path(key))
            .current_dir(self.directory.path())
            .output()
            .unwrap()
    }

    /// What a command prints with the root key.
    pub fn root(&self, arguments: &[&str]) -> String {
        let output = self.run_as("data/root-key", arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command says that ends with this exit code.
    pub fn refused(&self, code: i32, key: &str, arguments: &[&str]) -> String {
        let output = self.run_as(key, arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        text
    }
}
