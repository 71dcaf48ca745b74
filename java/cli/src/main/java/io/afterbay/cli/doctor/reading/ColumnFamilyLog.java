package io.afterbay.cli.doctor.reading;

import java.util.OptionalInt;

/**
 * What the log of an instance says of one column family: an LSM tree of its own, with its own count
 * of files in level 0, and so with its own time to compact.
 */
public final class ColumnFamilyLog {
    private static final int MAX_FILES = 64;

    private final InstanceName instance;
    private final String name;
    private final Intervals flushes = new Intervals();
    private final Intervals checkpointFlushes = new Intervals();
    private final Intervals compactions = new Intervals();
    private final int[] compactionsByFiles = new int[MAX_FILES + 1];
    private OptionalInt trigger = OptionalInt.empty();

    public ColumnFamilyLog(InstanceName instance, String name) {
        this.instance = instance;
        this.name = name;
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

    public Intervals compactions() {
        return compactions;
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
     * @param isAskedFor by a checkpoint, a commit or a call of flush
     */
    public void addFlush(long start, long end, boolean isAskedFor) {
        flushes.add(start, end);
        if (isAskedFor) {
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
