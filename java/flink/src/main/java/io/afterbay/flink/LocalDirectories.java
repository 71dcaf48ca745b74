package io.afterbay.flink;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.execution.Environment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the directory of a store: the configured ones, or the TaskManager's, in turn. With local
 * recovery of incremental checkpoints, which links files, it is by default where that is. The first
 * time that a process uses one, it deletes what others that were killed have left there.
 */
final class LocalDirectories {
    private static final Logger LOG = LoggerFactory.getLogger(LocalDirectories.class);
    private static final AtomicInteger NEXT = new AtomicInteger();
    private static final Set<String> COLLECTED = ConcurrentHashMap.newKeySet();
    private static final Set<String> LOOKED_BESIDE = ConcurrentHashMap.newKeySet();

    private LocalDirectories() {}

    static LocalDirectory choose(
            AfterbaySettings settings, Environment env, JobID job, String operator) {
        List<String> configured = settings.localDirectories();
        List<String> roots = configured.isEmpty() ? temporary(settings, env) : configured;
        roots.stream().filter(COLLECTED::add).forEach(LocalDirectories::collectLeftovers);
        String root = roots.get(Math.floorMod(NEXT.getAndIncrement(), roots.size()));
        return LocalDirectory.claim(Path.of(root), job.toString(), operator);
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

    /** Behind the task, which need not wait for the deletion of many files. */
    private static void collectLeftovers(String root) {
        var collecting =
                CompletableFuture.runAsync(
                        () -> {
                            LocalDirectory.collectLeftovers(Path.of(root));
                            besides(new File(root)).forEach(LocalDirectory::collectLeftovers);
                        });
    }

    /**
     * Where others may have left something beside a directory: only the first time that this
     * process looks there, since a process may use many of them, and thousands may lie there.
     */
    static List<Path> besides(File root) {
        File parent = root.getAbsoluteFile().getParentFile();
        if (parent == null
                || !LocalDirectory.isOfOneStart(root)
                || !LOOKED_BESIDE.add(parent.getPath())) {
            return List.of();
        }
        try {
            return LocalDirectory.rootsOfOtherProcesses(parent.toPath());
        } catch (IOException e) {
            LOG.debug("Cannot look beside {}", root, e);
            return List.of();
        }
    }
}
