package io.afterbay.spark;

import io.afterbay.spark.publish.WriterReport;
import io.afterbay.spark.publish.WrittenStates;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the driver which state files of this executor are in the storage and which wait: at once
 * when there is news, and every second, so that the driver knows that it lives. One report is on
 * its way at a time; one that is not answered is made again.
 */
final class Reporter implements AutoCloseable {
    /** A remote call, as that of Spark's plug-ins. */
    @FunctionalInterface
    interface Driver {
        Object ask(Object report) throws Exception;
    }

    static final long HEARTBEAT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Logger LOG = LoggerFactory.getLogger(Reporter.class);
    private static final long PAUSE_MILLIS = 200;

    private final WrittenStates states;
    private final Supplier<Set<String>> busy;
    private final Driver driver;
    private final Thread thread;
    private volatile boolean isClosed;
    private long seenRound;

    /**
     * @param busy checkpoints to which this process has something to write
     */
    Reporter(WrittenStates states, Supplier<Set<String>> busy, Driver driver) {
        this.states = states;
        this.busy = busy;
        this.driver = driver;
        this.thread = new Thread(this::run, "afterbay-reporter");
        thread.setDaemon(true);
    }

    /** Makes this executor known to the driver, before it has tasks, and goes on in a thread. */
    void start() throws Exception {
        report(false);
        thread.start();
    }

    private void run() {
        while (!isClosed) {
            try {
                states.awaitNews(HEARTBEAT_NANOS);
                reportUnlessClosed();
            } catch (InterruptedException e) {
                // Closed, or nobody's business.
            } catch (Exception | LinkageError e) {
                LOG.warn("The driver did not answer; asking again", e);
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            // Closed, or nobody's business.
        }
    }

    /** Nothing follows the last report: the driver would take this executor for a new one. */
    private synchronized void reportUnlessClosed() throws Exception {
        if (!isClosed) {
            report(false);
        }
    }

    private synchronized void report(boolean isLast) throws Exception {
        WriterReport report = states.report(seenRound, busy.get(), isLast);
        seenRound = (Long) driver.ask(report);
        states.confirmed(report);
    }

    /** With a last report: nothing may be published after it. */
    @Override
    public void close() {
        isClosed = true;
        thread.interrupt();
        try {
            report(true);
        } catch (Exception e) {
            LOG.warn("The driver has not heard what was published last; a batch may run again", e);
        }
    }
}
