package io.afterbay.flink.state;

import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets another thread read the state now and then (Flink's raw access to serialised values) without
 * a lock in the owner's way.
 *
 * <p>The owner passes the gate at the start of each access: two plain comparisons while it is open.
 * A reader closes the gate and then looks at the owner's stack. The virtual machine stops the owner
 * for that, so from then on it sees the gate closed; and if no frame of ours is on its stack, it is
 * in no access and waits at the gate before the next one. Otherwise the reader looks again. Reading
 * costs a lot and passing nearly nothing, which is the right way round here.
 */
public final class QueryGate {
    private static final long WAIT_SECONDS_MAX = 10;
    private static final long RETRY_NANOS = 100_000;

    /** Packages whose frames mean that an access is under way. */
    private static final String[] ACCESS_PACKAGES = {
        "io.afterbay.flink.incremental.",
        "io.afterbay.flink.state.",
        "io.afterbay.flink.timers.",
        "io.afterbay.flink.snapshot.",
        "io.afterbay.store."
    };

    private volatile boolean closed;
    private Thread owner = Thread.currentThread();

    /** Called by the owner before it touches the store. */
    public void pass() {
        if (closed || owner != Thread.currentThread()) {
            passSlowly();
        }
    }

    /** Waits for a running query. Whoever passes is the owner from then on. */
    private synchronized void passSlowly() {
        owner = Thread.currentThread();
    }

    /** Runs a read on the caller's thread while the owner is kept out. */
    <T> T query(Callable<T> read) throws Exception {
        if (owner == Thread.currentThread()) {
            return read.call();
        }
        synchronized (this) {
            closed = true;
            try {
                awaitOwnerOutside();
                return read.call();
            } finally {
                closed = false;
            }
        }
    }

    /** An interrupt of the caller is kept for it: it neither ends the query nor is it lost. */
    private void awaitOwnerOutside() throws TimeoutException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS_MAX);
        while (isInAccess(owner)) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException(
                        "the task has been in one state access for %d s; query again later"
                                .formatted(WAIT_SECONDS_MAX));
            }
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    /**
     * An owner in {@link #pass} may have found the gate open just before it was closed, and counts
     * as inside; one that is blocked in {@link #passSlowly} stays so until the query ends.
     */
    private static boolean isInAccess(Thread owner) {
        StackTraceElement[] stack = owner.getStackTrace();
        if (stack.length > 0 && isWait(stack[0]) && owner.getState() == Thread.State.BLOCKED) {
            return false;
        }
        return Arrays.stream(stack).anyMatch(QueryGate::isAccess);
    }

    private static boolean isWait(StackTraceElement frame) {
        return frame.getClassName().equals(QueryGate.class.getName())
                && frame.getMethodName().equals("passSlowly");
    }

    private static boolean isAccess(StackTraceElement frame) {
        return Arrays.stream(ACCESS_PACKAGES).anyMatch(frame.getClassName()::startsWith);
    }
}
