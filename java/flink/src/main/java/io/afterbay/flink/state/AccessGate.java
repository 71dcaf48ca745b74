package io.afterbay.flink.state;

import java.lang.StackWalker.StackFrame;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets one thread at a time into a keyed backend, without a lock in the way of the one that mostly
 * is there. As a rule that is the task's thread. PyFlink's runner has a second one, which sets keys
 * and uses states while the task's thread looks after timers; and Flink's raw access to serialised
 * values may come from any.
 *
 * <p>Each method that others may call passes the gate before it does anything else: for the owner
 * two plain comparisons. Any other thread closes the gate and then looks at the owner's stack. The
 * virtual machine stops the owner for that, so from then on it sees the gate closed. If no frame of
 * ours is on its stack, or it waits at the gate, it is in no access, and the other thread may go
 * in. Otherwise that looks again. Taking turns costs some microseconds and passing nearly nothing,
 * which is the right way round here.
 *
 * <p>Each access is exclusive; a sequence of accesses, such as setting a key and using a state, is
 * not.
 */
public final class AccessGate {
    private static final Duration QUERY_WAIT_MAX = Duration.ofSeconds(10);
    private static final Duration TURN_WAIT_MAX = Duration.ofMinutes(5);
    private static final long RETRY_NANOS = 100_000;

    /** So long the owner keeps others waiting although they could take turns. */
    private static final Duration SLICE = Duration.ofMillis(1);

    /** What the names of classes begin with whose frames mean that an access is under way. */
    private static final String[] ACCESS = {
        "io.afterbay.flink.AfterbayKeyedStateBackend",
        "io.afterbay.flink.incremental.IncrementalSnapshots",
        "io.afterbay.flink.state.",
        "io.afterbay.flink.timers.",
        "io.afterbay.flink.snapshot."
    };

    private static final StackWalker STACK =
            StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    private final Duration turnWaitMax;
    private final Duration slice;

    /** Held by whoever has closed the gate. */
    private final ReentrantLock turn = new ReentrantLock();

    private volatile boolean closed;

    /** Whoever has closed the gate is inside, or about to be. */
    private volatile boolean entered;

    /** Null once the backend is disposed of. Read after {@link #closed}, written while closed. */
    private @Nullable Thread owner = Thread.currentThread();

    private long sliceEnd = System.nanoTime();

    public AccessGate() {
        this(TURN_WAIT_MAX, SLICE);
    }

    /** For tests. */
    AccessGate(Duration turnWaitMax, Duration slice) {
        this.turnWaitMax = turnWaitMax;
        this.slice = slice;
    }

    /**
     * Called before anything else by each method that others may call. Whoever passes is the owner
     * from then on.
     *
     * @throws IllegalStateException if the backend is disposed of, or if its owner stays in one
     *     access for minutes
     */
    public void pass() {
        if (closed || owner != Thread.currentThread()) {
            passSlowly();
        }
    }

    private void passSlowly() {
        if (isOwner() && (mayGoOn() || isNested())) {
            return; // whoever has closed the gate waits for the end of this access
        }
        queue();
        try {
            if (!isOwner()) {
                takeOver();
            }
        } finally {
            open();
        }
    }

    /** Of the owner, whose frames others see from now on: see {@link #tryEnter}. */
    private boolean mayGoOn() {
        return !entered && sliceEnd - System.nanoTime() > 0;
    }

    /** While another thread has the turn, one that is in here does nothing else. */
    private void queue() {
        turn.lock();
    }

    /** Ends the turn. */
    private void open() {
        entered = false;
        closed = false;
        turn.unlock();
    }

