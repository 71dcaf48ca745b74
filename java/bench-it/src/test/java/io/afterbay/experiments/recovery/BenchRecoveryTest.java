package io.afterbay.experiments.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.Command;
import io.afterbay.experiments.ShortForm;
import io.afterbay.testing.LongForm;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchRecoveryTest {
    private static final RecoveryKind KIND = new RecoveryKind(List.of());

    @TempDir private Path directory;

    @Test
    @LongForm
    void theQuickFormRestoresLocallyIfThatIsOn() throws Exception {
        Command command = new Command(directory);
        int code = new ShortForm(directory, "recovery").run("--sizes=32m", "--memory=1g");
        assertThat(code).as(command.err()).isZero();
        JsonNode runs = command.summary();
        assertThat(runs).hasSize(4);
        for (JsonNode run : runs) {
            assertThat(run.get("failure").isNull()).isTrue();
            assertThat(run.get("outputs_right").asBoolean()).isTrue();
            assertThat(run.get("instances").asInt()).isEqualTo(1);
            assertThat(run.get("local_instances").asInt())
                    .isEqualTo(run.get("local_recovery").asBoolean() ? 1 : 0);
            assertThat(run.get("first_event_ms").asDouble())
                    .isBetween(
                            run.get("restored_ms").asDouble(), run.get("caught_up_ms").asDouble());
        }
        assertThat(command.out())
                .contains("- Aim: ", "| 32 MiB | 100 % | 32 MiB | remote | `afterbay` |");
        assertThat(directory.resolve("results")).doesNotExist();
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    @Test
    @LongForm
    void aTaskManagerThatGoesOnRestoresLocallyToo() throws Exception {
        Command command = new Command(directory);
        int code =
                new ShortForm(directory, "recovery")
                        .run(
                                "--killed=33%",
                                "--backends=afterbay",
                                "--recovery=local",
                                "--sizes=16m",
                                "--memory=1g");
        assertThat(code).as(command.err()).isZero();
        JsonNode run = command.summary().get(0);
        assertThat(run.get("killed_percent").asInt()).isEqualTo(33);
        assertThat(run.get("instances").asInt()).isEqualTo(3);
        assertThat(run.get("local_instances").asInt()).isEqualTo(3);
        assertThat(run.get("outputs_right").asBoolean()).isTrue();
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    @Test
    void aShareOfTheTasksIsOneOfSoMany() {
        KilledShare.Converter shares = new KilledShare.Converter();
        assertThat(shares.convert("6%").instances(1)).isEqualTo(16);
        assertThat(shares.convert("50").instances(1)).isEqualTo(2);
        assertThat(shares.convert("100%").instances(3)).isEqualTo(3);
    }

    @Test
    void stateFromTheWrongPlaceIsNoticed() {
        assertThat(KIND.problems(run(true, 2))).isEmpty();
        assertThat(KIND.problems(run(false, 0))).isEmpty();
        assertThat(KIND.problems(run(true, 1))).hasSize(1);
        assertThat(KIND.problems(run(false, 2))).hasSize(1);
    }

    private static RecoveryTrial run(boolean local, int localInstances) {
        return new RecoveryTrial(
                "afterbay",
                32,
                100,
                local,
                1,
                null,
                true,
                1.0,
                1.0,
                2.0,
                3.0,
                4.0,
                2,
                localInstances,
                null,
                null,
                null);
    }

    @Test
    void theLogTellsWhichCopyWasTriedLast() {
        String creating = "12:00:00 DEBUG BackendRestorerProcedure: Creating ";
        String from = " and restoring with state from alternative ";
        String first = creating + "keyed state backend for Updates_ab_(1/2)" + from;
        String second = creating + "keyed state backend for Updates_ab_(2/2)" + from;
        String source = creating + "operator state backend for Source_ab_(1/1)" + from + "(1/2).\n";
        assertThat(RestoreLog.localInstances("")).isZero();
        assertThat(RestoreLog.localInstances(source)).isZero();
        assertThat(RestoreLog.localInstances(first + "(1/1).\n")).isZero();
        assertThat(RestoreLog.localInstances(first + "(1/2).\n" + second + "(1/2).\n"))
                .isEqualTo(2);
        assertThat(RestoreLog.localInstances(first + "(1/2).\n" + first + "(2/2).\n")).isZero();
    }
}
