package io.afterbay.cli.replay;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.run.EmbeddedWorker;
import io.afterbay.cli.run.RemoteWorker;
import io.afterbay.cli.run.RunWorker;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.flink.FlinkFileSystems;
import io.afterbay.handover.Handover;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The process of a replay. */
final class ReplayWorker {
    private ReplayWorker() {}

    /**
     * @param directory of the replay
     * @param plan as it is there, with the checkpoint to start from
     */
    record Task(String directory, ReplayPlan plan) {}

    public static void main(String[] args) throws Exception {
        Handover handover = JsonHandover.in(WorkDirectory.ofWorker().orElseThrow());
        Task task = handover.plan(Task.class);
        EngineSettings engine = handover.settings(EngineSettings.class);
        RunWorker.conclude(task.plan().run().command(), () -> run(task, engine));
    }

    private static int run(Task task, EngineSettings engine) throws Exception {
        ReplayDirectory directory = ReplayDirectory.of(Path.of(task.directory()));
        if (!directory.hold(ReplayLock.Holder.WORKER)) {
            throw new CommandFailure("replay %s runs already".formatted(task.plan().id()));
        }
        ReplayPlan plan = task.plan();
        if (!plan.isBlocking()) {
            return replay(directory, task, engine, null);
        }
        FlinkFileSystems.initialize(engine.properties());
        WorkDirectory.dieWithParent(WorkDirectory.ofWorker().orElseThrow());
        BlockedLive live = new BlockedLive(directory, plan, engine);
        return live.around(() -> replay(directory, task, engine, live));
    }

    private static int replay(
            ReplayDirectory directory,
            Task task,
            EngineSettings engine,
            @Nullable BlockedLive stopped)
            throws Exception {
        ReplayCompanion companion = new ReplayCompanion(directory, task.plan(), stopped);
        try (companion) {
            ClusterAddress cluster = task.plan().on();
            return cluster == null
                    ? new EmbeddedWorker(task.plan().run(), engine, companion).run()
                    : new RemoteWorker(task.plan().run(), cluster, engine, companion).run();
        } finally {
            if (companion.hasNothingBegun()) {
                directory.remove();
            } else if (directory.hasFinished()) {
                // Flink removes what it made, but not what the job was restored from.
                directory.removeCheckpoints();
            }
        }
    }
}
