package io.afterbay.replay;

import java.io.IOException;
import java.io.Serializable;
import java.net.URI;

/**
 * The control of a replay, for one of the sources of its job: its part of the rate, and its own
 * progress. The rate is divided equally among the sources that have not ended. Thread safe.
 *
 * @param replay names it and its range
 * @param jobId of the job, 32 hexadecimal digits
 * @param source its number, from 0
 * @param sources how many the job has
 * @param name of the source's operator
 */
record SourceControl(
        URI directory,
        String replay,
        String jobId,
        int source,
        int sources,
        long fromMs,
        String name)
        implements Serializable {
    /**
     * Its part of the rate.
     *
     * @param isFirst whether nothing was asked before, so that no record has come
     * @throws ReplayOverException if the job is not to begin, or another one does the replay
     */
    double rate(boolean isFirst) throws IOException {
        ReplayControl control = new ReplayControl(directory);
        ReplayOrders orders = control.orders();
        if (!orders.areFor(jobId)) {
            throw new ReplayOverException(
                    "replay %s is done by job %s, and not by this one, %s: it has come late, or its cluster was asked in vain for it"
                            .formatted(replay, orders.jobId(), jobId));
        }
        if (orders.isCancelled() && isFirst) {
            throw new ReplayOverException(
                    "replay %s was cancelled before this job of it began: it reads and writes nothing"
                            .formatted(replay));
        }
        double rate = orders.recordsPerSecond();
        return sources == 1
                ? rate
                : rate / (sources - control.othersThatHaveEnded(source, sources));
    }

    void tell(ReplayProgress progress) throws IOException {
        new ReplayControl(directory).tell(source, sources, fromMs, progress);
    }

    @Override
    public String toString() {
        return "source '" + name + "' of a replay (" + directory + ")";
    }
}
