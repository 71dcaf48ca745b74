package io.afterbay.blob.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.testing.OwnJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * {@code ./afterbay run traffic-jam} in processes of its own, several times with the same output.
 *
 * @param directory for output, what is said, and working directories
 * @param input of the job
 * @param payloadBytes in the state of each car
 */
record AfterbayRun(
        Path directory,
        Path input,
        BlobStore store,
        FlinkS3 flavour,
        String backend,
        int payloadBytes) {
    private static final long LIMIT_S = Await.DEADLINE.toSeconds();

    /** What {@code ./afterbay doctor orphans} starts. */
    static final String ORPHANS = "io.afterbay.orphans.Orphans";

    private static final String AFTERBAY = "io.afterbay.cli.Afterbay";

    /** What starts a command of {@code ./afterbay}, without the launcher. */
    static List<String> java() {
        return java(AFTERBAY);
    }

    private static List<String> java(String main) {
        return OwnJvm.command(main, "-Dafterbay.home=" + BlobProgram.home());
    }

    /** The job, with these options and those of all runs. */
    Process start(String... more) throws Exception {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "run",
                                "traffic-jam",
                                "--backend=" + backend,
                                "--memory=1g",
                                "--parallelism=2",
                                "--payload=" + payloadBytes,
                                "--input=" + input,
                                "--work-dir=" + Files.createDirectories(work()),
                                "--output=" + output()));
        arguments.addAll(List.of(more));
        return command(AFTERBAY, arguments);
    }

    /** A command of {@code ./afterbay} that finds the store. */
    Process command(String main, List<String> arguments) throws Exception {
        List<String> command = new ArrayList<>(java(main));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment()
                .putAll(
                        Map.of(
                                "AWS_ACCESS_KEY_ID", store.accessKey(),
                                "AWS_SECRET_ACCESS_KEY", store.secretKey(),
                                "AWS_ENDPOINT_URL", store.endpoint().toString(),
                                "FLINK_PLUGINS_DIR", flavour.plugins().toString()));
        return builder.redirectErrorStream(true).redirectOutput(log().toFile()).start();
    }

    /** Its exit code. */
    int end(Process run) throws Exception {
        try {
            assertThat(run.waitFor(LIMIT_S, TimeUnit.SECONDS)).as(said()).isTrue();
            return run.exitValue();
        } finally {
            run.destroyForcibly();
        }
    }

    /** The second process dies with the first, and writes until then. It leaves no directory. */
    void awaitWorkerEnd() throws Exception {
        Await.until("its directory is gone", () -> !isWorking());
    }

    private boolean isWorking() throws Exception {
        try (Stream<Path> left = Files.list(work())) {
            return left.findAny().isPresent();
        }
    }

    Path output() {
        return directory.resolve("ranking.csv");
    }

    /** What the last run said. */
    String said() throws Exception {
        return Files.readString(log());
    }

    private Path log() {
        return directory.resolve("run.log");
    }

    private Path work() {
        return directory.resolve("work");
    }
}
