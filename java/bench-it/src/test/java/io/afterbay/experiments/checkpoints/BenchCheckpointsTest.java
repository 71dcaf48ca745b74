package io.afterbay.experiments.checkpoints;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.Command;
import io.afterbay.experiments.ShortForm;
import io.afterbay.experiments.checkpoints.CheckpointTrial.Checkpoint;
import io.afterbay.testing.LongForm;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchCheckpointsTest {
    private static final CheckpointKind KIND = new CheckpointKind(List.of());

    @TempDir private Path directory;

    private int run(String... more) throws Exception {
        return new ShortForm(directory, "checkpoints", "--sizes=32m", "--memory=1g").run(more);
    }

    @Test
    @LongForm
    void theQuickFormCountsCheckpointsAsConfigured() throws Exception {
        Command command = new Command(directory);
        assertThat(run()).as(command.err()).isZero();
        JsonNode runs = command.summary();
        assertThat(runs).hasSize(4);
        for (JsonNode run : runs) {
            assertThat(run.get("failure").isNull()).isTrue();
            assertThat(run.get("outputs_right").asBoolean()).isTrue();
            assertThat(run.get("events_per_s").asDouble()).isPositive();
            boolean configured = run.get("interval_ms").asLong() > 0;
            assertThat(run.get("closed_checkpoints").isEmpty()).isEqualTo(!configured);
            assertThat(run.get("open_checkpoints").isEmpty()).isEqualTo(!configured);
        }
        assertThat(command.out()).contains("- Aim: ", "| `rocksdb-heap-timers` | 1.0 s |");
        assertThat(command.err()).contains("round 1 of 1: afterbay, state 32.0 MiB");
        assertThat(directory.resolve("results")).doesNotExist();
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    @Test
    @LongForm
    void fullCheckpointsAreNoticed() throws Exception {
        int code =
                run(
                        "--backends=afterbay",
                        "--intervals=1s",
                        "-Dexecution.checkpointing.incremental=false");
        assertThat(code).isEqualTo(1);
        assertThat(new Command(directory).err()).contains("none was incremental");
    }

    @Test
    void whatWasNotConfiguredIsNoticed() {
        Checkpoint small = new Checkpoint(1, 2, 3, 4, 100);
        Checkpoint full = new Checkpoint(1, 2, 3, 100, 100);
        assertThat(KIND.problems(run(0, true, List.of()))).isEmpty();
        assertThat(KIND.problems(run(0, true, List.of(small)))).hasSize(1);
        assertThat(KIND.problems(run(1000, true, List.of(full, small)))).isEmpty();
        assertThat(KIND.problems(run(1000, true, List.of(full)))).hasSize(1);
        assertThat(KIND.problems(run(1000, true, List.of()))).hasSize(1);
        assertThat(KIND.problems(run(1000, false, List.of(small)))).hasSize(1);
    }

    private static CheckpointTrial run(
            long intervalMs, boolean outputsRight, List<Checkpoint> checkpoints) {
        return new CheckpointTrial(
                "afterbay",
                32,
                intervalMs,
                1,
                null,
                outputsRight,
                1.0,
                1.0,
                null,
                null,
                checkpoints,
                null,
                null,
                checkpoints,
                null,
                null);
    }

    @Test
    void aRunIsKnownByWhatMakesItDifferent() {
        CheckpointPlan plan =
                new CheckpointPlan("afterbay", 1, 32, 512, 1000, 1000, 1000, 1000, 100);
        assertThat(KIND.isOf(plan, run(1000, true, List.of()))).isTrue();
        assertThat(KIND.isOf(plan, run(0, true, List.of()))).isFalse();
        assertThat(KIND.failed(plan, "no room").finished()).isFalse();
    }
}
