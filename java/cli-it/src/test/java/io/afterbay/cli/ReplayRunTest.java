package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.command.ExitCode;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayProgress;
import io.afterbay.testing.Await;
import io.afterbay.testing.OwnJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A replay as users run it: in a process of its own, told something by other processes. */
class ReplayRunTest {
    private static final Path HOME = Path.of("../..").toAbsolutePath().normalize();
    private static final Path TRACE = HOME.resolve("examples/traffic-jam/city-traffic.csv.gz");

    /** Seconds of the trace: a quarter of its windows. */
    private static final int FROM = 300;

    private static final int TO = 600;

    /** That many are in them. */
    private static final int REPORTS = 194_458;

    /** In the directory that the replay is started in, and not in that of other commands. */
    private static final String ROWS = "rows.csv";

    /** Its place behind the name in /proc/PID/stat (proc(5)). */
    private static final int NICE = 16;

    private static final int NICE_MAX = 19;

    private static final String ID = "past";

    @TempDir private Path directory;
    private final List<Process> started = new ArrayList<>();
    private int commands;
    private Path out;
    private Path err;

    @BeforeEach
    void makeDirectories() throws IOException {
        Files.createDirectories(directory.resolve("work"));
    }

    @Test
    void aReplayThatWasPausedAndKilledGoesOnAndYieldsTheRowsOfItsRange() throws Exception {
        Path rows = directory.resolve(ROWS);
        Process replay =
                start(
                        "traffic-jam",
                        "--from",
                        "@" + FROM,
                        "--to",
                        "@" + TO,
                        "--rate",
                        "5000",
                        "--id",
                        ID,
                        "--checkpoint-interval",
                        "200ms",
                        "--memory",
                        "1g",
                        "--work-dir",
                        directory.resolve("work").toString(),
                        "--output",
                        ROWS);
        Path progress = err;
        Await.until(
                () -> "a part is done: " + text(progress),
                () -> replay.isAlive() && records() > REPORTS / 10 && hasCheckpoint());

        assertThat(tell("pause", ID)).as(text(err)).isZero();
        assertThat(status().get("state").asText()).isEqualTo("paused");
        Await.until("no more records come", () -> progress().recordsPerSecond() == 0);
        assertThat(replay.isAlive()).isTrue();
        assertThat(status().get("share").asDouble()).isLessThan(1);
        assertThat(status().at("/priority/nice").asInt()).isEqualTo(10);
        assertThat(text(progress)).contains(", with nice 10");

        List<ProcessHandle> worker = replay.children().toList();
        assertThat(worker).isNotEmpty();
        if (OS.current() == OS.LINUX) {
            int less = Math.min(NICE_MAX, nice(replay.toHandle()) + 10);
            assertThat(worker).allSatisfy(one -> assertThat(nice(one)).isEqualTo(less));
        }
        replay.destroyForcibly();
        Await.until("the worker ends too", () -> worker.stream().noneMatch(ProcessHandle::isAlive));
        assertThat(tell("status", ID)).isZero();
        assertThat(text(out)).contains("interrupted", "./afterbay replay resume " + ID);

        assertThat(tell("rate", ID, "max")).isZero();
        assertThat(tell("resume", ID)).as(() -> text(err)).isZero();
        assertThat(text(err)).contains("starting from ").contains("checkpoints");

        JsonNode status = status();
        assertThat(status.get("state").asText()).isEqualTo("finished");
        assertThat(status.get("share").asDouble()).isEqualTo(1);
        assertThat(status.get("records").asLong()).isEqualTo(REPORTS);
        assertThat(rows).hasSameTextualContentAs(rowsOfRange());
        assertThat(tell("resume", ID)).isEqualTo(ExitCode.FAILURE);
        assertThat(text(err)).contains("replay past is finished");
    }

