package io.afterbay.spark.publish;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Files in memory, and faults that tests ask for: the first writes of a target, in turn. */
final class FaultyStorage implements Storage {
    @FunctionalInterface
    interface Fault {
        /** Throws, waits, or does nothing. */
        void strike(String target) throws IOException;
    }

    private final Map<String, byte[]> files = new HashMap<>();
    private final List<String> order = new ArrayList<>();
    private final Map<String, List<Fault>> before = new ConcurrentHashMap<>();
    private final Map<String, List<Fault>> after = new ConcurrentHashMap<>();
    private final Map<String, Integer> attempts = new ConcurrentHashMap<>();
    private final Map<String, Integer> staged = new ConcurrentHashMap<>();
    private volatile boolean canStage;
    private int hidden;

    void beforeWrites(String target, Fault... faults) {
        before.put(target, new ArrayList<>(List.of(faults)));
    }

    /** From now on, files may be written before they are seen; see {@link Staged}. */
    FaultyStorage staging() {
        canStage = true;
        return this;
    }

    @Override
    public boolean canStage() {
        return canStage;
    }

    /** Faults before a file is written strike here, those behind it when it is revealed. */
    @Override
    public Staged stage(String target, InputStream content, boolean overwrites) throws IOException {
        attempts.merge(target, 1, Integer::sum);
        strike(before, target);
        byte[] bytes = content.readAllBytes();
        staged.merge(target, 1, Integer::sum);
        addHidden(1);
        return new Staged() {
            private boolean isThere = true;

            @Override
            public void reveal() throws IOException {
                store(target, bytes, overwrites);
                left();
                strike(after, target);
            }

            @Override
            public void discard() {
                left();
            }

            private synchronized void left() {
                addHidden(isThere ? -1 : 0);
                isThere = false;
            }
        };
    }

    private synchronized void addHidden(int files) {
        hidden += files;
    }

    /** Files that are written and not seen. */
    synchronized int hidden() {
        return hidden;
    }

    int staged(String target) {
        return staged.getOrDefault(target, 0);
    }

    /** Faults that strike when the file is there already. */
    void afterWrites(String target, Fault... faults) {
        after.put(target, new ArrayList<>(List.of(faults)));
    }

    static Fault fails() {
        return target -> {
            throw new IOException("disk on fire");
        };
    }

    static Fault dies() {
        return target -> {
            throw new AssertionError("thread is to die");
        };
    }

    /** Is slow, and does not hear interrupts. */
    static Fault stalls(long millis) {
        return target -> {
            long end = System.nanoTime() + millis * 1_000_000;
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
        };
    }

    /** Waits however often it is interrupted, as a driver that does not know interrupts. */
    static Fault waitsFor(CountDownLatch latch) {
        return target -> {
            boolean done = false;
            while (!done) {
                try {
                    latch.await();
                    done = true;
                } catch (InterruptedException e) {
                    // goes on
                }
            }
        };
    }

    @Override
    public void write(String target, InputStream content, boolean overwrites) throws IOException {
        attempts.merge(target, 1, Integer::sum);
        strike(before, target);
        byte[] bytes = content.readAllBytes();
        store(target, bytes, overwrites);
        strike(after, target);
    }

    private synchronized void store(String target, byte[] bytes, boolean overwrites)
            throws IOException {
        if (!overwrites && files.containsKey(target)) {
            throw new FileAlreadyExistsException(target);
        }
        files.put(target, bytes);
        order.add(target);
    }

    private static void strike(Map<String, List<Fault>> faults, String target) throws IOException {
        List<Fault> left = faults.get(target);
        Fault fault;
        if (left == null) {
            return;
        }
        synchronized (left) {
            fault = left.isEmpty() ? null : left.remove(0);
        }
        if (fault != null) {
            fault.strike(target);
        }
    }

    @Override
    public synchronized boolean exists(String target) {
        return files.containsKey(target);
    }

    @Override
    public synchronized boolean isSame(String target, Path local) throws IOException {
        return Arrays.equals(files.get(target), Files.readAllBytes(local));
    }

    int attempts(String target) {
        return attempts.getOrDefault(target, 0);
    }

    /** Targets in the order in which they were written, again for each time. */
    synchronized List<String> order() {
        return List.copyOf(order);
    }

    synchronized String text(String target) {
        return new String(files.get(target), StandardCharsets.UTF_8);
    }
}
