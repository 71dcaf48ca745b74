package io.afterbay.orphans;

import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.runtime.state.filesystem.AbstractFsCheckpointStorageAccess;

/** The names that Flink gives to directories and files of checkpoints. */
final class JobLayout {
    static final String METADATA = AbstractFsCheckpointStorageAccess.METADATA_FILE_NAME;
    static final String SHARED = AbstractFsCheckpointStorageAccess.CHECKPOINT_SHARED_STATE_DIR;
    static final String TASK_OWNED =
            AbstractFsCheckpointStorageAccess.CHECKPOINT_TASK_OWNED_STATE_DIR;

    private static final Pattern JOB_ID = Pattern.compile("[0-9a-f]{32}");
    private static final Pattern CHECKPOINT =
            Pattern.compile(
                    AbstractFsCheckpointStorageAccess.CHECKPOINT_DIR_PREFIX + "(\\d{1,18})");

    private JobLayout() {}

    static boolean isJobId(String name) {
        return JOB_ID.matcher(name).matches();
    }

    /** The number of a checkpoint, by the name of its directory. */
    static OptionalLong checkpointId(String name) {
        Matcher matcher = CHECKPOINT.matcher(name);
        return matcher.matches()
                ? OptionalLong.of(Long.parseLong(matcher.group(1)))
                : OptionalLong.empty();
    }

    /** Whether a job keeps its checkpoints in the directory that has such an entry. */
    static boolean isOfJob(Storage.Entry entry) {
        return entry.isDirectory()
                && (entry.name().equals(SHARED)
                        || entry.name().equals(TASK_OWNED)
                        || checkpointId(entry.name()).isPresent());
    }

    /** Whether there are files of state only, and no checkpoints further down. */
    static boolean isOfState(String name) {
        return name.equals(SHARED) || name.equals(TASK_OWNED);
    }
}
