package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.replay.ReplayVerb;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayProgress;
import io.afterbay.replay.merge.MergeFigures;
import io.afterbay.testing.Await;
import io.afterbay.testing.FlinkProcesses;
import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * Members who change their profiles, the live job on a cluster of two TaskManagers that brings
 * their titles into words, with Kafka in its jar, and a replay of it: all processes of their own.
 */
final class TitlesOnCluster implements AutoCloseable {
    static final int MEMBERS = 3_000;
    static final String ID = "past";

    /** After which somebody looks whether the live job is still there. */
    private static final int WAIT_SECONDS = 10;

    private static final Path HOME = Path.of("../..").toAbsolutePath().normalize();

    private final Path directory;
    private final List<Process> started = new ArrayList<>();
    private final Map<Process, Path> outputs = new HashMap<>();
    private final KafkaPrograms kafka;
    private final FlinkProcesses flink;
    private final String broker;
    private final Path jar;

    /**
     * @param directory of their files
     */
    TitlesOnCluster(Path directory) throws Exception {
        this.directory = directory;
        kafka = new KafkaPrograms(directory);
        broker = kafka.broker();
        flink = new FlinkProcesses(directory.resolve("flink"));
        flink.startTaskManager("tm-1");
        flink.startTaskManager("tm-2");
        jar = directory.resolve("profiles.jar");
        assertThat(kafka.run("JobJar", jar.toString()).code()).isZero();
        awaitFreeSlots();
    }

    FlinkProcesses flink() {
        return flink;
    }

    /** A JobManager that was started again learns slowly that nobody needs them any more. */
    void awaitFreeSlots() throws Exception {
        Await.until(() -> "free slots: " + said(), () -> freeSlots() == 4);
    }

    /** Sends profiles of all members, and changes from then on. */
    Process feed() throws IOException {
        return kafka.start(
                "ProfileFeed",
                directory.resolve("feed"),
                "--bootstrap=" + broker,
                "--members=" + MEMBERS,
                "--changes=1000000",
                "--rate=50");
    }

