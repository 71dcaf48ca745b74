package io.afterbay.flink.incremental;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/** The figures of incremental checkpoints as gauges of their operator. */
public final class CheckpointFigures {
    private final AtomicLong logBytes = new AtomicLong();
    private final AtomicLong bases = new AtomicLong();
    private final AtomicLong uploadedBytes = new AtomicLong();
    private final AtomicLong logStalls = new AtomicLong();

    private final AtomicLong earlyFiles = new AtomicLong();

    private final AtomicLong localCopies = new AtomicLong();
    private final AtomicLong localCopyFailures = new AtomicLong();

    /** Once the backend is there: a group keeps the first gauge of a name. */
    public void register(MetricGroup group) {
        group.gauge("checkpointLogBytes", (Gauge<Long>) logBytes::get);
        group.gauge("checkpointLogStalls", (Gauge<Long>) logStalls::get);
        group.gauge("checkpointBases", (Gauge<Long>) bases::get);
        group.gauge("checkpointUploadedBytes", (Gauge<Long>) uploadedBytes::get);
        group.gauge("checkpointEarlyFiles", (Gauge<Long>) earlyFiles::get);
        group.gauge("checkpointLocalCopies", (Gauge<Long>) localCopies::get);
        group.gauge("checkpointLocalCopyFailures", (Gauge<Long>) localCopyFailures::get);
    }

    /** The length of the redo log that the last checkpoint refers to. */
    void logBytes(long bytes) {
        logBytes.set(bytes);
    }

    /** The task waited so often, since the start, for its log to be written. */
    void logStalls(long count) {
        logStalls.set(count);
    }

    /** So many files are in checkpoint storage that no checkpoint refers to yet. */
    void earlyFiles(long count) {
        earlyFiles.set(count);
    }

    void localCopyMade() {
        localCopies.incrementAndGet();
    }

    void localCopyFailed() {
        localCopyFailures.incrementAndGet();
    }

    void baseWritten() {
        bases.incrementAndGet();
    }

    void uploaded(long bytes) {
        uploadedBytes.addAndGet(bytes);
    }
}
