package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.doctor.analysis.Advice;
import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.analysis.Recommendation;
import io.afterbay.doctor.analysis.Verdict;
import io.afterbay.doctor.reading.Engine;
import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.LogReading;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What real instances of the RocksDB that Flink brings write, and what is found in it. */
class RealRocksTest {
    private static final int INSTANCES = 16;
    private static final int ROUNDS = 18;
    private static final long PERIOD_MS = 300;

    @TempDir Path directory;

    @Test
    void equalTriggersAreFoundAligned() throws Exception {
        run(4, 1, false);
        LogReading.Logs logs = read();
        assertThat(logs.tally().damagedLines()).isZero();
        Diagnosis diagnosis = Diagnosis.of(logs.instances(), Evidence.NONE);
        assertThat(diagnosis.engine()).isEqualTo(Engine.FLINK);
        assertThat(diagnosis.instances()).hasSize(INSTANCES);
        assertThat(diagnosis.versions()).hasSize(1).first().asString().startsWith("8.");
        assertThat(diagnosis.flushes().count()).isEqualTo(INSTANCES * ROUNDS);
        assertThat(diagnosis.compactions().count()).isEqualTo(INSTANCES * (ROUNDS / 4));
        assertThat(diagnosis.rhythm().bursts()).isEqualTo(ROUNDS);
        assertThat(diagnosis.rhythm().everyNthBurst()).isEqualTo(4);
        assertThat(diagnosis.rhythm().periodMicros()).isBetween(PERIOD_MS * 900, PERIOD_MS * 1100);
        assertThat(diagnosis.triggers().values()).containsOnlyKeys(4);
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.ALIGNED);
        assertThat(diagnosis.withinStages().getAsDouble()).isGreaterThan(0.8);
        assertThat(Recommendation.of(diagnosis).advice())
                .extracting(Advice::name)
                .contains("spread_triggers");
    }

    @Test
    void differentTriggersAreNot() throws Exception {
        run(4, 4, true);
        Diagnosis diagnosis = Diagnosis.of(read().instances(), Evidence.NONE);
        assertThat(diagnosis.triggers().values()).containsOnlyKeys(4, 5, 6, 7);
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.NOT_ALIGNED);
        assertThat(diagnosis.mostInstancesPerSlot()).isLessThan(INSTANCES - 2);
        assertThat(Recommendation.of(diagnosis).advice())
                .extracting(Advice::name)
                .isSubsetOf("flush_threads");
    }

    private void run(int lowest, int triggers, boolean isStaggered) throws Exception {
        new RocksLogs(directory, INSTANCES, PERIOD_MS)
                .run(ROUNDS, i -> lowest + i % triggers, i -> isStaggered ? i / triggers : 0);
    }

    private LogReading.Logs read() {
        return LogReading.read(List.of(directory), line -> {});
    }
}
