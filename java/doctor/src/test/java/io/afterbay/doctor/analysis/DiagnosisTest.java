package io.afterbay.doctor.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.afterbay.doctor.Synthetic;
import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.GcLog;
import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.LatencyLog;
import io.afterbay.maintenance.ConcurrencyKnee;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Diagnoses of logs whose rhythm is known. */
class DiagnosisTest {
    private static final int INSTANCES = 64;

    private static Diagnosis of(Synthetic synthetic) {
        return Diagnosis.of(synthetic.instances(INSTANCES), Evidence.NONE);
    }

    @Test
    void equalTriggersCompactTogether() {
        Diagnosis diagnosis = of(new Synthetic());
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.ALIGNED);
        assertThat(diagnosis.withinStages().getAsDouble()).isEqualTo(1, within(1e-9));
        assertThat(diagnosis.acrossStages()).as("there is one stage").isEmpty();
        assertThat(diagnosis.mostInstancesPerSlot()).isEqualTo(INSTANCES);
        assertThat(diagnosis.overlap().mostInstances()).isEqualTo(INSTANCES);
        assertThat(diagnosis.overlap().ofCompactions()).isGreaterThan(0.99);
        assertThat(diagnosis.overlap().meanOthers()).isBetween(55.0, 63.0);
        assertThat(diagnosis.overlap().meanOthersByChance())
                .as("63 x 9 s of 313 s")
                .isBetween(1.7, 1.9);
        assertThat(diagnosis.rhythm().bursts()).isEqualTo(40);
        assertThat(diagnosis.rhythm().periodMicros()).isEqualTo(Synthetic.PERIOD);
        assertThat(diagnosis.rhythm().everyNthBurst()).isEqualTo(4);
        assertThat(diagnosis.worst()).hasSize(5);
        assertThat(diagnosis.worst().get(0).compactions()).isEqualTo(INSTANCES);
    }

    /** Whole logs are moved by a random time within a cycle of four checkpoints. */
    @RepeatedTest(20)
    void randomPhasesRemoveTheAlignment(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        long[] shifts = random.longs(INSTANCES, 0, 4 * Synthetic.PERIOD).toArray();
        Diagnosis diagnosis = of(new Synthetic().shifted(i -> shifts[i]));
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.NOT_ALIGNED);
        assertThat(diagnosis.withinStages().getAsDouble()).isLessThan(0.1);
    }

    /** Flushes stay together, only the counts of files differ: the paper's cure. */
    @RepeatedTest(20)
    void randomTriggersRemoveTheAlignment(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        int[] triggers = random.ints(INSTANCES, 4, 8).toArray();
        int[] files = random.ints(INSTANCES, 0, 4).toArray();
        Diagnosis diagnosis =
                of(new Synthetic().triggers(i -> triggers[i]).filesBefore(i -> files[i]));
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.NOT_ALIGNED);
        assertThat(diagnosis.rhythm().bursts()).as("flushes are together").isEqualTo(40);
        assertThat(diagnosis.triggers().differ()).isTrue();
        assertThat(Recommendation.of(diagnosis).advice()).isEmpty();
    }

    /** All start empty, with triggers 4 to 7 in turn: a fourth of them still goes together. */
    @Test
    void triggersInTurnAreACure() {
        Diagnosis diagnosis = of(new Synthetic().triggers(i -> 4 + i % 4));
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.NOT_ALIGNED);
        assertThat(diagnosis.withinStages().getAsDouble()).isLessThan(Verdict.PARTLY_MIN);
    }

    /** Equal triggers, but a fourth of the instances began with 0, 1, 2, 3 files each. */
    @Test
    void phasesDealtOutInTurnAreNotAligned() {
        Diagnosis diagnosis = of(new Synthetic().filesBefore(i -> i % 4));
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.NOT_ALIGNED);
        assertThat(diagnosis.withinStages().getAsDouble()).isZero();
    }

    @Test
    void stagesThatTakeTurnsAreAlignedWithinOnly() {
        Diagnosis diagnosis = of(new Synthetic().stages(i -> i % 2).filesBefore(i -> i % 2 * 2));
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.ALIGNED);
        assertThat(diagnosis.withinStages().getAsDouble()).isGreaterThan(0.95);
        assertThat(diagnosis.acrossStages().getAsDouble()).isZero();
        assertThat(diagnosis.stages()).extracting(StageReport::instances).containsExactly(32, 32);
    }

    @Test
    void stagesThatMeetAreAlignedAcross() {
        Diagnosis diagnosis = of(new Synthetic().stages(i -> i % 2));
        assertThat(diagnosis.withinStages().getAsDouble()).isEqualTo(1, within(1e-9));
        assertThat(diagnosis.acrossStages().getAsDouble()).isEqualTo(1, within(1e-9));
    }

    @Test
    void stagesOfOneInstanceEachCanOnlyMeetAcross() {
        Diagnosis diagnosis = of(new Synthetic().stages(i -> i));
        assertThat(diagnosis.withinStages()).isEmpty();
        assertThat(diagnosis.acrossStages().getAsDouble()).isEqualTo(1, within(1e-9));
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.ALIGNED);
    }

    /** One stage counts to 4, the other to 5: each is aligned within itself. */
    @Test
    void stagesWithDifferentTriggersAreNoSpread() {
        Diagnosis diagnosis = of(new Synthetic().stages(i -> i % 2).triggers(i -> 4 + i % 2));
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.ALIGNED);
        assertThat(Recommendation.of(diagnosis).advice())
                .extracting(Advice::name)
                .contains("spread_triggers");
    }

    /** A compaction after every flush: slots are halved until there are some without. */
    @Test
    void compactionsAtEveryCheckpointAreAligned() {
        Diagnosis diagnosis = of(new Synthetic().triggers(i -> 1));
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.ALIGNED);
        assertThat(diagnosis.rhythm().everyNthBurst()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 7})
    void littleDataClaimsNothing(int rounds) {
        Diagnosis diagnosis = of(new Synthetic().rounds(rounds));
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.TOO_LITTLE_DATA);
        assertThat(diagnosis.lack()).isNotEmpty();
        assertThat(Recommendation.of(diagnosis).advice()).isEmpty();
    }

    @Test
    void fewInstancesClaimNothing() {
        Diagnosis diagnosis = Diagnosis.of(new Synthetic().instances(3), Evidence.NONE);
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.TOO_LITTLE_DATA);
        assertThat(diagnosis.lack()).contains("3 instances");
        assertThat(Diagnosis.of(List.of(), Evidence.NONE).verdict())
                .isEqualTo(Verdict.TOO_LITTLE_DATA);
    }

    /** Each has a phase of its own, and three column families that flush and compact together. */
    @Test
    void columnFamiliesOfOneInstanceAreNotAligned() {
        Synthetic dealtOut = new Synthetic().filesBefore(i -> i % 4).families(3);
        Diagnosis diagnosis = Diagnosis.of(dealtOut.instances(4), Evidence.NONE);
        assertThat(diagnosis.columnFamilies()).isEqualTo(12);
        assertThat(diagnosis.withinStages().getAsDouble()).isZero();
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.NOT_ALIGNED);
        Diagnosis one = Diagnosis.of(new Synthetic().families(9).instances(1), Evidence.NONE);
        assertThat(one.verdict()).isEqualTo(Verdict.TOO_LITTLE_DATA);
        assertThat(one.lack()).contains("1 instance compacted");
    }

    /** Two of each stage are one pair: equal phases in 1 of 4 cases. */
    @Test
    void fewPairsClaimNothing() {
        Synthetic pairs = new Synthetic().stages(i -> i % 2);
        Diagnosis diagnosis = Diagnosis.of(pairs.instances(4), Evidence.NONE);
        assertThat(diagnosis.withinStages()).isEmpty();
        assertThat(diagnosis.acrossStages()).isEmpty();
        assertThat(diagnosis.verdict()).isEqualTo(Verdict.TOO_LITTLE_DATA);
        assertThat(diagnosis.lack()).contains("too few pairs");
    }

    /** Afterbay spreads over four values, whatever the lowest is. */
    @Test
    void promisesTheTriggersThatItSets() {
        Diagnosis diagnosis = of(new Synthetic().rounds(80).triggers(i -> 8));
        assertThat(Recommendation.of(diagnosis).advice().get(0).reason())
                .contains("with triggers of 8 to 11, of 64 instances about 7 compact");
    }

    /** Flushes come one by one in shifted logs, so there is no period to claim. */
    @Test
    void singleFlushesAreNoBursts() {
        long step = Synthetic.PERIOD / INSTANCES;
        Diagnosis diagnosis = of(new Synthetic().shifted(i -> i * step));
        assertThat(diagnosis.rhythm().bursts()).isZero();
        assertThat(Recommendation.of(diagnosis).holdMicros()).isZero();
    }

    /** Half of two instances is one, and one alone waits for nobody. */
    @Test
    void twoInstancesThatFlushInTurnsHaveNoBursts() {
        List<InstanceLog> two = new Synthetic().shifted(i -> i * Synthetic.PERIOD / 2).instances(2);
        Diagnosis diagnosis = Diagnosis.of(two, Evidence.NONE);
        assertThat(diagnosis.rhythm().bursts()).isZero();
        assertThat(Recommendation.of(diagnosis).advice()).isEmpty();
    }

    @Test
    void recommendsTriggersAndThenTheDelay() {
        Diagnosis diagnosis = of(new Synthetic());
        Recommendation recommendation = Recommendation.of(diagnosis);
        assertThat(recommendation.advice())
                .extracting(Advice::name)
                .containsExactly("spread_triggers", "delay_compactions");
        assertThat(recommendation.advice().get(0).lines())
                .contains("state.backend.rocksdb.desync.trigger-spread: true");
        assertThat(recommendation.delayMicros())
                .as("without latency, the length of the burst")
                .isEqualTo(diagnosis.rhythm().burstMicros());
        assertThat(recommendation.holdMicros())
                .isGreaterThanOrEqualTo(2 * diagnosis.rhythm().burstMicros())
                .isLessThanOrEqualTo(Synthetic.PERIOD / 2);
    }

    /** 64 of 50 ms each: three seconds until the last subtask goes on. */
    @Test
    void flushesThatWaitForEachOtherWantThreads() {
        Diagnosis oneByOne = of(new Synthetic().flushesEvery(50 * Synthetic.MS));
        assertThat(oneByOne.overlap().mostFlushes()).isOne();
        assertThat(Recommendation.of(oneByOne).advice())
                .filteredOn(advice -> advice.name().equals("flush_threads"))
                .singleElement()
                .satisfies(
                        advice ->
                                assertThat(advice.lines())
                                        .contains(
                                                "state.backend.rocksdb.desync.flush-threads: auto"));
        Diagnosis twoAtOnce = of(new Synthetic().flushesEvery(40 * Synthetic.MS));
        assertThat(Recommendation.of(twoAtOnce).advice())
                .extracting(Advice::name)
                .doesNotContain("flush_threads");
    }

    /** Latency of 10 ms, with a second of 400 ms after each fourth checkpoint. */
    @Test
    void latencyTellsTheDelayAndTheEffect() {
        List<InstanceLog> instances = new Synthetic().instances(INSTANCES);
        double[] millis = new double[40 * 8 * 20];
        for (int window = 0; window < millis.length; window++) {
            int inCycle = window % (4 * 8 * 20);
            boolean isAfterCompaction = inCycle >= 3 * 8 * 20 && inCycle < 3 * 8 * 20 + 20;
            millis[window] = isAfterCompaction ? 400 : 10;
        }
        LatencyLog latency = LatencyLog.of(Synthetic.START, 50 * Synthetic.MS, millis);
        Diagnosis diagnosis = Diagnosis.of(instances, latency);
        LatencyEffect effect = diagnosis.latency().orElseThrow();
        assertThat(effect.togetherP99Ms()).isEqualTo(400);
        assertThat(effect.otherP99Ms()).isEqualTo(10);
        assertThat(effect.settleMicros())
                .as("a quarter of the bursts takes a second, so the P90 does")
                .isBetween(800 * Synthetic.MS, 1000 * Synthetic.MS);
        assertThat(diagnosis.worst().get(0).latencyMs()).isEqualTo(400);
        assertThat(Recommendation.of(diagnosis).delayMicros()).isEqualTo(effect.settleMicros());
        assertThat(effect.threads().verdict()).isEqualTo(ConcurrencyKnee.Verdict.TOO_LITTLE_DATA);
    }

    /** 400 ms after each fourth checkpoint; 900 ms at 13 s, of which a pause took 800. */
    @Test
    void pausesOfTheGarbageCollectorAreToldFromRocksDB() {
        double[] millis = new double[40 * 8 * 20];
        for (int window = 0; window < millis.length; window++) {
            int inCycle = window % (4 * 8 * 20);
            millis[window] = inCycle >= 3 * 8 * 20 && inCycle < 3 * 8 * 20 + 20 ? 400 : 10;
        }
        millis[13 * 20] = 900;
        LatencyLog latency = LatencyLog.of(Synthetic.START, 50 * Synthetic.MS, millis);
        long pause = Synthetic.START + 13 * Synthetic.SECOND - 800 * Synthetic.MS;
        GcLog gc =
                GcLog.of(
                        List.of(
                                new GcLog.Pause(0, 1, "of another time"),
                                new GcLog.Pause(pause, pause + 800 * Synthetic.MS, "Pause Full")));
        Diagnosis diagnosis =
                Diagnosis.of(new Synthetic().instances(INSTANCES), Evidence.of(latency, gc));
        WorstMoment worst = diagnosis.worst().get(0);
        assertThat(worst.latencyMs()).isEqualTo(900);
        assertThat(worst.gcPauseMs()).isEqualTo(800);
        assertThat(worst.isGcPause()).isTrue();
        assertThat(worst.compactions()).isZero();
        WorstMoment next = diagnosis.worst().get(1);
        assertThat(next.latencyMs()).isEqualTo(400);
        assertThat(next.isGcPause()).isFalse();
        assertThat(next.compactions()).isEqualTo(INSTANCES);
        assertThat(diagnosis.gcPauses().orElseThrow().count()).isEqualTo(1);
        assertThat(diagnosis.latency().orElseThrow().slow())
                .isEqualTo(new SlowWindows(20, 10 * 20 + 1, 10 * 20, 1));
    }

    @Test
    void latencyOfAnotherTimeIsLeftOut() {
        LatencyLog latency = LatencyLog.of(0, 50 * Synthetic.MS, 1, 2, 3);
        Diagnosis diagnosis = Diagnosis.of(new Synthetic().instances(8), latency);
        assertThat(diagnosis.latency()).isEmpty();
        assertThat(diagnosis.worst().get(0).latencyMs()).isNull();
    }

    /** Compactions of different lengths give levels of concurrency; latency jumps above four. */
    @Test
    void kneeOfLatencyIsTheThreads() {
        Random random = new Random(7);
        int[] files = random.ints(16, 0, 4).toArray();
        List<InstanceLog> instances =
                new Synthetic()
                        .rounds(400)
                        .triggers(i -> 4 + i % 4)
                        .filesBefore(i -> files[i])
                        .compactionsOf(900 * Synthetic.MS)
                        .instances(16);
        Concurrency running = Concurrency.of(instances);
        double[] millis = new double[400 * 8 * 20];
        int[] counts = new int[millis.length];
        long window = 50 * Synthetic.MS;
        List<Concurrency.Point> points =
                running.between(
                        Synthetic.START,
                        Synthetic.START + 400 * Synthetic.PERIOD,
                        Integer.MAX_VALUE - 1);
        for (int p = 0; p + 1 < points.size(); p++) {
            int from = (int) ((points.get(p).micros() - Synthetic.START) / window);
            int to = (int) ((points.get(p + 1).micros() - Synthetic.START) / window);
            for (int w = Math.max(0, from); w <= Math.min(to, counts.length - 1); w++) {
                counts[w] = Math.max(counts[w], points.get(p).compactions());
            }
        }
        for (int w = 0; w < millis.length; w++) {
            millis[w] = counts[w] <= 4 ? 10 + counts[w] : 14 + 100 * (counts[w] - 4);
        }
        Diagnosis diagnosis =
                Diagnosis.of(instances, LatencyLog.of(Synthetic.START, window, millis));
        assertThat(diagnosis.latency().orElseThrow().threads())
                .isEqualTo(new ConcurrencyKnee.Recommendation(ConcurrencyKnee.Verdict.KNEE, 4));
        assertThat(Recommendation.of(diagnosis).advice())
                .filteredOn(advice -> advice.name().equals("compaction_threads"))
                .singleElement()
                .satisfies(
                        advice ->
                                assertThat(advice.lines())
                                        .contains(
                                                "state.backend.rocksdb.desync.compaction-threads:"
                                                        + " 4"));
    }
}
