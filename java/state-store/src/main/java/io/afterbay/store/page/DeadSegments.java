package io.afterbay.store.page;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;

/**
 * Segments out of use whose files are there yet: the background has not come to delete them, or
 * could not. Guarded by the log's lock, which is not held while a file is deleted.
 */
final class DeadSegments {
    private final SegmentLog log;
    private final SegmentFiles files;
    private final ArrayDeque<Segment> segments = new ArrayDeque<>();
    private long bytes;

    DeadSegments(SegmentLog log, SegmentFiles files) {
        this.log = log;
        this.files = files;
    }

    /** In their files, at most. Lock held. */
    long bytes() {
        return bytes;
    }

    /** Has the background delete a file. Lock held. */
    void delete(Segment segment) {
        add(segment);
        if (!log.tasks.submit(() -> deleteUnlessDone(segment))) {
            deleteUnlessDone(segment);
        }
    }

    private void deleteUnlessDone(Segment segment) {
        log.lock.lock();
        boolean isMine = remove(segment);
        log.lock.unlock();
        if (isMine) {
            deleteFile(segment);
        }
    }

    /**
     * Deletes the file that has waited longest; false if there is none. Lock held, and let go of
     * meanwhile.
     */
    boolean deleteOne() {
        Segment first = segments.peek();
        if (first != null) {
            remove(first);
            log.lock.unlock();
            try {
                deleteFile(first);
            } finally {
                log.lock.lock();
            }
        }
        return first != null;
    }

    /** Deletes all files and these: each once, and once more what could not be deleted. */
    void deleteAll(Collection<Segment> others) {
        others.forEach(this::add);
        deleteAll();
        deleteAll();
    }

    private void deleteAll() {
        List<Segment> all = List.copyOf(segments);
        segments.clear();
        bytes = 0;
        all.forEach(this::deleteFile);
    }

    private void deleteFile(Segment segment) {
        try {
            files.delete(segment);
        } catch (IOException e) {
            log.fail(segment.path, "cannot delete; asked", segment.end, e);
            keepForClose(segment);
        }
    }

    private void keepForClose(Segment segment) {
        log.lock.lock();
        try {
            add(segment);
        } finally {
            log.lock.unlock();
        }
    }

    private void add(Segment segment) {
        segments.add(segment);
        bytes += segment.end;
    }

    private boolean remove(Segment segment) {
        boolean isThere = segments.remove(segment);
        bytes -= isThere ? segment.end : 0;
        return isThere;
    }
}
