package io.afterbay.doctor.reading;

import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;

/**
 * What the log of an instance says of one column family: an LSM tree of its own, with its own count
 * of files in level 0, and so with its own time to compact.
 */
public final class ColumnFamilyLog {
    private static final int MAX_FILES = 64;

    /** Reasons of flushes: a checkpoint, a commit or a call of flush. */
    public static final Set<String> ASKED_FOR = Set.of("Get Live Files", "Manual Flush");

    private final InstanceName instance;
    private final String name;
    private final Intervals flushes;
    private final Intervals checkpointFlushes;
    private final Intervals compactions;
    private final Map<String, Integer> flushReasons;
    private final int[] compactionsByFiles;
    private OptionalInt trigger = OptionalInt.empty();

    public ColumnFamilyLog(InstanceName instance, String name) {
        this.instance = instance;
        this.name = name;
        flushes = new Intervals();
        checkpointFlushes = new Intervals();
        compactions = new Intervals();
        flushReasons = new TreeMap<>();
        compactionsByFiles = new int[MAX_FILES + 1];
    }

    /** The same under another name; what was read is shared. */
    ColumnFamilyLog(InstanceName instance, ColumnFamilyLog read) {
        this.instance = instance;
        name = read.name;
        flushes = read.flushes;
        checkpointFlushes = read.checkpointFlushes;
        compactions = read.compactions;
        flushReasons = read.flushReasons;
        compactionsByFiles = read.compactionsByFiles;
        trigger = read.trigger;
    }

    public InstanceName instance() {
        return instance;
    }

    public String name() {
        return name;
    }

    public Intervals flushes() {
        return flushes;
    }

    /** Those of the flushes that somebody asked for, rather than a full memtable. */
    public Intervals checkpointFlushes() {
        return checkpointFlushes;
    }

    /**
     * How many flushes began for which reason: {@code GetFlushReasonString} in RocksDB's
     * db/flush_job.cc, as in {@code WAL Full}; empty where the log names none.
     */
    public Map<String, Integer> flushReasons() {
        return flushReasons;
    }

    public Intervals compactions() {
        return compactions;
    }

    public boolean hasEvents() {
        return !flushes.isEmpty() || !compactions.isEmpty();
    }

    /** The option level0_file_num_compaction_trigger, as far as the log has it. */
    public OptionalInt trigger() {
        return trigger;
    }

    public void setTrigger(int files) {
        trigger = OptionalInt.of(files);
    }

    /**
     * Adds a flush.
     *
     * @param reason as in {@link #flushReasons}
     */
    public void addFlush(long start, long end, String reason) {
        flushes.add(start, end);
        flushReasons.merge(reason, 1, Integer::sum);
        if (ASKED_FOR.contains(reason)) {
            checkpointFlushes.add(start, end);
        }
    }

    /**
     * Adds a compaction.
     *
     * @param level0Files that it took because there were so many, else 0
     */
    public void addCompaction(long start, long end, int level0Files) {
        compactions.add(start, end);
        compactionsByFiles[Math.min(level0Files, MAX_FILES)]++;
    }

    /** The median of the files of level 0 whose number made compactions begin; empty if none. */
    public OptionalInt filesPerCompaction() {
        int all = 0;
        for (int files = 1; files <= MAX_FILES; files++) {
            all += compactionsByFiles[files];
        }
        int seen = 0;
        for (int files = 1; files <= MAX_FILES; files++) {
            seen += compactionsByFiles[files];
            if (all > 0 && 2 * seen >= all) {
                return OptionalInt.of(files);
            }
        }
        return OptionalInt.empty();
    }
}
