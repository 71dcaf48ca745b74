//! The store by itself.

use std::sync::mpsc::channel;
use std::time::{SystemTime, UNIX_EPOCH};

use afterbay_edge_link::{Limits, SiteKey};
use afterbay_test_form::PATIENCE;

use super::*;
use crate::options::{Input, Link};

fn options(folder: &Path) -> AgentOptions {
    let roots = rustls::RootCertStore::empty();
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ));
    let tls = tls.with_safe_default_protocol_versions().unwrap();
    let tls = tls.with_root_certificates(roots).with_no_client_auth();
    AgentOptions {
        site: "dev1".to_owned(),
        stream: "rows".to_owned(),
        input: Input::Pipe,
        sequence: None,
        publish: None,
        data: folder.to_owned(),
        link: Link {
            address: "localhost:1".to_owned(),
            name: "localhost".try_into().unwrap(),
            tls: Arc::new(tls),
            key: SiteKey { access: String::new(), secret: String::new() },
            limits: Limits::default(),
        },
        settings: afterbay_edge_exec::Settings::default(),
        fingerprint: 1,
        linger: Duration::ZERO,
        outbox_bytes: 1 << 20,
        outbox_age: Duration::from_secs(60),
        when_full: WhenFull::Hold,
        accept_gap: None,
    }
}

fn commit(store: &Store) {
    commit_row(store, b"[1]\n");
}

fn commit_row(store: &Store, row: &[u8]) {
    let part = Part { watermark: 1, payload: row.to_vec() };
    let progress = Progress {
        parts: vec![part],
        published: None,
        kept: Kept::default(),
        merged: 0,
        rows: 1,
        watermark: 1,
        finished: false,
        place: crate::state::Place::default(),
        input: Vec::new(),
        run: Vec::new(),
    };
    assert!(store.commit(&progress).unwrap());
}

/// Who commits holds the store for as long as a disk takes.
#[test]
fn a_status_waits_for_no_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::open(&options(folder.path())).unwrap());
    commit(&store);
    store.acknowledge(1).unwrap();
    let held = store.lock();
    let (said, hears) = channel();
    let other = store.clone();
    std::thread::spawn(move || {
        // Who hears it waits for it.
        let _ = said.send(other.status());
    });
    let status = hears.recv_timeout(PATIENCE).expect("a status while a commit is under way");
    drop(held);
    assert_eq!((status.next, status.acknowledged, status.rows), (1, 1, 1));
}

/// No clock of a site is believed: one that was ahead for a while would fence every folder that is made later.
#[test]
fn a_new_folder_has_the_epoch_that_the_gateway_says() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&options(folder.path())).unwrap();
    commit(&store);
    assert_eq!(store.place(), (0, 0));
    store.set_epoch(7).unwrap();
    commit(&store);
    let mut cursor = store.cursor(0);
    for _ in 0..2 {
        let (_, frame) = store.read(&mut cursor).unwrap();
        assert_eq!(Frame::decode(&frame.unwrap()).unwrap().epoch, 7);
    }
    drop(store);
    let store = Store::open(&options(folder.path())).unwrap();
    assert_eq!(store.place(), (7, 0));
}

#[test]
fn what_was_acknowledged_is_known_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let store = Store::open(&options).unwrap();
    (0..3).for_each(|_| commit(&store));
    store.acknowledge(1).unwrap();
    commit(&store);
    drop(store);
    let store = Store::open(&options).unwrap();
    assert_eq!(store.place().1, 1, "with the next commit");
    store.acknowledge(2).unwrap();
    store.remember();
    drop(store);
    assert_eq!(Store::open(&options).unwrap().place().1, 2, "and at the end");
}

/// A device without a battery writes in 1970, and is told later what time it is.
#[test]
fn a_clock_that_is_set_makes_nothing_too_old() {
    let folder = tempfile::tempdir().unwrap();
    let options = AgentOptions { when_full: WhenFull::DropOldest, ..options(folder.path()) };
    let mut store = Store::open(&options).unwrap();
    commit(&store);
    let path = folder.path().join("outbox/00000000000000000000.log");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let hour = Duration::from_secs(3600);
    for (written, gaps) in [(UNIX_EPOCH + hour, 0), (SystemTime::now() - hour, 1)] {
        file.set_modified(written).unwrap();
        store.drop_old().unwrap();
        assert_eq!(store.status().gaps, 0, "what this process has written is young");
        drop(store);
        store = Store::open(&options).unwrap();
        store.drop_old().unwrap();
        assert_eq!(store.status().gaps, gaps, "{written:?}");
    }
}

/// Else a gateway that has lost what is behind the gap would not be refused: the site would say that it was told less.
#[test]
fn a_gap_that_was_acknowledged_hides_nothing_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let options = AgentOptions {
        when_full: WhenFull::DropOldest,
        outbox_bytes: 64 << 10,
        ..options(folder.path())
    };
    let store = Store::open(&options).unwrap();
    let row = format!("[\"{}\"]\n", "x".repeat(3000));
    while store.status().gaps < 2 {
        commit_row(&store, row.as_bytes());
    }
    let Gap { from, to, .. } = store.state().gap.unwrap();
    assert!(from == 0 && to > 0);
    drop(store);
    let store = Store::open(&options).unwrap();
    assert_eq!(store.place().1, 0, "nobody has acknowledged anything");
    let next = store.state().position;
    assert!(next > to + 4, "{to}..{next}");
    assert!(store.acknowledge(next - 1).unwrap());
    // Killed: no commit has said that the gap is known.
    drop(store);
    let store = Store::open(&options).unwrap();
    let (_, acknowledged) = store.place();
    assert!(acknowledged > to && acknowledged < next, "{acknowledged}");
    assert_eq!(store.state().gap, None);
}
