//! The contract of the blob service, over a store in memory that fails on demand.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use afterbay_blob_format::crc32c_of;
use afterbay_blob_router::testing::{MemoryStore, Request};
use afterbay_blob_router::{
    BlobId, BlobService, ByteRange, Durability, Error, Properties, PropertyClass, PutOptions,
    Router, RouterOptions, SourceStream, source,
};
use afterbay_test_form::{PATIENCE, Wait};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::Semaphore;

const CHUNK: usize = 1000;

fn small() -> RouterOptions {
    RouterOptions {
        chunk_bytes: CHUNK as u32,
        piece_bytes: 300,
        memory_bytes: 64 << 10,
        ..RouterOptions::default()
    }
}

fn router(options: RouterOptions) -> (Arc<MemoryStore>, Router) {
    let store = Arc::new(MemoryStore::default());
    (store.clone(), Router::new(store, options).unwrap())
}

fn content(length: usize) -> Bytes {
    (0..length).map(|i| (i * 7 + i / 251) as u8).collect()
}

/// In pieces of all sizes.
fn pieces(content: &Bytes) -> SourceStream {
    let mut rest = content.clone();
    let mut pieces = Vec::new();
    for size in (1..).map(|n: usize| n * 37 % 411) {
        if rest.is_empty() {
            break;
        }
        pieces.push(Ok(rest.split_to(size.min(rest.len()))));
    }
    stream::iter(pieces).boxed()
}

async fn read(router: &Router, id: BlobId, range: Option<ByteRange>) -> Bytes {
    router.get(id, range).await.unwrap().read().await.unwrap()
}

