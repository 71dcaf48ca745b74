//! Natural group commit: whoever finds nobody at work takes all that wait, and works for them.
//!
//! ```text
//!  A  submits -> leads [A]            sync ------->| done; hands over to B
//!  B  submits ------> waits                        | leads [B C D]  sync ------->| done
//!  C  submits ---------> waits ....................................................| done
//!  D  submits ------------> waits .................................................| done
//! ```
//!
//! No timer and no thread: groups are as large as the disk is slow. A leader works for one group only. One that panics tells
//! its group, and hands over all the same: nobody waits for who is not there any more.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic of another thread: what is guarded here is whole between any two statements, or its owner
/// refuses further writes (`Partition::writer`).
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
pub(crate) struct CommitQueue<R, O> {
    inner: Mutex<Inner<R, O>>,
    /// A group ends with the request that reaches this weight.
    group_weight_max: usize,
}

#[derive(Debug)]
struct Inner<R, O> {
    waiting: VecDeque<Waiting<R, O>>,
    led: bool,
}

#[derive(Debug)]
struct Waiting<R, O> {
    requests: Vec<R>,
    weight: usize,
    slot: Arc<Slot<O>>,
}

#[derive(Debug)]
struct Slot<O> {
    turn: Mutex<Turn<O>>,
    changed: Condvar,
}

#[derive(Debug)]
enum Turn<O> {
    Waits,
    Leads,
    Done(Vec<O>),
    /// The leader panicked.
    GivenUp,
}

impl<R, O> CommitQueue<R, O> {
    pub(crate) fn new(group_weight_max: usize) -> Self {
        CommitQueue {
            inner: Mutex::new(Inner { waiting: VecDeque::new(), led: false }),
            group_weight_max,
        }
    }

    /// Returns the results of `requests`, which this thread or another one computed with `run`: from the requests of
    /// a group, one result for each. `None` if the other one panicked: what became of the group is not known.
    pub(crate) fn submit(
        &self,
        requests: Vec<R>,
        weight: usize,
        run: impl FnOnce(Vec<R>) -> Vec<O>,
    ) -> Option<Vec<O>> {
        let slot = Arc::new(Slot { turn: Mutex::new(Turn::Waits), changed: Condvar::new() });
        let leads = self.enqueue(Waiting { requests, weight, slot: slot.clone() });
        let mut turn = if leads { Turn::Leads } else { slot.wait() };
        if matches!(turn, Turn::Leads) {
            self.lead(run);
            // The leader's own requests are the first ones of its group.
            turn = slot.wait();
        }
        if let Turn::Done(results) = turn { Some(results) } else { None }
    }

    fn enqueue(&self, waiting: Waiting<R, O>) -> bool {
        let mut inner = lock(&self.inner);
        inner.waiting.push_back(waiting);
        !std::mem::replace(&mut inner.led, true)
    }

    fn lead(&self, run: impl FnOnce(Vec<R>) -> Vec<O>) {
        let mut requests = Vec::new();
        let mut led = Led { queue: self, slots: Vec::new() };
        for waiting in self.take_group() {
            led.slots.push((waiting.slot, waiting.requests.len()));
            requests.extend(waiting.requests);
        }
        let mut results = run(requests).into_iter();
        for (slot, count) in led.slots.drain(..) {
            slot.set(Turn::Done(results.by_ref().take(count).collect()));
        }
    }

    fn take_group(&self) -> Vec<Waiting<R, O>> {
        let mut inner = lock(&self.inner);
        let mut group: Vec<Waiting<R, O>> = Vec::new();
        let mut weight = 0;
        while group.is_empty() || weight < self.group_weight_max {
            let Some(waiting) = inner.waiting.pop_front() else {
                break;
            };
            weight += waiting.weight;
            group.push(waiting);
        }
        group
    }
}

/// A group that is being worked for. However that ends, the next one is led.
struct Led<'a, R, O> {
    queue: &'a CommitQueue<R, O>,
    /// Those who have no results yet, with how many they wait for.
    slots: Vec<(Arc<Slot<O>>, usize)>,
}

