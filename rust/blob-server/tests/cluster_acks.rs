//! How many replicas have to acknowledge a put: what it says itself, its container, or its node; of three real processes, one after the
//! other is killed.

use std::process::Output;

use crate::cluster_scrub::Three;
use crate::common::shell::Shell;
use crate::common::{Process, program};

impl Three {
    /// Puts by n1.
    fn put(&self, arguments: &[&str]) -> Output {
        std::fs::write(self.folder.path().join("file"), b"some bytes").unwrap();
        let mut command = program();
        command.args(["put", "file", "--no-name", "--key-file", "c/root-key"]);
        command.args(["--server", &self.nodes[&1].address]).args(arguments);
        command.current_dir(self.folder.path()).output().unwrap()
    }

    /// Which of these succeed.
    fn puts(&self, all: &[&[&str]]) -> Vec<bool> {
        all.iter().map(|arguments| self.put(arguments).status.success()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_put_says_how_many_have_to_acknowledge_it() {
    let mut three = Three::new();
    (1..=3).for_each(|node| three.start(node, &["--container-policy", "7=all"]));
    three.until_whole();
    let of_all: [&[&str]; 6] = [
        &["--acks", "one"],
        &[],
        &["--acks", "2"],
        &["--acks", "majority"],
        &["--acks", "all"],
        &["--container", "7"],
    ];
    assert_eq!(three.puts(&of_all), [true; 6]);
    let refused = String::from_utf8(three.put(&["--acks", "4"]).stderr).unwrap();
    assert!(
        refused.contains("4 acknowledgements: the partitions of this cluster have 3"),
        "{refused}"
    );
    three.kill(3);
    assert_eq!(three.puts(&of_all), [true, true, true, true, false, false]);
    // What it says itself is what counts.
    assert!(three.put(&["--container", "7", "--acks", "2"]).status.success());
    three.kill(2);
    assert_eq!(three.puts(&of_all), [true, false, false, false, false, false]);
    let failed = String::from_utf8(three.put(&["--acks", "majority"]).stderr).unwrap();
    assert!(failed.contains("replicas"), "{failed}");
}

#[test]
fn a_server_alone_has_one_replica() {
    let directory = tempfile::tempdir().unwrap();
    let process = Process::start(&directory.path().join("data"), &[]);
    let shell = Shell { directory, process };
    std::fs::write(shell.path("file"), b"some bytes").unwrap();
    for acks in ["one", "majority", "all"] {
        shell.root(&["put", "file", "--no-name", "--acks", acks]);
    }
    let put = ["put", "file", "--no-name", "--acks", "2"];
    let refused = shell.refused(1, "data/root-key", &put);
    assert!(refused.contains("this server has one replica of each blob"), "{refused}");
}