/// When no put is on its way any more, so many chunks are alive.
async fn settled(store: &MemoryStore, router: &Router, alive: usize) {
    let wait = Wait::until("no put is on its way and the right chunks are alive");
    // In this order: a chunk gives its memory back when it is stored, and may be deleted then.
    while router.memory_free_bytes() != 64 << 10 || store.alive().len() != alive {
        wait.check((store.alive().len(), alive, router));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn only_long_blobs_go_to_the_store_for_them() {
    let (store, router) = router(small());
    let other = Arc::new(MemoryStore::default());
    let router = router.long_blobs_over(other.clone());
    router.put(pieces(&content(CHUNK)), PutOptions::default()).await.unwrap();
    assert_eq!((store.alive().len(), other.alive().len()), (1, 0));
    router.put(pieces(&content(CHUNK + 1)), PutOptions::default()).await.unwrap();
    assert_eq!((store.alive().len(), other.alive().len()), (1, 3));
}

#[tokio::test]
async fn blobs_of_all_lengths_come_back() {
    let (store, router) = router(small());
    let lengths = [0, 1, 299, 999, 1000, 1001, 1999, 2000, 2001, 10_000, 12_345];
    for length in lengths {
        let content = content(length);
        for announced in [None, Some(length as u64)] {
            let before = store.alive().len();
            let options = PutOptions { content_bytes: announced, ..PutOptions::default() };
            let put = router.put(pieces(&content), options).await.unwrap();
            assert_eq!(put.content_bytes, length as u64);
            assert_eq!(put.crc32c, crc32c_of(&[&content]));
            assert_eq!(read(&router, put.id, None).await, content, "{length}");
            let chunks = if length <= CHUNK { 1 } else { length.div_ceil(CHUNK) + 1 };
            assert_eq!(store.alive().len() - before, chunks, "{length}");
        }
    }
    assert_eq!(router.memory_free_bytes(), 64 << 10, "all memory came back");
}

#[tokio::test]
async fn ranges_of_a_composite_blob() {
    let (_, router) = router(small());
    let content = content(4321);
    let id = router.put(pieces(&content), PutOptions::default()).await.unwrap().id;
    for first in [0usize, 1, 299, 300, 999, 1000, 1500, 4320] {
        for last in [0usize, 1, 300, 999, 1000, 2999, 3000, 4319, 4320, 9999] {
            let range = ByteRange::Inclusive(first as u64, last as u64);
            if first > last {
                let error = router.get(id, Some(range)).await.unwrap_err();
                assert!(matches!(error, Error::Range { length: 4321, .. }), "{error:?}");
                continue;
            }
            let get = router.get(id, Some(range)).await.unwrap();
            let end = 4321.min(last + 1);
            assert_eq!(get.range, first as u64..end as u64);
            assert_eq!(get.info.content_bytes, 4321);
            assert_eq!(get.read().await.unwrap(), content[first..end]);
        }
    }
    assert_eq!(read(&router, id, Some(ByteRange::Last(1001))).await, content[3320..]);
    assert_eq!(read(&router, id, Some(ByteRange::From(4000))).await, content[4000..]);
}

#[tokio::test]
async fn what_is_known_about_a_blob() {
    let (store, router) = router(small());
    let properties = Properties::default()
        .with(PropertyClass::System, "content-type", "text/plain")
        .with(PropertyClass::User, ".mine", "x");
    for length in [10, 3000] {
        let options = PutOptions {
            container: 7,
            durability: Some(Durability::Paranoid),
            expires_ms: Some(u64::MAX - 1),
            properties: properties.clone(),
            ..PutOptions::default()
        };
        let put = router.put(source(content(length)), options).await.unwrap();
        let info = router.stat(put.id).await.unwrap();
        assert_eq!(info.properties, properties);
        assert_eq!((info.container, info.content_bytes), (7, length as u64));
        assert_eq!(info.expires_ms, Some(u64::MAX - 1));
    }
    for id in store.alive() {
        assert_eq!(store.stored(id), Some((Durability::Paranoid, u64::MAX - 1)));
    }
}

/// A name that survives a loss of power points to what does.
#[tokio::test]
async fn what_gets_a_name_is_durable_at_least() {
    let (store, router) = router(small());
    let fast = PutOptions { durability: Some(Durability::Fast), ..PutOptions::default() };
    let put = async |options| router.put(source(content(3000)), options).await.unwrap().id;
    let without = put(fast.clone()).await;
    let named = put(PutOptions { is_named: true, ..fast.clone() }).await;
    let paranoid = Some(Durability::Paranoid);
    let most = put(PutOptions { is_named: true, durability: paranoid, ..fast }).await;
    let class = |id| store.stored(id).unwrap().0;
    assert_eq!(class(without), Durability::Fast);
    assert_eq!(class(named), Durability::Durable);
    assert_eq!(class(most), Durability::Paranoid);
    let fast = store.alive().into_iter().filter(|id| class(*id) == Durability::Fast).count();
    assert_eq!(fast, store.alive().len() / 3, "chunks have the class of their list");
}

#[tokio::test]
async fn properties_of_the_store_are_not_the_clients() {
    let (store, router) = router(small());
    let properties = Properties::default().with(PropertyClass::System, ".composite", "");
    let options = PutOptions { properties, ..PutOptions::default() };
    let error = router.put(source("x"), options).await.unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error:?}");
    assert_eq!(store.alive(), []);
}

#[tokio::test]
async fn chunks_are_no_blobs() {
    let (store, router) = router(small());
    let id = router.put(source(content(3000)), PutOptions::default()).await.unwrap().id;
    for chunk in store.alive().into_iter().filter(|chunk| *chunk != id) {
        assert!(matches!(router.get(chunk, None).await, Err(Error::NotFound(_))));
        assert!(matches!(router.delete(chunk).await, Err(Error::NotFound(_))));
        assert!(matches!(router.update_ttl(chunk, Some(1)).await, Err(Error::NotFound(_))));
    }
    assert_eq!(read(&router, id, None).await, content(3000));
}

#[tokio::test]
async fn a_stream_that_breaks_leaves_nothing() {
    let (store, router) = router(small());
    for good in [0, 500, 1000, 5500] {
        let broken = pieces(&content(good)).chain(stream::iter([Err("unplugged".into())])).boxed();
        let error = router.put(broken, PutOptions::default()).await.unwrap_err();
        assert!(error.to_string().contains("unplugged"), "{error}");
        settled(&store, &router, 0).await;
    }
    for (announced, came) in [(10, 9), (10, 11), (5000, 4999), (5000, 5001), (0, 1)] {
        let options = PutOptions { content_bytes: Some(announced), ..PutOptions::default() };
        let error = router.put(pieces(&content(came)), options).await.unwrap_err();
        assert!(matches!(error, Error::Length { .. }), "{error:?}");
        settled(&store, &router, 0).await;
    }
    let options = PutOptions { content_bytes_max: Some(2500), ..PutOptions::default() };
    let error = router.put(pieces(&content(2501)), options).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { length_max: 2500 }), "{error:?}");
    settled(&store, &router, 0).await;
}

