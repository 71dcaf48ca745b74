//! The store by itself.

use std::sync::Arc;
use std::sync::mpsc::channel;

use afterbay_edge_link::{Limits, SiteKey};
use afterbay_test_form::PATIENCE;

use super::*;
use crate::options::{Input, Link};

fn options(folder: &Path, clock: fn() -> SystemTime) -> AgentOptions {
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
        clock,
    }
}

fn commit(store: &Store) {
    let part = Part { watermark: 1, payload: b"[1]\n".to_vec() };
    let progress = Progress {
        parts: vec![part],
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
    let store = Arc::new(Store::open(&options(folder.path(), SystemTime::now)).unwrap());
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

#[test]
fn a_clock_that_was_never_set_says_no_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let long_ago = || UNIX_EPOCH + Duration::from_secs(90);
    let store = Store::open(&options(folder.path(), long_ago)).unwrap();
    commit(&store);
    assert_eq!(store.place(), (0, 0));
    store.set_epoch(7).unwrap();
    let (_, frame) = store.read(&mut store.cursor(0)).unwrap();
    assert_eq!(Frame::decode(&frame.unwrap()).unwrap().epoch, 7);
    drop(store);
    let store = Store::open(&options(folder.path(), SystemTime::now)).unwrap();
    assert_eq!(store.place(), (7, 0));
    let other = tempfile::tempdir().unwrap();
    let store = Store::open(&options(other.path(), SystemTime::now)).unwrap();
    assert!(store.place().0 > CLOCK_MIN_MS);
}

#[test]
fn what_was_acknowledged_is_known_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), SystemTime::now);
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
