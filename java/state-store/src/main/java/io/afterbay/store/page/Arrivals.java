package io.afterbay.store.page;

import io.afterbay.store.StateStoreException;
import io.afterbay.store.io.LocalFile;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Adopted segments whose files are still on their way, and what is done when one is here. */
final class Arrivals {
    private final SegmentLog log;
    private final SegmentFiles files;
    private final AtomicInteger arriving = new AtomicInteger();

    Arrivals(SegmentLog log, SegmentFiles files) {
        this.log = log;
        this.files = files;
    }

    /** Whether any is on its way. */
    boolean exist() {
        return arriving.get() > 0;
    }

    /** A segment that is away until its file has arrived. */
    void expect(Segment segment, LocalFile file) {
        arriving.incrementAndGet();
        file.arrival().whenComplete((here, failure) -> arrived(segment, failure));
    }

    /** All of a segment is here, or never will be. Lock not held. */
    private void arrived(Segment segment, @Nullable Throwable failure) {
        arriving.decrementAndGet();
        if (failure == null) {
            log.tasks.runIfOpen(() -> verify(segment));
        } else if (!(failure instanceof CancellationException)) { // else nobody needs it
            log.fail(
                    new StateStoreException(
                            failure.getMessage()
                                    + "; the task must restore from its last checkpoint",
                            failure));
        }
    }

    private void verify(Segment segment) {
        log.lock.lock();
        boolean isNeeded = log.has(segment);
        if (isNeeded) {
            log.pinSegment(segment);
        }
        log.lock.unlock();
        if (isNeeded) {
            try {
                files.verifyHeader(segment);
            } catch (IOException e) {
                log.fail(segment.path, "cannot read", 0, e);
            } finally {
                log.lock.lock();
                segment.isAway = false;
                log.unpinSegment(segment);
                log.lock.unlock();
            }
        }
    }
}
