package io.afterbay.store;

import io.afterbay.store.io.LocalFiles;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What a store is opened with.
 *
 * @param name for messages and metrics, for example the operator and its subtask
 * @param directory where local files go; created if missing, and deleted by {@link
 *     StateStore#close}
 * @param files the file system
 * @param budget memory, shared with other stores
 * @param background writes and deletes files; at least one thread must make progress
 * @param compaction compacts files, and may put that off; may be the same as {@code background}
 * @param owner the thread that works with the store
 * @param firstKeyGroup the first key group that the store holds
 * @param lastKeyGroup the last one, inclusive
 * @param maxSpaceAmplification total bytes on disk / live bytes that compaction keeps; above 1
 * @param compression whether pages are compressed on their way to files; files with and without are
 *     read alike
 * @param reads reads pages from files while the owner waits for it, as many at a time as it takes;
 *     it may refuse. Null: nothing is read ahead
 * @param tuning sizes that are not for users
 */
public record StoreOptions(
        String name,
        Path directory,
        LocalFiles files,
        MemoryBudget budget,
        Executor background,
        Executor compaction,
        StoreOwner owner,
        int firstKeyGroup,
        int lastKeyGroup,
        double maxSpaceAmplification,
        boolean compression,
        @Nullable Executor reads,
        StoreTuning tuning) {

    /** FlowKV's choice (section 6.5); between 1.25 and 2 the cost of compaction changes little. */
    public static final double DEFAULT_MAX_SPACE_AMPLIFICATION = 1.5;

    public StoreOptions {
        if (firstKeyGroup < 0 || lastKeyGroup < firstKeyGroup || lastKeyGroup > 32767) {
            throw new IllegalArgumentException(
                    "key groups "
                            + firstKeyGroup
                            + ".."
                            + lastKeyGroup
                            + " are not a range within 0..32767");
        }
        if (!(maxSpaceAmplification > 1)) {
            throw new IllegalArgumentException(
                    "maximum space amplification must be above 1, not " + maxSpaceAmplification);
        }
    }

    /** With what all stores have of the rest. */
    public StoreOptions(
            String name,
            Path directory,
            LocalFiles files,
            MemoryBudget budget,
            Executor background,
            Executor compaction,
            StoreOwner owner,
            int firstKeyGroup,
            int lastKeyGroup,
            double maxSpaceAmplification,
            boolean compression) {
        this(
                name,
                directory,
                files,
                budget,
                background,
                compaction,
                owner,
                firstKeyGroup,
                lastKeyGroup,
                maxSpaceAmplification,
                compression,
                null,
                StoreTuning.DEFAULT);
    }

    /** The same with another owner. */
    public StoreOptions withOwner(StoreOwner newOwner) {
        return new StoreOptions(
                name,
                directory,
                files,
                budget,
                background,
                compaction,
                newOwner,
                firstKeyGroup,
                lastKeyGroup,
                maxSpaceAmplification,
                compression,
                reads,
                tuning);
    }
}