#[tokio::test]
async fn a_put_that_is_dropped_leaves_nothing() {
    let (store, router) = router(small());
    let endless = pieces(&content(5500)).chain(stream::pending()).boxed();
    let put = router.put(endless, PutOptions::default());
    assert!(tokio::time::timeout(Duration::from_millis(50), put).await.is_err());
    settled(&store, &router, 0).await;
}

#[tokio::test]
async fn a_put_that_fails_deletes_its_chunks() {
    for fails_at in 0..6 {
        let (store, router) = router(small());
        let puts = AtomicUsize::new(0);
        store.fail(move |request, _| {
            let fails = request == Request::Put && puts.fetch_add(1, Ordering::Relaxed) == fails_at;
            fails.then(|| Error::Damaged { place: "disk".to_owned(), reason: "bad".to_owned() })
        });
        let error = router.put(pieces(&content(4500)), PutOptions::default()).await.unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
        settled(&store, &router, 0).await;
    }
}

#[tokio::test]
async fn a_partition_that_refuses_is_left_for_another_one() {
    let (store, router) = router(small());
    store.fail(|request, id| {
        let refuses = request == Request::Put && id.partition.0 == 1;
        let reason = "read-only".to_owned();
        refuses.then_some(Error::ReadOnly { partition: id.partition, reason })
    });
    let id = router.put(pieces(&content(4500)), PutOptions::default()).await.unwrap().id;
    assert_eq!(read(&router, id, None).await, content(4500));
    assert!(store.alive().iter().all(|chunk| chunk.partition.0 == 2));
    store.fail(|request, id| {
        let reason = "read-only".to_owned();
        (request == Request::Put).then_some(Error::ReadOnly { partition: id.partition, reason })
    });
    let error = router.put(source("x"), PutOptions::default()).await.unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
}

