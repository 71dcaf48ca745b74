package io.afterbay.stragglers;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One input queue for the tasks of an operator that live in one process, so that no tuple waits
 * behind a slow one while a task is free (the paper, section 3.2; {@link ErlangC} for what that
 * gives). What only one task may handle, such as its ticks, goes into its own lane.
 *
 * <pre>
 *   put ------&gt; | shared | ---+---+---+-- take, by the task that is free for longest
 *                             |   |   |
 *   lane.put -&gt; | own    | ---+   |   |-- take, by its owner
 *               | own    | -------+   |
 *               | own    | -----------+
 * </pre>
 *
 * <ul>
 *   <li>Each lane is bounded. Whoever puts something into a full one waits, so that an engine's
 *       backpressure works.
 *   <li>Each lane is in order. An owner takes what is its own first, but of both by turns while
 *       both have something: neither is starved.
 *   <li>What was put before {@link #close} is still taken. Then takers get null, and whoever waits
 *       to put something gets false.
 * </ul>
 *
 * <p>Only for tuples that any task may have, as with a shuffle; never where the key decides.
 *
 * <p>All methods are safe for use by any thread, but one thread at a time takes from a {@link
 * Lane}. Whoever takes must not wait to put something in: it may wait for itself. Nothing is
 * allocated unless a thread has to wait.
 */
public final class SharedQueue<E> implements AutoCloseable {
    /** The largest bound of a lane. Places are allocated ahead. */
    public static final int CAPACITY_MAX = 1 << 20;

    /** For tests, which decide with it what happens before others see it. */
    final ReentrantLock lock = new ReentrantLock();

    private final Bounded shared;
    private final List<Lane> lanes = new ArrayList<>();

    /** Lanes whose owner waits, for longest first. Each is waiting, or not woken yet. */
    private final ArrayDeque<Lane> idle = new ArrayDeque<>();

    private boolean isClosed;

    /**
     * @param capacity how many elements may wait for any task, from 1 to {@value #CAPACITY_MAX}
     */
    public SharedQueue(int capacity) {
        this.shared = new Bounded(capacity);
    }

    /** Elements in order, and those who wait for a place. Guarded by the lock. */
    private final class Bounded {
        private final int capacity;
        private final ArrayDeque<E> elements;
        private final Condition hasPlace = lock.newCondition();

        Bounded(int capacity) {
            if (capacity < 1 || capacity > CAPACITY_MAX) {
                throw new IllegalArgumentException(
                        "the capacity of a queue must be within 1.."
                                + CAPACITY_MAX
                                + ", not "
                                + capacity);
            }
            this.capacity = capacity;
            this.elements = new ArrayDeque<>(capacity);
        }

        /** False if the queue is closed. */
        boolean awaitPlace() throws InterruptedException {
            while (!isClosed && elements.size() == capacity) {
                hasPlace.await();
            }
            return !isClosed;
        }

        boolean offer(E element) {
            if (isClosed || elements.size() == capacity) {
                return false;
            }
            elements.add(element);
            return true;
        }

        E remove() {
            E element = elements.remove();
            hasPlace.signal();
            return element;
        }
    }

    /**
     * A new task with a lane of its own.
     *
     * @param capacity of the lane, as that of the queue
     */
    public Lane join(int capacity) {
        lock.lock();
        try {
            Lane lane = new Lane(new Bounded(capacity));
            lanes.add(lane);
            return lane;
        } finally {
            lock.unlock();
        }
    }

    /** Adds an element for any task, once there is a place; false if the queue is closed. */
    public boolean put(E element) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            return shared.awaitPlace() && offerShared(element);
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #put}, but does not wait: false if there is no place, too. */
    public boolean offer(E element) {
        lock.lock();
        try {
            return offerShared(element);
        } finally {
            lock.unlock();
        }
    }

    private boolean offerShared(E element) {
        if (!shared.offer(element)) {
            return false;
        }
        wakeForShared();
        return true;
    }

    private void wakeForShared() {
        Lane lane = shared.elements.isEmpty() ? null : idle.poll();
        if (lane != null) {
            lane.hasWork.signal();
        }
    }

    /** How many elements wait for any task. */
    public int size() {
        lock.lock();
        try {
            return shared.elements.size();
        } finally {
            lock.unlock();
        }
    }

    /** Takes no more elements, and releases everybody who waits. */
    @Override
    public void close() {
        lock.lock();
        try {
            isClosed = true;
            shared.hasPlace.signalAll();
            for (Lane lane : lanes) {
                lane.own.hasPlace.signalAll();
                lane.hasWork.signalAll();
            }
            idle.clear();
        } finally {
            lock.unlock();
        }
    }

    /** The side of one task. */
    public final class Lane {
        private final Bounded own;
        private final Condition hasWork = lock.newCondition();
        private boolean wasOwn;

        private Lane(Bounded own) {
            this.own = own;
        }

        /** Adds an element for this task, once there is a place; false if the queue is closed. */
        public boolean put(E element) throws InterruptedException {
            lock.lockInterruptibly();
            try {
                return own.awaitPlace() && offerOwn(element);
            } finally {
                lock.unlock();
            }
        }

        /** As {@link #put}, but does not wait: false if there is no place, too. */
        public boolean offer(E element) {
            lock.lock();
            try {
                return offerOwn(element);
            } finally {
                lock.unlock();
            }
        }

        private boolean offerOwn(E element) {
            if (!own.offer(element)) {
                return false;
            }
            if (idle.remove(this)) {
                hasWork.signal();
            }
            return true;
        }

        /** The next element, once there is one; null if the queue is closed and has none for it. */
        public @Nullable E take() throws InterruptedException {
            lock.lockInterruptibly();
            try {
                E element = next();
                while (element == null && !isClosed) {
                    await();
                    element = next();
                }
                return element;
            } finally {
                lock.unlock();
            }
        }

        /** As {@link #take}, but does not wait: null if there is none now, too. */
        public @Nullable E poll() {
            lock.lock();
            try {
                return next();
            } finally {
                lock.unlock();
            }
        }

        private @Nullable E next() {
            boolean hasOwn = !own.elements.isEmpty();
            boolean hasShared = !shared.elements.isEmpty();
            wasOwn = hasOwn && !(wasOwn && hasShared);
            if (wasOwn) {
                E element = own.remove();
                wakeForShared(); // it may have been woken for an element that it leaves
                return element;
            }
            return hasShared ? shared.remove() : null;
        }

        private void await() throws InterruptedException {
            idle.add(this);
            boolean isWoken = false;
            try {
                hasWork.await();
                isWoken = true;
            } finally {
                idle.remove(this);
                if (!isWoken) {
                    wakeForShared(); // the signal may have come after the interruption
                }
            }
        }

        /** How many elements wait for this task only. */
        public int size() {
            lock.lock();
            try {
                return own.elements.size();
            } finally {
                lock.unlock();
            }
        }
    }
}