impl<R, O> Drop for Led<'_, R, O> {
    fn drop(&mut self) {
        for (slot, _) in self.slots.drain(..) {
            slot.set(Turn::GivenUp);
        }
        let mut inner = lock(&self.queue.inner);
        match inner.waiting.front() {
            Some(next) => next.slot.set(Turn::Leads),
            None => inner.led = false,
        }
    }
}

impl<O> Slot<O> {
    fn set(&self, turn: Turn<O>) {
        *lock(&self.turn) = turn;
        self.changed.notify_one();
    }

    /// What comes after waiting.
    fn wait(&self) -> Turn<O> {
        let mut turn = lock(&self.turn);
        loop {
            match std::mem::replace(&mut *turn, Turn::Waits) {
                Turn::Waits => {
                    turn = self.changed.wait(turn).unwrap_or_else(PoisonError::into_inner);
                }
                other => return other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn who_waits_is_served_with_the_next_group() {
        let queue = CommitQueue::<usize, usize>::new(usize::MAX);
        let groups = Mutex::new(Vec::new());
        let (entered, queued) = (Barrier::new(2), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                queue.submit(vec![0], 1, |group| {
                    entered.wait();
                    while lock(&queue.inner).waiting.len() < 8 {
                        std::thread::yield_now();
                    }
                    lock(&groups).push(group.len());
                    group.iter().map(|n| n * 10).collect()
                })
            });
            entered.wait();
            for _ in 0..8 {
                scope.spawn(|| {
                    let n = queued.fetch_add(1, Ordering::Relaxed) + 1;
                    let results = queue.submit(vec![n, n + 100], 1, |group| {
                        lock(&groups).push(group.len());
                        group.iter().map(|n| n * 10).collect()
                    });
                    assert_eq!(results, Some(vec![n * 10, (n + 100) * 10]));
                });
            }
            assert_eq!(first.join().unwrap(), Some(vec![0]));
        });
        assert_eq!(*lock(&groups), [1, 16], "one group for all that came meanwhile");
        assert!(!lock(&queue.inner).led);
    }

    #[test]
    fn a_panic_is_told_to_all_of_the_group_and_the_next_one_is_led() {
        let queue = CommitQueue::<usize, usize>::new(usize::MAX);
        let entered = Barrier::new(2);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                queue.submit(vec![0], 1, |group| {
                    entered.wait();
                    while lock(&queue.inner).waiting.len() < 4 {
                        std::thread::yield_now();
                    }
                    group
                })
            });
            entered.wait();
            // One of these leads the others, and panics.
            let fail = |_| std::panic::resume_unwind(Box::new("no"));
            let queue = &queue;
            let others: Vec<_> =
                (1..=4).map(|n| scope.spawn(move || queue.submit(vec![n], 1, fail))).collect();
            assert_eq!(first.join().unwrap(), Some(vec![0]));
            let ended: Vec<_> = others.into_iter().map(|other| other.join().ok()).collect();
            assert_eq!(ended.iter().filter(|ended| ended.is_none()).count(), 1, "{ended:?}");
            assert_eq!(ended.iter().filter(|ended| **ended == Some(None)).count(), 3, "{ended:?}");
        });
        assert_eq!(queue.submit(vec![7], 1, |group| group), Some(vec![7]));
        assert!(!lock(&queue.inner).led);
    }

    #[test]
    fn a_group_is_bounded() {
        let queue = CommitQueue::<usize, usize>::new(10);
        for n in 0..5 {
            lock(&queue.inner).waiting.push_back(Waiting {
                requests: vec![n],
                weight: 4,
                slot: Arc::new(Slot { turn: Mutex::new(Turn::Waits), changed: Condvar::new() }),
            });
        }
        assert_eq!(queue.take_group().len(), 3);
        assert_eq!(queue.take_group().len(), 2);
    }
}