/// The list may be there all the same. A second one would have the same chunks, which go with whichever of them is garbage.
#[tokio::test]
async fn a_list_that_may_be_written_is_not_written_again() {
    for (refuses, puts_expected) in [(false, 6), (true, 7)] {
        let (store, router) = router(small());
        let puts = Arc::new(AtomicUsize::new(0));
        let counted = puts.clone();
        store.fail(move |request, id| {
            let is_first_list =
                request == Request::Put && counted.fetch_add(1, Ordering::Relaxed) == 5;
            let (place, reason) = ("disk".to_owned(), "no".to_owned());
            is_first_list.then_some(if refuses {
                Error::ReadOnly { partition: id.partition, reason }
            } else {
                Error::Unavailable { place, reason }
            })
        });
        let put = router.put(pieces(&content(4500)), PutOptions::default()).await;
        assert_eq!(puts.load(Ordering::Relaxed), puts_expected, "{put:?}");
        match put {
            // The control: this one is certainly not there.
            Ok(put) if refuses => assert_eq!(read(&router, put.id, None).await, content(4500)),
            Err(Error::Unavailable { .. }) if !refuses => settled(&store, &router, 0).await,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn deleted_and_back() {
    let (store, router) = router(small());
    for length in [10, 4500] {
        let id = router.put(source(content(length)), PutOptions::default()).await.unwrap().id;
        let alive = store.alive().len();
        assert!(matches!(router.undelete(id).await, Err(Error::NotDeleted(_))));
        router.delete(id).await.unwrap();
        assert_eq!(store.alive(), []);
        assert!(matches!(router.get(id, None).await, Err(Error::Deleted(_))));
        router.delete(id).await.unwrap();
        router.undelete(id).await.unwrap();
        assert_eq!(store.alive().len(), alive);
        assert_eq!(read(&router, id, None).await, content(length));
        router.delete(id).await.unwrap();
        store.compact();
        assert!(matches!(router.undelete(id).await, Err(Error::NotFound(_))));
    }
}

#[tokio::test]
async fn a_blob_that_lost_a_chunk_is_not_undeleted() {
    let (store, router) = router(small());
    let id = router.put(source(content(4500)), PutOptions::default()).await.unwrap().id;
    let chunks: Vec<_> = store.alive().into_iter().filter(|chunk| *chunk != id).collect();
    router.delete(id).await.unwrap();
    let lost = chunks[2];
    store.fail(move |request, id| {
        (request == Request::Undelete && id == lost).then_some(Error::NotFound(id))
    });
    assert!(matches!(router.undelete(id).await, Err(Error::NotFound(found)) if found == id));
    assert_eq!(store.alive(), [], "no chunk comes back without its blob");
}

#[tokio::test]
async fn a_chunk_whose_delete_failed_goes_with_the_next_one() {
    let (store, router) = router(small());
    let id = router.put(source(content(4500)), PutOptions::default()).await.unwrap().id;
    store.fail(move |request, chunk| {
        let reason = "no answer".to_owned();
        (request == Request::Delete && chunk != id)
            .then(|| Error::Unavailable { place: "disk".to_owned(), reason })
    });
    assert!(matches!(router.delete(id).await, Err(Error::Unavailable { .. })));
    assert!(matches!(router.get(id, None).await, Err(Error::Deleted(_))));
    assert_eq!(store.alive().len(), 5);
    store.heal();
    router.delete(id).await.unwrap();
    assert_eq!(store.alive(), []);
}

#[tokio::test]
async fn chunks_expire_no_earlier_than_their_blob() {
    let (store, router) = router(small());
    let id = router.put(source(content(4500)), PutOptions::default()).await.unwrap().id;
    let later = |chunk: BlobId| match store.stored(chunk).unwrap().1 {
        0 => u64::MAX,
        ms => ms,
    };
    let far = u64::MAX / 2;
    for expires_ms in [Some(far), Some(far + 9), Some(far - 9), None, Some(far)] {
        // Whichever of them fails, the order holds.
        for fails_at in 0..6 {
            let updates = AtomicUsize::new(0);
            store.fail(move |request, _| {
                let reason = "no answer".to_owned();
                let fails = request == Request::UpdateTtl
                    && updates.fetch_add(1, Ordering::Relaxed) == fails_at;
                fails.then(|| Error::Unavailable { place: "disk".to_owned(), reason })
            });
            let _ = router.update_ttl(id, expires_ms).await;
            for chunk in store.alive() {
                assert!(later(chunk) >= later(id), "{expires_ms:?}, {fails_at}");
            }
        }
        store.heal();
        router.update_ttl(id, expires_ms).await.unwrap();
        assert_eq!(router.stat(id).await.unwrap().expires_ms, expires_ms);
    }
    router.update_ttl(id, Some(1)).await.unwrap();
    assert!(matches!(router.get(id, None).await, Err(Error::Expired(_))));
    assert_eq!(store.alive(), []);
}

#[tokio::test]
async fn memory_is_bounded_and_many_requests_end() {
    let options = RouterOptions { memory_bytes: 3 * 4096, ..small() };
    let (_, router) = router(options);
    let puts = (0..50).map(|n| {
        let router = router.clone();
        async move {
            let content = content(3000 + n);
            let put = router.put(pieces(&content), PutOptions::default()).await.unwrap();
            assert_eq!(read(&router, put.id, None).await, content);
        }
    });
    let all = futures_util::future::join_all(puts);
    tokio::time::timeout(PATIENCE, all).await.expect("no request waits for ever");
}

#[tokio::test]
async fn who_waits_too_long_for_memory_is_told() {
    let memory_wait = Duration::from_millis(30);
    let (_, router) = router(RouterOptions { memory_bytes: 4096, memory_wait, ..small() });
    let endless = pieces(&content(500)).chain(stream::pending()).boxed();
    let slow = router.clone();
    let slow = tokio::spawn(async move { slow.put(endless, PutOptions::default()).await });
    while router.memory_free_bytes() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let error = router.put(source("x"), PutOptions::default()).await.unwrap_err();
    assert!(error.to_string().contains("no memory"), "{error}");
    slow.abort();
    assert!(slow.await.unwrap_err().is_cancelled());
    router.put(source("x"), PutOptions::default()).await.unwrap();
}

#[tokio::test]
async fn routers_over_several_stores_share_their_memory() {
    let (_, router) = router(RouterOptions { memory_bytes: 4096, ..small() });
    let other = router.over(Arc::new(MemoryStore::default()));
    let id = router.put(source("here"), PutOptions::default()).await.unwrap().id;
    assert!(matches!(other.stat(id).await, Err(Error::NotFound(_))));
    let endless = pieces(&content(500)).chain(stream::pending()).boxed();
    let slow = tokio::spawn(async move { other.put(endless, PutOptions::default()).await });
    while router.memory_free_bytes() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    slow.abort();
}

#[tokio::test]
async fn a_slow_reader_holds_no_more_than_its_window() {
    let (_, router) = router(small());
    let id = router.put(source(content(20_000)), PutOptions::default()).await.unwrap().id;
    let mut get = router.get(id, None).await.unwrap();
    let first = get.content.next().await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let held = (64 << 10) - router.memory_free_bytes();
    assert!(held <= 5 * 4096, "{held}");
    drop((first, get));
    assert_eq!(router.memory_free_bytes(), 64 << 10);
}

/// A composite blob of five chunks, whose `n`-th one's next `request` waits for the semaphore.
async fn held(request: Request, n: usize) -> (Arc<MemoryStore>, Router, BlobId, Arc<Semaphore>) {
    let (store, router) = router(small());
    let id = router.put(source(content(4500)), PutOptions::default()).await.unwrap().id;
    let mut chunks = store.alive();
    chunks.retain(|chunk| *chunk != id);
    chunks.insert(0, id);
    let until = store.hold(request, chunks[n]);
    (store, router, id, until)
}

/// Lets what was begun go on as far as it can.
async fn go_on() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_delete_and_an_undelete_at_once_leave_all_of_a_blob_or_nothing() {
    let (store, router, id, until) = held(Request::Delete, 5).await;
    let delete = tokio::spawn({
        let router = router.clone();
        async move { router.delete(id).await }
    });
    go_on().await;
    assert_eq!(store.alive().len(), 1, "one chunk is still to be deleted");
    let undelete = tokio::spawn({
        let router = router.clone();
        async move { router.undelete(id).await }
    });
    go_on().await;
    until.close();
    delete.await.unwrap().unwrap();
    undelete.await.unwrap().unwrap();
    assert_eq!(store.alive().len(), 6);
    assert_eq!(read(&router, id, None).await, content(4500));
}

#[tokio::test]
async fn a_change_whose_caller_goes_away_is_made_as_a_whole() {
    let (store, router, id, until) = held(Request::Undelete, 0).await;
    router.delete(id).await.unwrap();
    let undelete = tokio::spawn({
        let router = router.clone();
        async move { router.undelete(id).await }
    });
    go_on().await;
    assert_eq!(store.alive().len(), 5);
    undelete.abort();
    go_on().await;
    until.close();
    // Behind it, not beside it.
    assert!(matches!(router.undelete(id).await, Err(Error::NotDeleted(_))));
    assert_eq!(store.alive().len(), 6);
}

#[tokio::test]
async fn times_to_live_at_once_leave_no_chunk_that_expires_before_its_blob() {
    let (store, router, id, until) = held(Request::UpdateTtl, 0).await;
    let update = |expires_ms| {
        let router = router.clone();
        tokio::spawn(async move { router.update_ttl(id, expires_ms).await })
    };
    let never = update(None);
    go_on().await;
    let far = u64::MAX / 2;
    let shorter = update(Some(far));
    go_on().await;
    until.close();
    never.await.unwrap().unwrap();
    shorter.await.unwrap().unwrap();
    for chunk in store.alive() {
        assert_eq!(store.stored(chunk).unwrap().1, far);
    }
}
