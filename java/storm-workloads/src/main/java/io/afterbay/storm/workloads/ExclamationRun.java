package io.afterbay.storm.workloads;

import io.afterbay.command.CommandFailure;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.storm.generated.StormTopology;

/** Runs a plan on a cluster in this process, to its end. */
final class ExclamationRun {
    private static final Duration LOOK = Duration.ofMillis(100);

    /** Without an acked word for so long, nothing comes any more. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final ExclamationPlan plan;
    private final StormTopology topology;
    private final Map<String, Object> conf;
    private final Measured measured;

    ExclamationRun(ExclamationPlan plan) {
        this(plan, ExclamationTopology.conf(plan));
    }

    private ExclamationRun(ExclamationPlan plan, Map<String, Object> conf) {
        this(plan, ExclamationTopology.of(plan, conf), conf);
    }

    /**
     * @param topology that says of each of the plan's words when it is acked
     */
    ExclamationRun(ExclamationPlan plan, StormTopology topology, Map<String, Object> conf) {
        this.plan = plan;
        this.topology = topology;
        this.conf = conf;
        this.measured = Measured.of(plan.run());
    }

    /**
     * On a cluster of its own.
     *
     * @param directory for what Storm writes
     * @param progress hears of it now and then
     * @throws CommandFailure if words are lost
     */
    ExclamationReport run(Path directory, Consumer<Measured> progress) throws Exception {
        try (EmbeddedStorm storm = new EmbeddedStorm(directory)) {
            return run(storm, progress);
        }
    }

    /**
     * @param progress hears of it now and then
     * @throws CommandFailure if words are lost
     */
    ExclamationReport run(EmbeddedStorm storm, Consumer<Measured> progress) throws Exception {
        try {
            storm.submit(plan.run(), conf, topology);
            await(progress);
            ExclamationReport report = ExclamationReport.of(plan, measured);
            storm.kill(plan.run());
            return report;
        } finally {
            Measured.forget(plan.run());
        }
    }

    private void await(Consumer<Measured> progress) throws InterruptedException, CommandFailure {
        int seen = 0;
        long since = System.nanoTime();
        while (measured.ackedWords() < plan.words()) {
            Thread.sleep(LOOK.toMillis());
            measured.replays().look();
            progress.accept(measured);
            int acked = measured.ackedWords();
            if (acked > seen) {
                seen = acked;
                since = System.nanoTime();
            } else if (System.nanoTime() - since > PATIENCE.toNanos()) {
                throw new CommandFailure(
                        "no word was acked for %d s; %d of %d were, %d failed. See Storm's log with --verbose"
                                .formatted(
                                        PATIENCE.toSeconds(),
                                        acked,
                                        plan.words(),
                                        measured.failures()));
            }
        }
    }
}
