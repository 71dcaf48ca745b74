package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayProgress;
import io.afterbay.testing.Await;
import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A replay beside a live job on a cluster of two TaskManagers, with Kafka in the job's jar: a
 * TaskManager and the command are killed while it runs.
 */
class ReplayClusterTest {
    private static final Path HOME = Path.of("../..").toAbsolutePath().normalize();
    private static final int MEMBERS = 3_000;
    private static final String ID = "past";

    /** Titles of the live job that are there before the replay begins, and win. */
    private static final int LIVE_ROWS = 150;

    @TempDir private Path directory;
    private final List<Process> started = new ArrayList<>();
    private KafkaPrograms kafka;
    private FlinkProcesses flink;
    private String broker;
    private Path jar;

    @BeforeEach
    void start() throws Exception {
        kafka = new KafkaPrograms(directory);
        broker = kafka.broker();
        flink = new FlinkProcesses(directory.resolve("flink"));
        flink.startTaskManager("tm-1");
        flink.startTaskManager("tm-2");
        jar = directory.resolve("profiles.jar");
        assertThat(kafka.run("JobJar", jar.toString()).code()).isZero();
        Await.until(this::said, () -> slots() == 4);
    }

    @AfterEach
    void stop() {
        started.forEach(Process::destroyForcibly);
        flink.close();
        kafka.close();
    }

    @Test
    void theTableIsRightAndTheLiveJobsRowsAreThereOnceAfterKills() throws Exception {
        Instant from = Instant.now().minusSeconds(1);
        Process feed =
                kafka.start(
                        "ProfileFeed",
                        directory.resolve("feed"),
                        "--bootstrap=" + broker,
                        "--members=" + MEMBERS,
                        "--changes=1000000",
                        "--rate=50");
        Process old = live(1);
        awaitRows(old, 1, MEMBERS);
        old.destroy(); // which cancels the job on the cluster
        assertThat(old.waitFor(2, TimeUnit.MINUTES)).isTrue();
        Instant to = Instant.now().plusMillis(1);
        Process live = live(2);
        awaitRows(live, 2, LIVE_ROWS);

        Process replay =
                start(
                        "replay",
                        "replay",
                        "jar",
                        jar.toString(),
                        "--on",
                        flink.address(),
                        "--from",
                        from.toString(),
                        "--to",
                        to.toString(),
                        "--rate",
                        "150",
                        "--mode",
                        "beside",
                        "--id",
                        ID,
                        "--dir",
                        replays(),
                        "--checkpoint-interval",
                        "500ms",
                        "--parallelism",
                        "2",
                        "--",
                        "--bootstrap=" + broker);
        awaitRecords(replay, 300);
        flink.kill("tm-1");
        flink.startTaskManager("tm-1");
        awaitRecords(replay, records() + 300);

        replay.destroyForcibly().waitFor();
        assertThat(live.isAlive()).isTrue();
        Process resumed = start("resumed", "replay", "resume", ID, "--dir", replays());
        assertThat(resumed.waitFor(5, TimeUnit.MINUTES)).as(this::said).isTrue();
        assertThat(resumed.exitValue()).as(this::said).isZero();
        assertThat(new ReplayControl(control()).merged().orElseThrow().conflicts()).isPositive();

        feed.destroy();
        feed.waitFor();
        // Readers see no row behind a transaction that is open still, of whatever job.
        AtomicReference<KafkaPrograms.Ended> last = new AtomicReference<>();
        Await.until(
                () -> "the right table: " + last.get().output() + said(),
                () -> {
                    last.set(
                            kafka.run(
                                    "TitlesCheck",
                                    "--bootstrap=" + broker,
                                    "--live-since=" + to.toEpochMilli(),
                                    "--without-offsets=titles-replay-" + ID));
                    return last.get().code() == 0;
                });
        KafkaPrograms.Ended check = last.get();
        assertThat(check.output())
                .contains("all " + MEMBERS + " members have the title that is right")
                .contains("of the live job's rows, 0 are missing or there too often")
                .contains("has committed nothing");
    }

    private Process live(int dictionary) throws IOException {
        return start(
                "live-" + dictionary,
                "run",
                "jar",
                jar.toString(),
                "--on",
                flink.address(),
                "--checkpoint-interval",
                "500ms",
                "--parallelism",
                "2",
                "--",
                "--bootstrap=" + broker,
                "--dictionary=" + dictionary,
                "--exactly-once");
    }

    private void awaitRows(Process live, int dictionary, int rows) throws Exception {
        Await.until(
                this::said,
                () ->
                        live.isAlive()
                                && kafka.run(
                                                        "TitlesCheck",
                                                        "--bootstrap=" + broker,
                                                        "--dictionary=" + dictionary,
                                                        "--rows=" + rows)
                                                .code()
                                        == 0);
    }

    private void awaitRecords(Process replay, long count) throws Exception {
        Await.until(
                () -> count + " records: " + said(), () -> replay.isAlive() && records() >= count);
    }

    private long records() throws IOException {
        return new ReplayControl(control()).progress().map(ReplayProgress::records).orElse(0L);
    }

    private String replays() {
        return directory.resolve("replays").toString();
    }

    private URI control() {
        return directory.resolve("replays").resolve(ID).resolve("control").toUri();
    }

    private int slots() {
        try {
            JsonNode overview =
                    new ObjectMapper()
                            .readTree(
                                    URI.create("http://" + flink.address() + "/overview").toURL());
            return overview.path("slots-total").asInt();
        } catch (IOException e) {
            return 0;
        }
    }

    private Process start(String name, String... args) throws IOException {
        List<String> command = OwnJvm.command(Afterbay.class.getName(), "-Dafterbay.home=" + HOME);
        command.addAll(List.of(args));
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve(name + ".out").toFile())
                        .start();
        started.add(process);
        return process;
    }

    private String said() {
        StringBuilder all = new StringBuilder();
        try (var files = Files.list(directory)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".out")).toList()) {
                all.append(file).append(":\n").append(Files.readString(file));
            }
        } catch (IOException e) {
            all.append(e);
        }
        return all + flink.tails();
    }
}
