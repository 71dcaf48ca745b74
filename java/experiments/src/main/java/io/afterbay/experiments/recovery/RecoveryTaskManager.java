package io.afterbay.experiments.recovery;

import io.afterbay.command.ExitCode;
import org.apache.flink.runtime.taskexecutor.TaskManagerRunner;

/** A TaskManager in a process of its own, which ends with the process that has started it. */
final class RecoveryTaskManager {
    private RecoveryTaskManager() {}

    public static void main(String[] args) throws Exception {
        ProcessHandle.current()
                .parent()
                .ifPresent(
                        parent ->
                                parent.onExit()
                                        .thenRun(() -> Runtime.getRuntime().halt(ExitCode.KILLED)));
        TaskManagerRunner.main(args);
    }
}
