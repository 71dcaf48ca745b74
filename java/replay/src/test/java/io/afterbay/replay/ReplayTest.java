package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.base.source.hybrid.HybridSource;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Jobs on a cluster: what passes, how fast, and what of it is in the state at the end. */
class ReplayTest {
    private static final ReplayRange RANGE = new ReplayRange(2_000, 6_000);

    /** Records/s of which some are left whatever happens meanwhile: the range takes minutes. */
    private static final double SLOW = 30;

    @TempDir private Path directory;
    private Replaying replaying;

    @BeforeEach
    void start() throws Exception {
        replaying = new Replaying(directory);
    }

    @AfterEach
    void stop() throws Exception {
        replaying.close();
    }

    private void assertRangeOnce() throws Exception {
        assertThat(Replaying.COUNTED).isEqualTo(Sources.once(2_000, 6_000));
        ReplayProgress progress = replaying.lastProgress();
        assertThat(progress.records()).isEqualTo(4_000);
        assertThat(progress.reachedMs()).isEqualTo(6_000);
    }

    /**
     * A slow replay fails between two checkpoints, so that what passed after the first is read
     * again.
     */
    private void failOnTheWay(JobID job) throws Exception {
        Replaying.awaitPassed(20);
        replaying.checkpoint(job);
        long before = Replaying.PASSED.get();
        Replaying.awaitPassed(before + 10);
        Replaying.failOnce();
        Replaying.awaitPassed(before + 20);
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(job);
        assertThat(Replaying.PASSED.get()).as("some was read again").isGreaterThan(4_000);
    }

    @Test
    void aBoundedSourceYieldsTheRangeOnceOverAFailure() throws Exception {
        replaying.control.setRate(SLOW);
        JobID job = replaying.replay(Sources.generated(9_000), RANGE);
        failOnTheWay(job);
        assertRangeOnce();
    }

    @Test
    void monitoredFilesYieldTheRangeOnceOverAFailureAndEnd() throws Exception {
        Path files = Sources.files(directory.resolve("files"), 9_000, 7);
        replaying.control.setRate(SLOW);
        JobID job = replaying.replay(Sources.monitoredFiles(files), RANGE);
        failOnTheWay(job);
        assertRangeOnce();
    }

    /** Only one reader gets a file. */
    @Test
    void oneReaderMayEndLongBeforeTheOthersAndTheJobFailAfterwards() throws Exception {
        Path files = Sources.files(directory.resolve("files"), 9_000, 1);
        replaying.control.setRate(SLOW);
        JobID job = replaying.replay(Sources.monitoredFiles(files), RANGE);
        failOnTheWay(job);
        assertRangeOnce();
    }

    @Test
    void theJobIsKilledAndResumedFromItsCheckpoint() throws Exception {
        replaying.control.setRate(SLOW);
        JobID job = replaying.replay(Sources.generated(9_000), RANGE);
        Replaying.awaitPassed(30);
        replaying.awaitRunning(job);
        String savepoint =
                replaying
                        .cluster()
                        .triggerSavepoint(
                                job,
                                directory.resolve("savepoints").toUri().toString(),
                                true,
                                SavepointFormatType.CANONICAL)
                        .get();
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(replaying.replay(Sources.generated(9_000), RANGE, savepoint));
        assertRangeOnce();
    }

    /** Its state is the live job's, and its positions are its own. */
    @Test
    void aReplayFromASavepointOfTheLiveJobBeginsAtItsOwnRange() throws Exception {
        Path files = Sources.files(directory.resolve("files"), 9_000, 4);
        JobID live = replaying.submit(Sources.monitoredFiles(files));
        Replaying.awaitPassed(9_000);
        replaying.awaitRunning(live);
        String savepoint =
                replaying
                        .cluster()
                        .stopWithSavepoint(
                                live,
                                directory.resolve("savepoints").toUri().toString(),
                                false,
                                SavepointFormatType.CANONICAL)
                        .get();
        replaying.finish(replaying.replay(Sources.monitoredFiles(files), RANGE, savepoint));
        Map<Long, Integer> expected = new HashMap<>(Sources.once(0, 9_000));
        Sources.once(2_000, 6_000).keySet().forEach(number -> expected.put(number, 2));
        assertThat(Replaying.COUNTED).isEqualTo(expected);
        assertThat(replaying.lastProgress().records()).isEqualTo(4_000);
    }

