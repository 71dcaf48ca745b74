package io.afterbay.experiments;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.Trial;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordedRoundsTest {
    private static final String REVISION = "abc";
    private static final String COMMAND = "bench rows --open 5s";

    @TempDir private Path results;

    /** What was run, and whether its rows are right. */
    public record Rows(String backend, int pair, @Nullable String failure, boolean areRight)
            implements Trial {}

    private record Plan(String backend, int pair) implements TrialPlan {
        @Override
        public String title() {
            return backend;
        }
    }

    /** Three rounds with one run each. */
    private static final class Kind implements TrialKind<Plan, Rows> {
        @Override
        public String experiment() {
            return "rows";
        }

        @Override
        public Class<? extends TrialWorker<Plan, Rows>> worker(Plan plan) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Class<Rows> type() {
            return Rows.class;
        }

        @Override
        public List<List<Plan>> rounds() {
            return List.of(round("good"), round("wrong"), round("failed"));
        }

        private static List<Plan> round(String backend) {
            return List.of(new Plan(backend, 1));
        }

        @Override
        public Rows failed(Plan plan, String reason) {
            return new Rows(plan.backend(), plan.pair(), reason, false);
        }

        @Override
        public Rows failed(Rows run, String reason) {
            return new Rows(run.backend(), run.pair(), reason, run.areRight());
        }

        @Override
        public boolean isOf(Plan plan, Rows run) {
            return plan.backend().equals(run.backend());
        }

        @Override
        public String describe(Rows run) {
            return run.backend();
        }

        @Override
        public List<String> problems(Rows run) {
            return run.areRight() ? List.of() : List.of("its rows are wrong");
        }

        @Override
        public String report(List<RecordedTrial<Rows>> trials) {
            return "";
        }
    }

    private void record(String date, Rows run) throws Exception {
        Provenance provenance =
                new Provenance("rows", REVISION, Map.of(), COMMAND, date, 0.0, 0.0, null);
        RecordedTrial.append(results, List.of(new RecordedTrial<>(provenance, run)));
    }

    private RecordedRounds<Plan, Rows> recorded(String revision, String command) throws Exception {
        return RecordedRounds.read(new Kind(), results, revision, command);
    }

    @Test
    void aShorterFormIsNotTheFullOne() throws Exception {
        record("1", new Rows("good", 1, null, true));
        assertThat(recorded(REVISION, "bench rows").missing()).hasSize(3);
        assertThat(recorded(REVISION, "bench rows --open 90s").missing()).hasSize(3);
        assertThat(recorded(REVISION, "bench rows --pairs 3 --open=5s").missing()).hasSize(2);
    }

    /** A number of them is a length; a list of which there are is of the setting of each run. */
    @Test
    void aNumberOfOperationsIsAFormOfItsOwn() throws Exception {
        record("1", new Rows("good", 1, null, true));
        assertThat(recorded(REVISION, COMMAND + " --operations 2000").missing()).hasSize(3);
        assertThat(recorded(REVISION, COMMAND + " --operations=put").missing()).hasSize(2);
    }

    @Test
    void whatFailedOrWasWrongRunsAgain() throws Exception {
        Rows good = new Rows("good", 1, null, true);
        record("1", good);
        record("2", new Rows("wrong", 1, null, false));
        record("3", new Rows("failed", 1, "no disk", true));
        RecordedRounds<Plan, Rows> recorded = recorded(REVISION, COMMAND);
        assertThat(recorded.runs()).containsExactly(good);
        assertThat(recorded.missing()).containsExactly(Kind.round("wrong"), Kind.round("failed"));
        record("4", new Rows("failed", 1, null, true));
        assertThat(recorded(REVISION, COMMAND).missing()).containsExactly(Kind.round("wrong"));
        assertThat(recorded("other", COMMAND).missing()).hasSize(3);
    }
}
