package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.mqtt.BrokerAddress;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * mosquitto on the loopback interface, which keeps nothing on the disk: it ends with the run. If
 * somebody kills it, what it had acknowledged is gone, and the run fails.
 */
final class Mosquitto implements AutoCloseable {
    private static final String NAME = "mosquitto";

    /** Beside those of PATH: systems have servers where only root looks for programs. */
    private static final List<String> FOLDERS =
            List.of("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin");

    /** Ends with the standard input, as the programs of ours do, and has the shell's process. */
    private static final String WHILE_STDIN_IS_OPEN =
            "exec 3<&0; { cat <&3 >/dev/null; kill -9 $$; } 2>/dev/null &"
                    + " exec \"$0\" -c \"$1\" </dev/null 3<&-";

    private static final String RUNS = " running";
    private static final String PORT_TAKEN = "Address already in use";
    private static final int PORTS = 20;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final SupervisedProgram program;
    private final BrokerAddress address;

    private Mosquitto(SupervisedProgram program, BrokerAddress address) {
        this.program = program;
        this.address = address;
    }

    /**
     * Starts one.
     *
     * @param given where the program is; null to look for it
     * @param directory for its files
     * @throws CommandFailure if there is none, or it does not start
     */
    static Mosquitto start(@Nullable Path given, Path directory)
            throws CommandFailure, IOException, InterruptedException {
        Path found = given == null ? find() : given;
        if (!Files.isExecutable(found) || Files.isDirectory(found)) {
            throw new CommandFailure("--mosquitto " + found + ": is no program");
        }
        for (int attempt = 1; ; attempt++) {
            Path own = Files.createDirectories(directory.resolve("broker-" + attempt));
            try {
                return start(found, own, freePort());
            } catch (CommandFailure e) {
                if (attempt == PORTS || !CommandFailure.reason(e).contains(PORT_TAKEN)) {
                    throw e;
                }
            }
        }
    }

    private static Mosquitto start(Path found, Path directory, int port)
            throws CommandFailure, IOException, InterruptedException {
        Path settings =
                Files.writeString(
                        directory.resolve("mosquitto.conf"),
                        """
                        listener %d 127.0.0.1
                        allow_anonymous true
                        # Of a root that starts it; others stay who they are.
                        user root
                        persistence false
                        # Nothing is dropped while an agent is away.
                        max_queued_messages 0
                        max_inflight_messages 500
                        log_dest stderr
                        connection_messages false
                        """
                                .formatted(port));
        List<String> command =
                List.of(
                        "sh",
                        "-c",
                        WHILE_STDIN_IS_OPEN,
                        found.toAbsolutePath().toString(),
                        settings.toString());
        SupervisedProgram program = SupervisedProgram.once(NAME, command, directory);
        try {
            awaitStart(program, directory.resolve(NAME + ".err"));
        } catch (CommandFailure | IOException | InterruptedException e) {
            program.close();
            throw e;
        }
        return new Mosquitto(program, new BrokerAddress("127.0.0.1", port));
    }

    /** It says that it runs when it has its port: until then, somebody else may answer there. */
    private static void awaitStart(SupervisedProgram program, Path said)
            throws CommandFailure, IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!Files.readString(said).contains(RUNS)) {
            if (program.look()) {
                throw new CommandFailure("mosquitto has ended, and nobody has asked it to");
            }
            if (System.nanoTime() > deadline) {
                throw new CommandFailure(
                        "mosquitto has not said within %d s that it runs; version 2 does"
                                .formatted(PATIENCE.toSeconds()));
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    /** Whoever takes it in between has it; then mosquitto says so. */
    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static Path find() throws CommandFailure {
        return find(System.getenv().getOrDefault("PATH", ""), FOLDERS);
    }

    static Path find(String path, List<String> folders) throws CommandFailure {
        return Stream.concat(Stream.of(path.split(File.pathSeparator)), folders.stream())
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, NAME))
                .filter(file -> Files.isExecutable(file) && !Files.isDirectory(file))
                .findFirst()
                .orElseThrow(
                        () ->
                                new CommandFailure(
                                        "--mqtt starts mosquitto, which is neither in PATH nor in "
                                                + String.join(", ", folders)
                                                + ": install it (apt-get install mosquitto, or brew"
                                                + " install mosquitto), say where it is"
                                                + " (--mosquitto FILE), or give a broker that runs"
                                                + " (--mqtt mqtt://HOST:PORT)"));
    }

    BrokerAddress address() {
        return address;
    }

    /**
     * @throws CommandFailure if it has ended
     */
    void look() throws CommandFailure, IOException {
        if (program.look()) {
            throw new CommandFailure("mosquitto has ended, and nobody has asked it to");
        }
    }

    @Override
    public void close() {
        program.close();
    }
}