    @Test
    void theBoundedPartOfAHybridSourceIsReplayed() throws Exception {
        Path old = Sources.files(directory.resolve("old"), 9_000, 3);
        StreamExecutionEnvironment env = Replaying.environment();
        FileSource<String> archive =
                FileSource.forRecordStreamFormat(
                                new TextLineInputFormat(),
                                new org.apache.flink.core.fs.Path(old.toUri()))
                        .build();
        HybridSource<String> hybrid =
                HybridSource.builder(archive)
                        .addSource(Sources.monitored(directory.resolve("new")))
                        .build();
        Replaying.count(
                env.fromSource(hybrid, Sources.timesOfLines(), "both", Types.STRING)
                        .map(Long::parseLong)
                        .returns(Types.LONG));
        replaying.control.setRate(SLOW);
        failOnTheWay(replaying.replay(env.getStreamGraph(), RANGE));
        assertRangeOnce();
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theRateIsThatOfAllSubtasksAndAPauseLetsNothingPassButCheckpoints() throws Exception {
        double rate = 400;
        replaying.control.setRate(rate);
        long startNanos = System.nanoTime();
        JobID job = replaying.replay(Sources.generated(30_000), new ReplayRange(0, 30_000));
        long counted = 0;
        while (counted < 2_000) {
            Thread.sleep(20);
            counted = Replaying.PASSED.get();
            double seconds = (System.nanoTime() - startNanos) / 1e9;
            assertThat((double) counted).isLessThanOrEqualTo(rate * (seconds + 0.25) + 4);
        }

        replaying.control.setRate(0);
        // Of the last seconds, in which hundreds would have passed.
        Await.until(
                () -> "it stands still, and has told all: " + replaying.progress(),
                () ->
                        replaying.progress().recordsPerSecond() == 0
                                && replaying.progress().records() == Replaying.PASSED.get());
        long passed = Replaying.PASSED.get();
        assertThat(replaying.progress().records()).isEqualTo(passed);
        for (int checkpoint = 0; checkpoint < 3; checkpoint++) {
            // What one lets pass is before the next one.
            replaying.checkpoint(job);
        }
        assertThat(Replaying.PASSED.get()).isEqualTo(passed);
        assertThat(replaying.cluster().getJobStatus(job).get()).isEqualTo(JobStatus.RUNNING);

        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(job);
        assertThat(Replaying.PASSED.get()).isEqualTo(30_000);
        assertThat(replaying.lastProgress().records()).isEqualTo(30_000);
    }

    @Test
    void theWholeRateGoesToTheReaderThatHasSomethingToRead() throws Exception {
        Path files = Sources.files(directory.resolve("files"), 60_000, 1);
        replaying.control.setRate(500);
        JobID job = replaying.replay(Sources.monitoredFiles(files), new ReplayRange(0, 60_000));
        Await.until(
                "more than the half that it has at first",
                () ->
                        replaying
                                .control
                                .progress()
                                .filter(progress -> progress.recordsPerSecond() > 400)
                                .isPresent());
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(job);
        assertThat(Replaying.COUNTED).isEqualTo(Sources.once(0, 60_000));
    }

    @Test
    void severalSourcesShareTheRateAndEndTogether() throws Exception {
        StreamExecutionEnvironment env = Replaying.environment();
        Path first = Sources.files(directory.resolve("first"), 9_000, 2);
        Path second = Sources.files(directory.resolve("second"), 9_000, 2);
        Replaying.count(
                env.fromSource(Sources.monitored(first), Sources.timesOfLines(), "one")
                        .union(
                                env.fromSource(
                                        Sources.monitored(second),
                                        Sources.timesOfLines(),
                                        "another"))
                        .map(Long::parseLong)
                        .returns(Types.LONG));
        replaying.finish(replaying.replay(env.getStreamGraph(), RANGE));
        Map<Long, Integer> twice = new HashMap<>();
        Sources.once(2_000, 6_000).keySet().forEach(number -> twice.put(number, 2));
        assertThat(Replaying.COUNTED).isEqualTo(twice);
        assertThat(replaying.lastProgress().records()).isEqualTo(8_000);
    }

    @Test
    void theTimeMayBeAssignedRightBehindTheSource() throws Exception {
        Path files = Sources.files(directory.resolve("files"), 9_000, 2);
        StreamExecutionEnvironment env = Replaying.environment();
        Replaying.count(
                env.fromSource(Sources.monitored(files), WatermarkStrategy.noWatermarks(), "lines")
                        .assignTimestampsAndWatermarks(Sources.timesOfLines())
                        .map(Long::parseLong)
                        .returns(Types.LONG));
        replaying.finish(replaying.replay(env.getStreamGraph(), RANGE));
        assertRangeOnce();
    }

    /** As one does that was on its way to the cluster when its replay was cancelled. */
    @Test
    void aJobThatComesAfterTheCancelFailsForGoodAndNothingPasses() throws Exception {
        replaying.control.give(ReplayOrders.cancelled());
        JobID job = replaying.replay(Sources.generated(9_000), RANGE);
        assertThatThrownBy(() -> replaying.finish(job))
                .hasStackTraceContaining("was cancelled before this job of it began")
                .hasStackTraceContaining("The failure is not recoverable");
        assertThat(Replaying.PASSED.get()).isZero();
        assertThat(replaying.control.progress()).isEmpty();
    }

    /** Its positions are in that one's range. */
    @Test
    void aCheckpointOfAnotherReplayIsRefusedByBothNames() throws Exception {
        replaying.control.setRate(SLOW);
        JobID job = replaying.replay(Sources.generated(9_000), RANGE);
        Replaying.awaitPassed(30);
        replaying.checkpoint(job);
        String checkpoint = replaying.latestCheckpoint(job);
        replaying.cancel(job);
        long passed = Replaying.PASSED.get();
        JobID other =
                replaying.replay(
                        Sources.generated(9_000), new ReplayRange(2_000, 8_000), checkpoint);
        assertThatThrownBy(() -> replaying.finish(other))
                .hasStackTraceContaining("r1 of [1970-01-01T00:00:02Z, 1970-01-01T00:00:08Z)")
                .hasStackTraceContaining("r1 of [1970-01-01T00:00:02Z, 1970-01-01T00:00:06Z)")
                .hasStackTraceContaining("The failure is not recoverable");
        assertThat(Replaying.PASSED.get()).isEqualTo(passed);
    }

    @Test
    void recordsWithoutATimeEndTheReplayWithAnExplanation() throws Exception {
        Path files = Sources.files(directory.resolve("files"), 100, 2);
        StreamExecutionEnvironment env = Replaying.environment();
        Replaying.count(
                env.fromSource(Sources.monitored(files), WatermarkStrategy.noWatermarks(), "lines")
                        .map(Long::parseLong)
                        .returns(Types.LONG));
        JobID job = replaying.replay(env.getStreamGraph(), RANGE);
        assertThatThrownBy(() -> replaying.finish(job))
                .hasStackTraceContaining("the records of source 'lines' have no time")
                .hasStackTraceContaining("withTimestampAssigner")
                .hasStackTraceContaining("The failure is not recoverable");
        assertThat(Replaying.PASSED.get()).isZero();
    }
}
