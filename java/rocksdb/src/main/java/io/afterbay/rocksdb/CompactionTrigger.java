package io.afterbay.rocksdb;

import io.afterbay.maintenance.Spread;

/**
 * How many files in L0 start a compaction of an instance: what is set, and α more (ShadowSync,
 * section 4.1, where α is uniform in [0, 4)). Plain arithmetic.
 */
final class CompactionTrigger {
    /** How many values α has. */
    private static final int RANGE = 4;

    private CompactionTrigger() {}

    /**
     * The trigger of an instance. At most half of the files at which writes are slowed down: the
     * other half is for those that come while the compaction waits. A trigger that is above that
     * already stays as it is.
     *
     * @param trigger what is set, by RocksDB or the user
     * @param slowdownFiles at which writes are slowed down
     * @param phase of the instance, in [0, 1)
     */
    static int spread(int trigger, int slowdownFiles, double phase) {
        int range = Math.min(RANGE, slowdownFiles / 2 - trigger + 1);
        return range <= 1 ? trigger : trigger + Spread.triggerOffset(phase, range);
    }

    /**
     * From how many files in L0 on compactions must not be held back. RocksDB makes a flush wait,
     * and with it a checkpoint, that would bring L0 to the slowdown; a fifth of the files below
     * that leaves room for what is flushed until the compaction has ended.
     */
    static int guardFiles(int slowdownFiles) {
        return Math.max(1, slowdownFiles - Math.max(2, slowdownFiles / 5));
    }
}