    /** The live job, exactly-once; where it is to go on is an option of Flink, or none. */
    Process live(int dictionary, String... more) throws IOException {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "run",
                                "jar",
                                jar.toString(),
                                "--on",
                                flink.address(),
                                "--checkpoint-interval",
                                "500ms",
                                "--parallelism",
                                "2"));
        arguments.addAll(List.of(more));
        arguments.addAll(arguments(dictionary));
        return start("live-" + started.size(), arguments.toArray(String[]::new));
    }

    private List<String> arguments(int dictionary) {
        return List.of(
                "--", "--bootstrap=" + broker, "--dictionary=" + dictionary, "--exactly-once");
    }

    /** The past by dictionary 2. */
    Process replay(Instant from, Instant to, String rate, String... more) throws IOException {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
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
                                rate,
                                "--id",
                                ID,
                                "--dir",
                                replays(),
                                "--checkpoint-interval",
                                "500ms",
                                "--parallelism",
                                "2"));
        arguments.addAll(List.of(more));
        arguments.addAll(arguments(2));
        return start("replay", arguments.toArray(String[]::new));
    }

    /** {@code ./afterbay replay VERB ID}. */
    Process tell(String verb, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("replay", verb, ID));
        arguments.addAll(Arrays.asList(more));
        arguments.addAll(List.of("--dir", replays()));
        return start(verb + "-" + started.size(), arguments.toArray(String[]::new));
    }

    /** {@code ./afterbay replay rate}, in this process. */
    void rate(String rate) {
        ReplayVerb told = ReplayVerb.run(Path.of(replays()), "rate", ID, rate);
        assertThat(told.code()).as(told.err()).isZero();
    }

    /** Where the live job was last. */
    String newestCheckpoint() throws IOException {
        try (Stream<Path> files = Files.walk(directory.resolve("flink/checkpoints"), 3)) {
            return files.filter(file -> file.endsWith("_metadata"))
                    .max((one, other) -> modified(one).compareTo(modified(other)))
                    .orElseThrow()
                    .getParent()
                    .toUri()
                    .toString();
        }
    }

    private static Instant modified(Path file) {
        try {
            return Files.getLastModifiedTime(file).toInstant();
        } catch (IOException e) {
            return Instant.MIN;
        }
    }

    /** Jobs that run, RESTARTING and so on among them. */
    List<String> jobsAtWork() throws IOException {
        List<String> ids = new ArrayList<>();
        for (JsonNode job : asked("/jobs/overview").path("jobs")) {
            if (!List.of("FINISHED", "CANCELED", "FAILED").contains(job.path("state").asText())) {
                ids.add(job.path("jid").asText());
            }
        }
        return ids;
    }

    private JsonNode asked(String path) throws IOException {
        return new ObjectMapper().readTree(URI.create("http://" + flink.address() + path).toURL());
    }

    /** Rows of the replay that one of the live job has won against. */
    long conflicts() throws IOException {
        return new ReplayControl(control()).merged().map(MergeFigures::conflicts).orElse(0L);
    }

    /** Of the replay: from there it goes on. */
    void awaitCheckpoint() throws Exception {
        Path checkpoints = directory.resolve("replays").resolve(ID).resolve("checkpoints");
        Await.until(
                () -> "a checkpoint: " + said(),
                () -> {
                    try (Stream<Path> files = Files.walk(checkpoints)) {
                        return files.anyMatch(file -> file.endsWith("_metadata"));
                    } catch (UncheckedIOException e) {
                        return false; // An old one is removed meanwhile.
                    }
                });
    }

    /**
     * Waits for the right table. Readers see no row behind a transaction that is open still, of
     * whatever job.
     *
     * @return what the comparison says
     */
    String awaitRightTable(String... more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("--bootstrap=" + broker));
        arguments.addAll(List.of(more));
        AtomicReference<KafkaPrograms.Ended> last = new AtomicReference<>();
        Await.until(
                () -> "the right table: " + last.get().output() + said(),
                () -> {
                    last.set(kafka.run("TitlesCheck", arguments.toArray(String[]::new)));
                    return last.get().code() == 0;
                });
        return last.get().output();
    }

    void awaitRows(Process live, int dictionary, int rows) throws Exception {
        Await.until(
                this::said,
                () ->
                        live.isAlive()
                                && kafka.run(
                                                        "TitlesCheck",
                                                        "--bootstrap=" + broker,
                                                        "--dictionary=" + dictionary,
                                                        "--rows=" + rows,
                                                        "--wait=" + WAIT_SECONDS)
                                                .code()
                                        == 0);
    }

    /** Waits until that command is at work on the replay. */
    void awaitCommand(Process replay) throws Exception {
        Path output = outputs.get(replay);
        Await.until(
                () -> output + " to say what it replays: " + said(),
                () -> replay.isAlive() && Files.readString(output).contains("replay " + ID));
    }

    void awaitRecords(Process replay, long count) throws Exception {
        Await.until(
                () -> count + " records: " + said(), () -> replay.isAlive() && records() >= count);
    }

    long records() throws IOException {
        return new ReplayControl(control()).progress().map(ReplayProgress::records).orElse(0L);
    }

    private String replays() {
        return directory.resolve("replays").toString();
    }

    private URI control() {
        return directory.resolve("replays").resolve(ID).resolve("control").toUri();
    }

    private int freeSlots() {
        try {
            return asked("/overview").path("slots-available").asInt();
        } catch (IOException e) {
            return 0;
        }
    }

    private Process start(String name, String... args) throws IOException {
        List<String> command = OwnJvm.command(Afterbay.class.getName(), "-Dafterbay.home=" + HOME);
        command.addAll(List.of(args));
        Path output = directory.resolve(name + ".out");
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        started.add(process);
        outputs.put(process, output);
        return process;
    }

    String said() {
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

    @Override
    public void close() {
        started.forEach(Process::destroyForcibly);
        started.forEach(process -> process.onExit().join());
        flink.close();
        kafka.close();
    }
}
