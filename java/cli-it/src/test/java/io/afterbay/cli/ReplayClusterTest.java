package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.testing.LongForm;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A replay and its live job on a cluster of two TaskManagers, with Kafka in the job's jar:
 * TaskManagers, the JobManager and the command are killed while it runs.
 */
class ReplayClusterTest {
    private static final int MEMBERS = TitlesOnCluster.MEMBERS;

    /** Titles of the live job that are there before the replay begins, and win. */
    private static final int LIVE_ROWS = 150;

    /** In either mode. */
    private static final int KILLS = 10;

    /** Records per second: on a busy machine, too, the range is to outlast the kills. */
    private static final String SLOW = "2";

    @TempDir private Path directory;
    private TitlesOnCluster titles;
    private Instant from;
    private Instant to;
    private Process feed;
    private Process live;

    @BeforeEach
    void start() throws Exception {
        titles = new TitlesOnCluster(directory);
        from = Instant.now().minusSeconds(1);
        feed = titles.feed();
        Process old = titles.live(1);
        titles.awaitRows(old, 1, MEMBERS);
        old.destroy(); // which cancels the job on the cluster
        assertThat(old.waitFor(2, TimeUnit.MINUTES)).isTrue();
        to = Instant.now().plusMillis(1);
        live = titles.live(2);
        titles.awaitRows(live, 2, LIVE_ROWS);
    }

    @AfterEach
    void stop() {
        titles.close();
    }

    private void assertRight(String... more) throws Exception {
        feed.destroy();
        feed.waitFor();
        assertThat(titles.awaitRightTable(more))
                .contains("all " + MEMBERS + " members have the title that is right");
    }

    private String[] liveRowsOnce() {
        return new String[] {
            "--live-since=" + to.toEpochMilli(),
            "--without-offsets=titles-replay-" + TitlesOnCluster.ID
        };
    }

    private void assertEndsWell(Process replay) throws Exception {
        assertThat(replay.waitFor(5, TimeUnit.MINUTES)).as(titles::said).isTrue();
        assertThat(replay.exitValue()).as(titles::said).isZero();
    }

    @Test
    void theTableIsRightAndTheLiveJobsRowsAreThereOnceAfterKills() throws Exception {
        Process replay = titles.replay(from, to, SLOW, "--mode", "beside");
        titles.awaitRecords(replay, 10);
        titles.awaitCheckpoint();
        titles.flink().kill("tm-1");
        titles.flink().startTaskManager("tm-1");
        titles.awaitRecords(replay, titles.records() + 10);

        replay.destroyForcibly().waitFor();
        assertThat(live.isAlive()).isTrue();
        Process again = titles.tell("resume");
        titles.awaitCommand(again);
        titles.rate("max");
        assertEndsWell(again);
        assertThat(titles.conflicts()).isPositive();
        assertRight(liveRowsOnce());
    }

    /** Whoever looks after the live job starts it again from its newest checkpoint. */
    @Test
    @LongForm
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void besideALiveJobTheTableIsRightWhateverIsKilled() throws Exception {
        Process replay = titles.replay(from, to, SLOW, "--mode", "beside");
        replay = killed(replay, true);
        titles.rate("max");
        assertEndsWell(replay);
        assertThat(live.isAlive()).as(titles::said).isTrue();
        assertThat(titles.conflicts()).isPositive();
        assertRight(liveRowsOnce());
    }

    /** A range that ends in the future has all that the live job had done when it was stopped. */
    @Test
    @LongForm
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void inPlaceOfTheLiveJobTheTableIsRightWhateverIsKilled() throws Exception {
        String id = titles.jobsAtWork().get(0);
        Process replay =
                titles.replay(
                        from,
                        to.plus(Duration.ofDays(1)),
                        SLOW,
                        "--mode",
                        "blocking",
                        "--live",
                        id);
        replay = killed(replay, false);
        assertThat(titles.jobsAtWork()).as("only the replay").hasSizeLessThanOrEqualTo(1);
        titles.rate("max");
        assertEndsWell(replay);
        assertThat(titles.jobsAtWork()).as("only the live job").hasSize(1).doesNotContain(id);
        assertRight();
    }

    /**
     * Kills one after the other, each when the replay is at work.
     *
     * @return the command that follows the replay at the end
     */
    private Process killed(Process first, boolean isLiveThere) throws Exception {
        Random random = new Random(1);
        Process replay = first;
        for (int kill = 0; kill < KILLS; kill++) {
            titles.awaitCommand(replay);
            titles.awaitRecords(replay, titles.records() + 10);
            titles.awaitCheckpoint();
            switch (random.nextInt(3)) {
                case 0 -> {
                    String id = "tm-" + (1 + random.nextInt(2));
                    titles.flink().kill(id);
                    titles.flink().startTaskManager(id);
                }
                case 1 -> {
                    replay.destroyForcibly().waitFor();
                    replay = titles.tell("resume");
                }
                default -> replay = withoutJobManager(replay, isLiveThere);
            }
        }
        return replay;
    }

    /** It has no high availability here: all of its jobs are gone. */
    private Process withoutJobManager(Process replay, boolean isLiveThere) throws Exception {
        titles.flink().kill("jobmanager");
        if (isLiveThere) {
            live.destroyForcibly().waitFor();
        }
        titles.flink().startJobManager();
        titles.awaitFreeSlots();
        if (isLiveThere) {
            live = titles.live(2, "-Dexecution.state-recovery.path=" + titles.newestCheckpoint());
        }
        Await.until(titles::said, () -> !replay.isAlive());
        assertThat(replay.exitValue()).as(titles::said).isNotZero();
        return titles.tell("resume");
    }
}
