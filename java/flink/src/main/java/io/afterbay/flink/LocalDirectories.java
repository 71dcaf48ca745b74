package io.afterbay.flink;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
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
                            List<Path> all = new ArrayList<>(List.of(Path.of(root)));
                            try {
                                all.addAll(LocalDirectory.rootsOfOtherProcesses(new File(root)));
                            } catch (IOException e) {
                                LOG.debug("Cannot look beside {}", root, e);
                            }
                            all.forEach(LocalDirectory::collectLeftovers);
                        });
    }
}