    private void takeOver() {
        closed = true;
        try {
            awaitOwnerOutside(turnWaitMax);
            owner = Thread.currentThread();
            sliceEnd = System.nanoTime() + slice.toNanos();
        } catch (TimeoutException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /** Whether the caller's thread was the last that passed. */
    public boolean isOwner() {
        return owner == Thread.currentThread();
    }

    /**
     * Runs a task as an access if nobody else is in one; who the owner is stays. The caller's
     * thread may be in an access to another backend, so it waits for nobody, and others may be
     * waiting for it.
     *
     * @return whether it ran
     */
    public boolean tryRun(Runnable task) {
        if (isOwner()) {
            return !entered && run(task);
        }
        if (!turn.tryLock()) {
            return false;
        }
        closed = true;
        try {
            Thread present = owner;
            return present != null && tryEnter(present) && run(task);
        } finally {
            open();
        }
    }

    private static boolean run(Runnable task) {
        task.run();
        return true;
    }

    /** Runs a read on the caller's thread while the owner is kept out. */
    <T> T query(Callable<T> read) throws Exception {
        if (isOwner()) {
            return read.call();
        }
        queue();
        closed = true;
        try {
            awaitOwnerOutside(QUERY_WAIT_MAX);
            return read.call();
        } finally {
            open();
        }
    }

    /** The last access: from now on nobody passes. */
    public void end() {
        queue();
        closed = true;
        try {
            if (owner != null && !isOwner()) {
                awaitOwnerOutside(turnWaitMax);
            }
            owner = null;
        } catch (TimeoutException e) {
            throw new IllegalStateException(e.getMessage(), e);
        } finally {
            open();
        }
    }

    /** An interrupt of the caller is kept for it: it neither ends the wait nor is it lost. */
    private void awaitOwnerOutside(Duration limit) throws TimeoutException {
        Thread present = owner;
        if (present == null) {
            throw new IllegalStateException("this keyed state backend was disposed of");
        }
        long begin = System.nanoTime();
        while (!tryEnter(present)) {
            if (System.nanoTime() - begin > limit.toNanos()) {
                throw new TimeoutException(
                        "thread '%s' has been in one access to the state for %d s, and thread '%s' waits for it"
                                .formatted(
                                        present.getName(),
                                        limit.toSeconds(),
                                        Thread.currentThread().getName()));
            }
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    /** With the turn in hand and the gate closed. The owner sees one of the two, or is seen. */
    private boolean tryEnter(Thread present) {
        entered = true;
        if (isInAccess(present)) {
            entered = false;
        }
        return entered;
    }

    /**
     * An owner in {@link #pass} may have found the gate open just before, and counts as inside. One
     * that waits does not: here it stays in {@link #queue}, and at the gate of another backend it
     * waits for an access to that one. Two threads may wait so for each other's.
     */
    private static boolean isInAccess(Thread owner) {
        StackTraceElement[] stack = owner.getStackTrace();
        return Arrays.stream(stack).noneMatch(AccessGate::isWait)
                && Arrays.stream(stack).anyMatch(frame -> isAccess(frame.getClassName()));
    }

    private static boolean isWait(StackTraceElement frame) {
        return frame.getClassName().equals(AccessGate.class.getName())
                && (frame.getMethodName().equals("queue")
                        || frame.getMethodName().equals("awaitOwnerOutside"));
    }

    private static boolean isAccess(String className) {
        return Arrays.stream(ACCESS).anyMatch(className::startsWith);
    }

    /** Whether the caller's thread is in an access already, and not at its beginning. */
    private static boolean isNested() {
        return STACK.walk(
                frames ->
                        frames.filter(frame -> isAccess(frame.getClassName()))
                                .filter(frame -> !isGate(frame) && !isBridge(frame))
                                .skip(1)
                                .findAny()
                                .isPresent());
    }

    /** The gate itself, and what only leads to it. */
    private static boolean isGate(StackFrame frame) {
        return frame.getDeclaringClass() == AccessGate.class
                || frame.getMethodName().equals("beginAccess");
    }

    /** What the compiler adds where a type parameter becomes a type. */
    private static boolean isBridge(StackFrame frame) {
        return Arrays.stream(frame.getDeclaringClass().getDeclaredMethods())
                .anyMatch(
                        method ->
                                method.isBridge()
                                        && method.getName().equals(frame.getMethodName())
                                        && method.getReturnType()
                                                == frame.getMethodType().returnType()
                                        && Arrays.equals(
                                                method.getParameterTypes(),
                                                frame.getMethodType().parameterArray()));
    }
}
