package io.afterbay.spark.publish;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * How many files, and how many bytes of them, may wait in a process, of all its {@link Publisher}s
 * together. Whoever asks first gets room first, so that a large file is not passed for ever by
 * small ones.
 *
 * <p>What has room never waits for what has none: a file waits for those before it in its
 * publisher, which have theirs, and for what other processes publish. So room always comes back.
 *
 * <p>Safe for use by any thread.
 */
public final class Room {
    private final int filesMax;
    private final long bytesMax;
    private final Deque<Object> askers = new ArrayDeque<>();
    private int files;
    private long bytes;

    /**
     * @param filesMax 1 or more
     * @param bytesMax a larger file gets room when it is alone
     */
    public Room(int filesMax, long bytesMax) {
        this.filesMax = filesMax;
        this.bytesMax = bytesMax;
    }

    /** One place in the queue of those who ask. */
    final class Request {
        private final long size;

        private Request(long size) {
            this.size = size;
        }

        /**
         * Waits for so long at most.
         *
         * @return whether there is room, which is taken then
         */
        boolean awaitRoom(long nanos) throws InterruptedException {
            synchronized (Room.this) {
                long deadline = System.nanoTime() + nanos;
                long left = nanos;
                while (!isNext() && left > 0) {
                    TimeUnit.NANOSECONDS.timedWait(Room.this, left);
                    left = deadline - System.nanoTime();
                }
                boolean isGranted = isNext();
                if (isGranted) {
                    files++;
                    bytes += size;
                    withdraw();
                }
                return isGranted;
            }
        }

        private boolean isNext() {
            return askers.peekFirst() == this
                    && (files == 0 || (files < filesMax && bytes + size <= bytesMax));
        }

        /** Leaves the queue; does nothing if it has left. */
        void withdraw() {
            synchronized (Room.this) {
                askers.remove(this);
                Room.this.notifyAll();
            }
        }
    }

    /** Behind all who have asked before. */
    synchronized Request ask(long size) {
        Request request = new Request(size);
        askers.addLast(request);
        return request;
    }

    synchronized void give(int leftFiles, long leftBytes) {
        files -= leftFiles;
        bytes -= leftBytes;
        notifyAll();
    }
}