    @Test
    void aReplayThatIsCancelledEndsAndLeavesNoCheckpoints() throws Exception {
        Process replay =
                start(
                        "traffic-jam",
                        "--from",
                        "@" + FROM,
                        "--to",
                        "@" + TO,
                        "--rate",
                        "1000",
                        "--id",
                        ID,
                        "--checkpoint-interval",
                        "200ms",
                        "--memory",
                        "1g",
                        "--work-dir",
                        directory.resolve("work").toString());
        Await.until("a checkpoint is there", () -> replay.isAlive() && hasCheckpoint());
        assertThat(tell("cancel", ID)).as(() -> text(err)).isZero();
        Await.until("the command ends", () -> !replay.isAlive());
        assertThat(replay.exitValue()).isEqualTo(ExitCode.FAILURE);
        assertThat(status().get("state").asText()).isEqualTo("cancelled");
        assertThat(checkpoints()).doesNotExist();
    }

    private Path ofReplay() {
        return directory.resolve("replays").resolve(ID);
    }

    private Path checkpoints() {
        return ofReplay().resolve("checkpoints");
    }

    private boolean hasCheckpoint() throws IOException {
        if (!Files.exists(checkpoints())) {
            return false;
        }
        try (var files = Files.find(checkpoints(), 3, (path, kind) -> path.endsWith("_metadata"))) {
            return files.findAny().isPresent();
        } catch (UncheckedIOException e) {
            return false; // Flink has removed one meanwhile
        }
    }

    private ReplayProgress progress() throws IOException {
        return new ReplayControl(ofReplay().resolve("control").toUri())
                .progress()
                .orElse(new ReplayProgress(0, 0, 0, false));
    }

    private long records() throws IOException {
        return progress().records();
    }

    private JsonNode status() throws Exception {
        assertThat(tell("status", ID, "--json")).as(() -> text(err)).isZero();
        return new ObjectMapper().readTree(out.toFile()).get(0);
    }

    private static List<String> partOfTrace() throws IOException {
        List<String> lines = new ArrayList<>();
        try (BufferedReader reader =
                new BufferedReader(
                        new InputStreamReader(
                                new GZIPInputStream(Files.newInputStream(TRACE)),
                                StandardCharsets.UTF_8))) {
            reader.readLine();
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                int second = Integer.parseInt(line.substring(0, line.indexOf(',')));
                if (second >= FROM && second < TO) {
                    lines.add(line);
                }
            }
        }
        return lines;
    }

    /** Of a run on nothing but the range. */
    private Path rowsOfRange() throws Exception {
        List<String> part = new ArrayList<>(List.of("time_s,car,street,x_m,y_m,speed_mps"));
        part.addAll(partOfTrace());
        assertThat(part).hasSize(1 + REPORTS);
        Path input = Files.write(directory.resolve("part.csv"), part);
        Path expected = directory.resolve("expected.csv");
        Process run =
                start(
                        List.of("run", "traffic-jam"),
                        "--input",
                        input.toString(),
                        "--memory",
                        "1g",
                        "--work-dir",
                        directory.resolve("work").toString(),
                        "--output",
                        expected.toString());
        assertThat(end(run)).as(() -> text(err)).isZero();
        return expected;
    }

    private Process start(String... args) throws IOException {
        List<String> verb = new ArrayList<>(List.of("replay"));
        verb.addAll(List.of(args));
        verb.addAll(List.of("--dir", directory.resolve("replays").toString()));
        return start(verb);
    }

    private Process start(List<String> verb, String... args) throws IOException {
        boolean isJob = verb.contains("traffic-jam");
        List<String> command = OwnJvm.command(Afterbay.class.getName(), "-Dafterbay.home=" + HOME);
        command.addAll(verb);
        command.addAll(List.of(args));
        commands++;
        out = directory.resolve("out" + commands);
        err = directory.resolve("err" + commands);
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .directory((isJob ? directory : directory.resolve("work")).toFile())
                        .start();
        started.add(process);
        return process;
    }

    /** Runs a command to its end; returns its exit code. */
    private int tell(String... args) throws Exception {
        return end(start(args));
    }

    /** How much less priority it has than other processes. */
    private static int nice(ProcessHandle process) {
        String all = text(Path.of("/proc", Long.toString(process.pid()), "stat"));
        return Integer.parseInt(all.substring(all.lastIndexOf(')') + 2).split(" ")[NICE]);
    }

    private static int end(Process process) throws InterruptedException {
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        return process.exitValue();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @AfterEach
    void endAll() {
        started.forEach(Process::destroyForcibly);
    }
}
