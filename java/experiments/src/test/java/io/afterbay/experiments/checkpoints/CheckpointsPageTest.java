package io.afterbay.experiments.checkpoints;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.experiments.checkpoints.CheckpointTrial.Checkpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointsPageTest {
    private final List<RecordedTrial<CheckpointTrial>> trials = new ArrayList<>();

    private static Provenance provenance(String revision) {
        return new Provenance(
                "checkpoints",
                revision,
                Map.of("flink", "2.3.0"),
                "./afterbay bench checkpoints",
                "2026-11-22T10:00:00Z",
                0.1,
                2.0,
                0.05);
    }

    private void record(
            String revision,
            long stateMib,
            long intervalMs,
            int pair,
            double eventsPerS,
            Checkpoint... checkpoints) {
        CheckpointTrial trial =
                new CheckpointTrial(
                        "afterbay",
                        stateMib,
                        intervalMs,
                        pair,
                        null,
                        true,
                        eventsPerS,
                        2.0,
                        1.0,
                        0.0,
                        List.of(),
                        intervalMs == 0 ? null : 10_000.0,
                        0.0,
                        Arrays.asList(checkpoints),
                        100.0,
                        200.0);
        trials.add(new RecordedTrial<>(provenance(revision), trial));
    }

    private static Checkpoint taking(double syncMs, double endToEndMs) {
        return new Checkpoint(syncMs, endToEndMs / 2, endToEndMs, 5, 1024);
    }

    @Test
    void judgesTheNewestRevisionByItsPairs() {
        record("old", 1024, 10_000, 1, 1);
        record("new", 1024, 0, 1, 1000);
        record("new", 1024, 10_000, 1, 990, taking(1, 100), taking(4, 110));
        record("new", 1024, 0, 2, 2000);
        record("new", 1024, 10_000, 2, 1970, taking(2, 90));
        record("new", 4096, 10_000, 1, 500, taking(6, 200));
        assertThat(new CheckpointsPage(trials).details())
                .isEqualTo(
                        """
                        - Aim: checkpoints every 10 s take at most 2 % of the throughput. Met by 1 of 1.
                        - Aim: the synchronous part takes less than 5 ms (P99). Met by 1 of 2.
                        - Aim: checkpoints take the same time (0.8x to 1.2x) with more state, at the same rate of change. Met by 0 of 1.

                        At full speed (closed loop), median of the runs [lowest..highest]:

                        | state | backend | interval | events/s | with / without checkpoints | CPU us/event | counts | pairs | revision |
                        |---|---|---|---|---|---|---|---|---|
                        | 1 GiB | `afterbay` | off | 1,500 [1,000..2,000] | – | 2.00 [2.00..2.00] | right | 2 pairs | new |
                        | 1 GiB | `afterbay` | 10 s | 1,480 [990..1,970] | 0.988 [0.985..0.990] | 2.00 [2.00..2.00] | right | 2 pairs | new |
                        | 4 GiB | `afterbay` | 10 s | 500 [500..500] | – | 2.00 [2.00..2.00] | right | one pair, indicative | new |

                        At a fixed rate of updates (open loop, 10,000/s), all checkpoints of all runs:

                        | state | backend | interval | checkpoints | sync ms P50 / P99 / max | async ms P50 / P99 / max | end to end ms P50 / P99 / max | to the smallest state | written MB P50 / max | whole MB | pairs | revision |
                        |---|---|---|---|---|---|---|---|---|---|---|---|
                        | 1 GiB | `afterbay` | 10 s | 3 | 2.00 / 4.00 / 4.00 | 50.0 / 55.0 / 55.0 | 100 / 110 / 110 | – | 5.00 / 5.00 | 1,024 | 2 pairs | new |
                        | 4 GiB | `afterbay` | 10 s | 1 | 6.00 / 6.00 / 6.00 | 100 / 100 / 100 | 200 / 200 / 200 | 2.00x | 5.00 / 5.00 | 1,024 | one pair, indicative | new |

                        Recorded 2026-11-22 at revision new (flink 2.3.0); other work used at most 0.05 processors. To repeat:

                        ```sh
                        ./afterbay bench checkpoints
                        ```
                        """);
    }

    @Test
    void saysThatThereIsNothing() {
        assertThat(new CheckpointsPage(List.of()).details()).contains("No comparison is recorded");
    }

    @Test
    void trialsComeBackFromTheirLines(@TempDir Path directory) throws IOException {
        record("abc", 1024, 10_000, 1, 990, taking(1, 100));
        CheckpointTrial failed =
                CheckpointTrial.failed("rocksdb-heap-timers", 1024, 0, 1, "out of memory");
        trials.add(new RecordedTrial<>(provenance("abc"), failed));
        RecordedTrial.append(directory.resolve("results"), trials);
        assertThat(
                        RecordedTrial.read(
                                directory.resolve("results"), "checkpoints", CheckpointTrial.class))
                .isEqualTo(trials);
        assertThat(RecordedTrial.json(trials))
                .contains("\"sync_ms\":1", "\"failure\":\"out of memory\"");
        trials.remove(0);
        assertThat(new CheckpointsPage(trials).details())
                .contains("Failed runs:\n\n- rocksdb-heap-timers: out of memory\n");
    }
}
