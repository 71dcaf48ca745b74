package io.afterbay.spark.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import io.afterbay.workloads.microbatch.MicroBatchPlan;
import io.afterbay.workloads.microbatch.MicroBatchReport;
import io.afterbay.workloads.microbatch.RateSearch;
import io.afterbay.workloads.microbatch.StreamQuery;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Spark's rows are those that plain Java says. */
class MicroBatchRunTest {
    @TempDir private static Path folder;
    private static LocalSpark spark;

    @BeforeAll
    static void start() throws Exception {
        spark = LocalSpark.start(Plans.plan(StreamQuery.LR4, folder), folder);
    }

    @AfterAll
    static void stop() {
        spark.close();
    }

    private static MicroBatchReport run(MicroBatchPlan plan) throws Exception {
        return new MicroBatchRun(plan, spark).report();
    }

    static List<StreamQuery> oneOrAll() {
        return TestForm.IS_LONG ? List.of(StreamQuery.values()) : List.of(StreamQuery.LR4);
    }

    @ParameterizedTest
    @MethodSource("oneOrAll")
    void rowsAreThoseOfTheReference(StreamQuery query) throws Exception {
        MicroBatchReport report = run(Plans.plan(query, folder.resolve(query.label())));
        assertThat(report.rows()).isEqualTo(report.expectedRows()).doesNotStartWith("0 rows");
        assertThat(report.times().batches()).isGreaterThanOrEqualTo(Plans.BATCHES_MIN);
        assertThat(report.times().p50Ms()).isBetween(1.0, report.times().maxMs());
        assertThat(report.times().delayMaxMs()).isGreaterThanOrEqualTo(report.times().maxMs() - 50);
        assertThat(report.partsMs().get("stateCommit")).isPositive();
        assertThat(report.partsMs().get("walCommit")).isPositive();
        assertThat(report.partsMs().get("addBatch")).isLessThan(report.partsMs().get("batch"));
        assertThat(report.bySnapshots().values().stream().mapToInt(n -> n).sum())
                .isEqualTo(report.times().batches());
        assertThat(report.cost().busy()).isBetween(0.001, 1.1);
        assertThat(report.cost().rssMib()).isGreaterThan(50);
        assertThat(report.engine()).startsWith("4.");
    }

    /** Negative control: of {@link #rowsAreThoseOfTheReference}, one record less. */
    @Test
    void aLostRecordIsFound() throws Exception {
        MicroBatchReport report =
                run(Plans.plan(StreamQuery.CM2, folder.resolve("lost"), 100, 0, true));
        assertThat(report.rows()).isNotEqualTo(report.expectedRows());
    }

    /** Records wait for the deadline: without one, batches on a fast machine are much shorter. */
    @Test
    @LongForm
    void batchesAreCutByADeadline() throws Exception {
        MicroBatchReport report =
                run(Plans.plan(StreamQuery.CM1, folder.resolve("deadline"), 100, 700, false));
        assertThat(report.rows()).isEqualTo(report.expectedRows());
        assertThat(report.times().delayMaxMs()).isGreaterThan(350);
    }

    private static Double sustained(String name, long limitMs) throws Exception {
        MicroBatchPlan plan = Plans.search(StreamQuery.LR4, folder.resolve(name), limitMs);
        return new SustainedRate(plan, spark, new RateSearch(4, 8)).report().sustainedPerS();
    }

    @Test
    @LongForm
    void aRateIsSustainedIfBatchesAreWithinTheLimit() throws Exception {
        assertThat(sustained("in-time", 600_000)).isEqualTo(8);
        assertThat(sustained("late", 0)).isZero();
    }
}
