package io.afterbay.flink.it;

import static io.afterbay.flink.it.SoakPlan.Event.FREEZE;
import static io.afterbay.flink.it.SoakPlan.Event.KILL;
import static io.afterbay.flink.it.SoakPlan.Event.LOSE;
import static io.afterbay.flink.it.SoakPlan.Event.RESCALE;
import static io.afterbay.flink.it.SoakPlan.Event.RESUME;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.it.cluster.Artifacts;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.flink.it.job.Pages;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.Test;

/**
 * State of twenty times the memory of its stores, incremental checkpoints every 5 s with local
 * recovery, and processes that are killed at random, for thirty minutes: the output is exactly
 * right, no files are left, and memory does not grow.
 *
 * <p>What happens when is decided by a seed, which is printed; -Dafterbay.soak.seed=N repeats it,
 * as far as the machine does. -Dafterbay.soak.minutes=N takes another time: the state is large
 * enough from 8 on.
 */
@LongForm
class SoakIT {
    /** State, by the memory that the stores share. */
    private static final int FACTOR = 20;

    /** What the last third of a process's life may take more than the one before. */
    private static final long GROWTH_BYTES_MAX = 48L << 20;

    private static final int KILLS_MIN = 3;

    /**
     * @param managedMib managed memory of a TaskManager: 1 MiB at least for each of the five stores
     *     of a slot, and for the stores from which they copy when they are restored with another
     *     parallelism
     * @param pages so few that nearly all are filled, and so many that they are {@link #FACTOR}
     *     times as large as the managed memory
     * @param parts of the output, which are compared one by one
     */
    private record Form(
            Duration time,
            int managedMib,
            int perSecond,
            Pages pages,
            List<SoakPlan.Event> events,
            int parts) {

        /** The job is down for the rest. */
        private static final double READING = 0.75;

        static Form usual() {
            return new Form(
                    minutes(TestForm.SOAK_MINUTES),
                    24,
                    250,
                    new Pages(72, 4 << 10),
                    List.of(KILL, KILL, KILL, LOSE, FREEZE, RESUME, RESCALE),
                    16);
        }

        private static Duration minutes(int usual) {
            String minutes = System.getProperty("afterbay.soak.minutes", String.valueOf(usual));
            return Duration.ofSeconds((long) (60 * Double.parseDouble(minutes)));
        }

        Ledger.Load load() {
            return new Ledger.Load(
                    (int) (READING * time.toSeconds() * perSecond), perSecond, pages);
        }

        long storeBytes() {
            return (long) ClusterExtension.TASK_MANAGERS * managedMib << 20;
        }
    }

    @Test
    void endsWithExactlyTheRightOutputAndNothingElse() throws Exception {
        long seed = Long.getLong("afterbay.soak.seed", new Random().nextLong());
        Form form = Form.usual();
        Path work =
                Files.createTempDirectory(
                        Files.createDirectories(Artifacts.workDir()), "soak-working-dir-");
        try {
            run(seed, form, work);
        } finally {
            FileUtils.deleteDirectory(work.toFile());
        }
    }

    private static void run(long seed, Form form, Path work) throws Exception {
        try (StandaloneCluster cluster =
                        StandaloneCluster.start(
                                "soak-", true, ClusterExtension.TASK_MANAGERS, config(form, work));
                MemorySampler memory = new MemorySampler(cluster)) {
            Ledger ledger = new Ledger(cluster, "soak", form.load(), 0.95);
            Soak soak = new Soak(cluster, ledger, new SoakPlan(seed, form.events), work);
            soak.say("-Dafterbay.soak.seed=%d", seed);
            try {
                soak.run(form.time, KILLS_MIN);
                check(soak, form, cluster, memory.curve());
                ledger.assertOutput(form.parts);
                soak.say("the output is right");
            } catch (Throwable e) {
                System.err.println(cluster.tails());
                soak.say("failed; -Dafterbay.soak.seed=%d", seed);
                throw e;
            }
        }
    }

    private static Map<String, String> config(Form form, Path work) throws Exception {
        Map<String, String> config =
                new Guide().config("local-recovery", Map.of("WORKING_DIR", work.toString()));
        config.put("taskmanager.memory.managed.size", form.managedMib + "m");
        config.put("execution.checkpointing.interval", "5s");
        config.put("execution.checkpointing.min-pause", "2s");
        config.put("execution.checkpointing.num-retained", "1");
        config.put("restart-strategy.fixed-delay.attempts", "1000");
        // The heap is there from the start: what grows is something else.
        config.put("env.java.opts.taskmanager", "-XX:+AlwaysPreTouch");
        return config;
    }

    private static void check(Soak soak, Form form, StandaloneCluster cluster, MemoryCurve memory)
            throws Exception {
        long archiveBytes = form.pages.bytes(form.load().journal());
        soak.say(
                "state: archive of %s, and %s in the stores' files; stores have %s of memory: %.1f and %.1f times",
                MemoryCurve.mib(archiveBytes),
                MemoryCurve.mib(soak.diskLiveBytesMax()),
                MemoryCurve.mib(form.storeBytes()),
                (double) archiveBytes / form.storeBytes(),
                (double) soak.diskLiveBytesMax() / form.storeBytes());
        soak.say(
                "memory of %s by thirds: %s; the configuration gives it %s",
                Soak.VETERAN,
                memory.describe(Soak.VETERAN),
                MemoryCurve.mib(cluster.taskManagerBytes()));
        soak.checkStorage();
        soak.checkLocalFiles();
        assertThat(archiveBytes).isGreaterThanOrEqualTo(FACTOR * form.storeBytes());
        assertThat(soak.diskLiveBytesMax()).isGreaterThanOrEqualTo(FACTOR * form.storeBytes());
        memory.assertAtMost(cluster.taskManagerBytes());
        memory.assertFlat(Soak.VETERAN, GROWTH_BYTES_MAX);
        // A restart, or state from storage, would help: the output alone does not tell.
        assertThat(cluster.logLines("Exception while restoring keyed state backend")).isEmpty();
        assertThat(cluster.logLines("Caused by: io.afterbay.")).isEmpty();
        assertThat(cluster.logLines("LocalCopies")).isEmpty();
    }
}
