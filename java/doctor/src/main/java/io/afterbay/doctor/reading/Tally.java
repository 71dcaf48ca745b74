package io.afterbay.doctor.reading;

import java.util.ArrayList;
import java.util.List;

/** What was read, and what of it could not be used. Only counts; never a reason to stop. */
public final class Tally {
    /** A file or folder that could not be read, and why. */
    public record Unreadable(String path, String reason) {}

    private final List<Unreadable> unreadable = new ArrayList<>();
    private final List<String> withoutEvents = new ArrayList<>();
    int files;
    long bytes;
    long lines;
    long events;
    long damagedLines;
    long cutLines;
    long foreignLines;
    long endsWithoutStart;
    long startsWithoutEnd;

    /** Files that were opened and read to their end. */
    public int files() {
        return files;
    }

    public long bytes() {
        return bytes;
    }

    public long lines() {
        return lines;
    }

    public long events() {
        return events;
    }

    /** Lines with the beginning of an event that is not whole. */
    public long damagedLines() {
        return damagedLines;
    }

    /** Lines longer than RocksDB writes; only their beginning was looked at. */
    public long cutLines() {
        return cutLines;
    }

    /** Lines without RocksDB's time; its statistics of several lines are such, too. */
    public long foreignLines() {
        return foreignLines;
    }

    /** Flushes of which the log has only the end, because it begins later. */
    public long endsWithoutStart() {
        return endsWithoutStart;
    }

    /** Flushes and compactions of which the log has no end. */
    public long startsWithoutEnd() {
        return startsWithoutEnd;
    }

    public List<Unreadable> unreadable() {
        return unreadable;
    }

    /** Files in which there is no flush and no compaction at all. */
    public List<String> withoutEvents() {
        return withoutEvents;
    }
}
