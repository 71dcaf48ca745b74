package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.edge.lines.GrowingFile;
import io.afterbay.edge.lines.LinesTableFactory;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.plan.Session;
import io.afterbay.edge.run.ResultRows;
import io.afterbay.edge.run.RunnableJob;
import io.afterbay.edge.run.Tables;
import io.afterbay.testing.OwnJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class SiteClusterTest {
    private static final int SECONDS = 40;

    private static final String JOB =
            """
            CREATE TABLE r (time_s BIGINT, k INT, ts AS TO_TIMESTAMP_LTZ(time_s * 1000, 3),
              WATERMARK FOR ts AS ts)
              WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
            SELECT k, window_start, COUNT(*) AS c
            FROM TABLE(TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '10' SECOND))
            GROUP BY k, window_start, window_end;
            """;

    @TempDir private Path directory;

    private SiteCluster cluster(RunnableJob job, List<Path> inputs) {
        return new SiteCluster(job, Session.DEFAULT, inputs, 2, directory);
    }

    /** In each second one report with key 1 at each site, and one with key 2 at one of them. */
    private List<Path> inputs() throws Exception {
        List<Path> inputs = new ArrayList<>();
        for (int site = 0; site < 3; site++) {
            List<String> lines = new ArrayList<>();
            for (int second = 0; second < SECONDS; second++) {
                lines.add("{\"time_s\":%d,\"k\":1}".formatted(second));
                if (site == 0) {
                    lines.add("{\"time_s\":%d,\"k\":2}".formatted(second));
                }
            }
            inputs.add(Files.write(directory.resolve(site + ".ndjson"), lines));
        }
        return inputs;
    }

    @Test
    void runsTheWholeJobOnAllFilesAndTellsWhatItNeeds() throws Exception {
        RunnableJob job = RunnableJob.of(PlanMaker.plan("job", JOB));
        SiteCluster cluster = cluster(job, inputs());
        LiveOutcome.MiniCluster usage = cluster.run();
        List<String> expected = new ArrayList<>();
        for (int window = 0; window < SECONDS; window += 10) {
            expected.add("1,1970-01-01 00:00:%02d,30".formatted(window));
            expected.add("2,1970-01-01 00:00:%02d,10".formatted(window));
        }
        assertThat(ResultRows.read(job.sink(), cluster.results()).csv())
                .containsExactlyInAnyOrderElementsOf(expected);
        assertThat(usage.cpu()).isPositive();
        if (Files.exists(Path.of("/proc/self/status"))) {
            assertThat(usage.peakBytes()).isGreaterThan(50_000_000);
        }
    }

    @Test
    void whatFlinkSaysOfALineThatIsNoJsonIsSaid() throws Exception {
        RunnableJob job = RunnableJob.of(PlanMaker.plan("job", JOB));
        Path wrong = Files.writeString(directory.resolve("a.ndjson"), "{\"time_s\": 1, \"k\"\n");
        assertThatThrownBy(() -> cluster(job, List.of(wrong)).run())
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("mini-cluster: the job failed");
    }

    /** As when its parent is killed. Its job would never end: the file grows for ever. */
    @Test
    void itsProcessEndsWithItsStandardInput() throws Exception {
        RunnableJob job = RunnableJob.of(PlanMaker.plan("job", JOB));
        Path grows = Files.createFile(directory.resolve("grows.ndjson"));
        PlanJson plan =
                job.plan()
                        .withPartitions(
                                job.source().name(),
                                List.of(
                                        Tables.withFormatOf(
                                                job.source(),
                                                LinesTableFactory.json(
                                                        new GrowingFile(grows, null)))))
                        .withSinks(Tables.json(directory.resolve("rows")));
        List<String> command =
                new ArrayList<>(
                        OwnJvm.command(
                                SiteClusterProgram.class.getName(),
                                SiteCluster.OPTIONS.toArray(String[]::new)));
        Path usage = directory.resolve("usage.json");
        command.addAll(List.of(usage.toString(), ZoneOffset.UTC.getId()));
        command.add(Files.writeString(directory.resolve("plan.json"), plan.toString()).toString());
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("said.txt").toFile())
                        .start();
        try {
            process.getOutputStream().close();
            assertThat(process.waitFor()).isEqualTo(ExitCode.KILLED);
            assertThat(usage).doesNotExist();
        } finally {
            process.destroyForcibly();
        }
    }
}
