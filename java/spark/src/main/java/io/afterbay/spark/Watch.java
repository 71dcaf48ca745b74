package io.afterbay.spark;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after all publishers of this process, four times a second. Their own threads do that, too,
 * and so does whoever waits for one. But on an executor nobody waits (its tasks ask the driver),
 * nor on a driver whose tasks are elsewhere: if all threads of a publisher hang, nobody else would
 * see it. It is a thread of its own, since the one that reports may wait for the driver.
 */
final class Watch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Watch.class);
    private static final long PERIOD_MILLIS = 250;

    private final Runnable look;
    private @Nullable Thread thread;

    /**
     * @param look at all of them; returns soon
     */
    Watch(Runnable look) {
        this.look = look;
    }

    /** From the first that is to be looked after. */
    synchronized void start() {
        if (thread == null) {
            thread = new Thread(this::run, "afterbay-watch");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void run() {
        try {
            while (true) {
                TimeUnit.MILLISECONDS.sleep(PERIOD_MILLIS);
                lookOnce();
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    private void lookOnce() {
        try {
            look.run();
        } catch (RuntimeException | Error e) { // no memory for a thread, which may end
            LOG.warn("Publishers were not looked after; looking again", e);
        }
    }

    @Override
    public synchronized void close() {
        if (thread != null) {
            thread.interrupt();
        }
    }
}
