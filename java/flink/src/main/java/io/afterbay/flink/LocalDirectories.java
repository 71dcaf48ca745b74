package io.afterbay.flink;

import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.execution.Environment;

/**
 * Chooses the directory of a store: the configured ones, or the TaskManager's, in turn. With local
 * recovery of incremental checkpoints, which links files, it is by default where that is.
 */
final class LocalDirectories {
    private static final AtomicInteger NEXT = new AtomicInteger();

    private LocalDirectories() {}

    static Path choose(AfterbaySettings settings, Environment env, JobID job, String operator) {
        List<String> configured = settings.localDirectories();
        List<String> roots = configured.isEmpty() ? temporary(settings, env) : configured;
        String root = roots.get(Math.floorMod(NEXT.getAndIncrement(), roots.size()));
        String name =
                "afterbay_job_%s_op_%s_%s"
                        .formatted(
                                job,
                                operator.replaceAll("[^a-zA-Z0-9\\-]", "_"),
                                UUID.randomUUID());
        return new File(root, name).toPath().toAbsolutePath();
    }

    private static List<String> temporary(AfterbaySettings settings, Environment env) {
        boolean isLinked =
                settings.isIncremental()
                        && env.getTaskStateManager()
                                .createLocalRecoveryConfig()
                                .isLocalBackupEnabled();
        return isLinked
                ? List.of(env.getTaskManagerInfo().getTmpWorkingDirectory().getPath())
                : Arrays.asList(env.getIOManager().getSpillingDirectoriesPaths());
    }
}
