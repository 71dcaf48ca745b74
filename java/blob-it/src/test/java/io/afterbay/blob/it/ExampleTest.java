package io.afterbay.blob.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LongForm;
import io.afterbay.testing.Prerequisite;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * examples/checkpoints/run.sh as it stands, but for the port. The commands of docs/blob.md are in
 * it.
 */
class ExampleTest {
    private static final Path SCRIPT = Path.of("examples", "checkpoints", "run.sh");
    private static final Pattern BLOCK =
            Pattern.compile("<!-- guide: [a-z-]+ -->\\n```sh\\n(.*?)```", Pattern.DOTALL);
    private static final int BLOCKS_MIN = 9;
    private static final String PORT = "7482";
    private static final long LIMIT_S = 300;

    @TempDir private Path directory;

    @Test
    void theCommandsOfTheGuideAreThoseOfTheExample() throws Exception {
        String script = Files.readString(BlobProgram.home().resolve(SCRIPT));
        Matcher block = BLOCK.matcher(Files.readString(BlobProgram.home().resolve("docs/blob.md")));
        int found = 0;
        for (; block.find(); found++) {
            assertThat(script).contains("\n" + block.group(1));
        }
        assertThat(found).isGreaterThanOrEqualTo(BLOCKS_MIN);
    }

    /** {@link CheckpointsTest} without its commands. */
    @Test
    @LongForm
    void bothAreKilledAndNothingIsLost() throws Exception {
        Path aws = aws();
        int port = freePort();
        Files.createSymbolicLink(
                directory.resolve("examples"), BlobProgram.home().resolve("examples"));
        executable("afterbay", launcher(port));
        String script = Files.readString(BlobProgram.home().resolve(SCRIPT));
        assertThat(script).contains(PORT);
        executable("run.sh", script.replace(PORT, String.valueOf(port)));

        Path said = directory.resolve("said");
        ProcessBuilder builder =
                new ProcessBuilder("./run.sh", "new").directory(directory.toFile());
        builder.environment()
                .merge("PATH", aws.getParent().toString(), (path, own) -> own + ":" + path);
        builder.environment().keySet().removeIf(name -> name.startsWith("AWS_ENDPOINT"));
        Process run = builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
        try {
            boolean ended = run.waitFor(LIMIT_S, TimeUnit.SECONDS);
            String text = Files.readString(said);
            System.out.println(text);
            assertThat(ended).as(text).isTrue();
            assertThat(run.exitValue()).as(text).isZero();
            assertThat(text).contains("starting from s3://flink/checkpoints/", "nothing was lost");
        } finally {
            run.descendants().forEach(ProcessHandle::destroyForcibly);
            run.destroyForcibly();
        }
    }

    /** Stands for ./afterbay, which compiles for users what is compiled for tests already. */
    private static String launcher(int port) {
        return """
               #!/bin/sh
               case $1 in
               blob)
                   shift
                   exec '%s' "$@" --listen 127.0.0.1:0 --admin none --s3 127.0.0.1:%d \\
                       --partition-size 1GiB --segment-size 64MiB
                   ;;
               *) exec '%s' "$@" --memory 1g --parallelism 2 ;;
               esac
               """
                .formatted(BlobProgram.path(), port, String.join("' '", AfterbayRun.java()));
    }

    private void executable(String name, String content) throws Exception {
        Files.setPosixFilePermissions(
                Files.writeString(directory.resolve(name), content),
                PosixFilePermissions.fromString("rwx------"));
    }

    /** One that the system gives to nobody by itself, and that nobody has now. */
    private static int freePort() {
        return new Random()
                .ints(10_000, 30_000)
                .filter(ExampleTest::isFree)
                .findFirst()
                .orElseThrow();
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    /** That of the tests of the S3 endpoint, from the Python package index. */
    private static Path aws() throws Exception {
        Prerequisite.check(
                Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "python3"))),
                () -> "there is no python3 (apt-get install python3-venv)");
        Path install = BlobProgram.home().resolve("rust/blob-s3/tests/clients/install");
        int code = new ProcessBuilder(install.toString()).inheritIO().start().waitFor();
        assertThat(code).isZero();
        return BlobProgram.target().resolve("s3-clients/bin/aws");
    }
}
