package io.afterbay.experiments.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecoveryPageTest {
    private static final Provenance PROVENANCE =
            new Provenance(
                    "recovery",
                    "abc",
                    Map.of("flink", "2.3.0"),
                    "./afterbay bench recovery",
                    "2026-11-22T10:00:00Z",
                    0.1,
                    2.0,
                    null);

    @TempDir private Path directory;

    private final List<RecordedTrial<RecoveryTrial>> trials = new ArrayList<>();

    private void record(
            String backend, long stateMib, boolean local, int pair, double firstEventMs) {
        record(backend, stateMib, 100, local, pair, firstEventMs);
    }

    private void record(
            String backend,
            long stateMib,
            int killedPercent,
            boolean local,
            int pair,
            double firstEventMs) {
        RecoveryTrial trial =
                new RecoveryTrial(
                        backend,
                        stateMib,
                        killedPercent,
                        local,
                        pair,
                        null,
                        true,
                        10_000.0,
                        firstEventMs - 1,
                        firstEventMs,
                        firstEventMs + 100,
                        5000.0,
                        2,
                        local ? 2 : 0,
                        10.0,
                        300.0,
                        600.0);
        trials.add(new RecordedTrial<>(PROVENANCE, trial));
    }

    @Test
    void judgesLocalRecovery() {
        record("afterbay", 1024, true, 1, 300);
        record("afterbay", 1024, false, 1, 900);
        record("rocksdb-heap-timers", 1024, false, 1, 2000);
        record("afterbay", 256, true, 1, 200);
        record("afterbay", 256, true, 2, 400);
        assertThat(new RecoveryPage(trials).details())
                .isEqualTo(
                        """
                        - Aim: with local recovery, the time to the first event stays the same (0.8x to 1.2x) as the state grows from 1 GiB on. Not measured.
                        - Aim: with local recovery, it is the same (0.8x to 1.2x) whichever share of the tasks is killed. Not measured.
                        - Aim: with local recovery, it is at most a tenth of what rocksdb-heap-timers takes without. Met by 0 of 1.

                        Since the tasks were deployed again (updates, 10,000/s), median of the runs [lowest..highest]:

                        | state | killed | of a task | recovery | backend | restored, ms | first event, ms | to the smallest state | to rocksdb-heap-timers, remote | caught up, ms | checkpoint, MB | read, MB | counts | pairs | revision |
                        |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
                        | 256 MiB | 100 % | 128 MiB | local | `afterbay` | 299 [199..399] | 300 [200..400] | – | – | 400 [300..500] | 300 [300..300] | 10.0 [10.0..10.0] | right | 2 pairs | abc |
                        | 1 GiB | 100 % | 512 MiB | remote | `afterbay` | 899 [899..899] | 900 [900..900] | – | 0.45 [0.45..0.45] | 1,000 [1,000..1,000] | 300 [300..300] | 10.0 [10.0..10.0] | right | one pair, indicative | abc |
                        | 1 GiB | 100 % | 512 MiB | remote | `rocksdb-heap-timers` | 1,999 [1,999..1,999] | 2,000 [2,000..2,000] | – | 1.00 [1.00..1.00] | 2,100 [2,100..2,100] | 300 [300..300] | 10.0 [10.0..10.0] | right | one pair, indicative | abc |
                        | 1 GiB | 100 % | 512 MiB | local | `afterbay` | 299 [299..299] | 300 [300..300] | 1.00x | 0.15 [0.15..0.15] | 400 [400..400] | 300 [300..300] | 10.0 [10.0..10.0] | right | one pair, indicative | abc |

                        Recorded 2026-11-22 at revision abc (flink 2.3.0). To repeat:

                        ```sh
                        ./afterbay bench recovery
                        ```
                        """);
    }

    @Test
    void growthCountsFromOneGibibyteOn() {
        record("afterbay", 256, true, 1, 100);
        record("afterbay", 1024, true, 1, 300);
        record("afterbay", 4096, true, 1, 330);
        RecoveryPage page = new RecoveryPage(trials);
        assertThat(page.aims().get(0).measured()).isEqualTo("1.10x (4 GiB)");
        assertThat(page.details()).contains("| 330 [330..330] | 3.30x |");
    }

    @Test
    void comparesSharesOfTheTasksThatWereKilled() {
        record("afterbay", 1024, 6, true, 1, 100);
        record("afterbay", 1024, 50, true, 1, 115);
        record("afterbay", 1024, 100, true, 1, 130);
        RecoveryPage page = new RecoveryPage(trials);
        assertThat(page.details())
                .contains("share of the tasks is killed. Met by 1 of 2.\n", "| 50 % | 512 MiB |");
        assertThat(page.aims().get(1).measured())
                .isEqualTo("1.15x (1 GiB, 50 % killed), 1.30x (1 GiB)");
    }

    /** That it is over sooner with more tasks killed is no constant time either. */
    @Test
    void aTimeThatShrinksIsNotTheSame() {
        record("afterbay", 256, 6, true, 1, 400);
        record("afterbay", 256, 50, true, 1, 100);
        assertThat(new RecoveryPage(trials).aims().get(1).verdict()).isEqualTo("**not met**");
    }

    @Test
    void linesThatDoNotSayItKilledAll() throws IOException {
        record("afterbay", 1024, true, 1, 300);
        RecordedTrial.append(directory, trials);
        Path file = directory.resolve("recovery.jsonl");
        Files.writeString(file, Files.readString(file).replace("\"killed_percent\":100,", ""));
        assertThat(RecoveryPage.read(directory)).isEqualTo(trials);
    }

    @Test
    void failedRunsHaveNoFigures() {
        RecoveryTrial failed = RecoveryTrial.failed("afterbay", 1024, 100, true, 1, "no room");
        trials.add(new RecordedTrial<>(PROVENANCE, failed));
        assertThat(new RecoveryPage(trials).details())
                .contains(
                        "deployed again (updates), median",
                        "| – | 0 pairs | ",
                        "- afterbay: no room");
    }

    @Test
    void saysThatThereIsNothing() {
        assertThat(new RecoveryPage(List.of()).details()).contains("No comparison is recorded");
    }
}
