package io.afterbay.experiments.blob;

import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A server under test: a process of its own, which ends with this one.
 *
 * @param address host and port for the load
 */
record BlobServer(Process process, String address, BlobProcess.Key key, Path data)
        implements AutoCloseable {
    private static final String NAME = "server";
    private static final Pattern NATIVE = Pattern.compile("(?m)^native protocol\\s+(\\S+)");
    private static final Pattern S3 = Pattern.compile("(?mi)^S3\\b.*?(?:https?://)?(\\d\\S*:\\d+)");
    private static final Pattern OPTION_OF_S3 = Pattern.compile("(--s3[a-z-]*) <HOST:PORT>");
    private static final Pattern ROOT_KEY = Pattern.compile("(?m)^root key\\s+(.+)$");
    private static final Pattern READY = Pattern.compile("(?m)^ready$");
    private static final Pattern LISTENING = Pattern.compile("(?m)^listening (\\S+)");

    /** Starts the server that the plan wants, with its data in a directory of its own. */
    static BlobServer start(BlobPlan plan, BlobProcess programs)
            throws CommandFailure, IOException, InterruptedException {
        Path data = Files.createDirectories(programs.directory().resolve("data"));
        return switch (plan.variant()) {
            case AFTERBAY_NATIVE, AFTERBAY_S3, CONTROL, CONTROL_S3 -> ours(plan, programs, data);
            case MINIO -> minio(plan, programs, data);
            case BARE -> bare(programs, data);
            case LOOPBACK, DISK, DISK_READ, INDEX ->
                    throw new IllegalArgumentException(plan.variant() + " has no server");
        };
    }

    private static BlobServer ours(BlobPlan plan, BlobProcess programs, Path data)
            throws CommandFailure, IOException, InterruptedException {
        ServerOutput output = ServerOutput.in(programs.directory(), NAME);
        List<String> command =
                new ArrayList<>(
                        List.of(
                                plan.tools().server(),
                                "serve",
                                "--data=" + data,
                                "--listen=127.0.0.1:0",
                                "--admin=none"));
        optionOfS3(plan.tools().server()).ifPresent(option -> command.add(option + "=127.0.0.1:0"));
        Process process = output.start(programs.bound(command), Map.of("RUST_LOG", "warn"));
        output.await(process, READY);
        boolean isS3 = "s3".equals(plan.variant().protocol());
        String address =
                output.find(isS3 ? S3 : NATIVE)
                        .orElseThrow(() -> new CommandFailure("this server has no S3 endpoint"));
        Path file = Path.of(output.find(ROOT_KEY).orElse("").strip());
        return new BlobServer(process, address, BlobProcess.Key.read(file), data);
    }

    /** Any port will do: the server says which it has. None without an S3 endpoint. */
    private static Optional<String> optionOfS3(String server)
            throws IOException, InterruptedException {
        Process help =
                new ProcessBuilder(server, "serve", "--help").redirectErrorStream(true).start();
        String text = new String(help.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        help.waitFor();
        return ServerOutput.first(OPTION_OF_S3, text);
    }

    /** The load waits until it answers. Its console and its calls to others are off. */
    private static BlobServer minio(BlobPlan plan, BlobProcess programs, Path data)
            throws IOException {
        BlobProcess.Key key = BlobProcess.Key.ANY;
        String address = "127.0.0.1:" + freePort();
        List<String> command =
                List.of(
                        plan.tools().minio(),
                        "server",
                        "--quiet",
                        "--address",
                        address,
                        data.toString());
        Map<String, String> environment =
                Map.of(
                        "MINIO_ROOT_USER",
                        key.name(),
                        "MINIO_ROOT_PASSWORD",
                        key.secret(),
                        "MINIO_BROWSER",
                        "off",
                        "MINIO_UPDATE",
                        "off");
        Process process =
                ServerOutput.in(programs.directory(), NAME)
                        .start(programs.bound(command), environment);
        return new BlobServer(process, address, key, data);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static BlobServer bare(BlobProcess programs, Path data)
            throws CommandFailure, IOException, InterruptedException {
        ServerOutput output = ServerOutput.in(programs.directory(), NAME);
        Process process =
                output.start(programs.bound(List.of(programs.program(), "bare")), Map.of());
        output.await(process, LISTENING);
        String address = output.find(LISTENING).orElseThrow();
        return new BlobServer(process, address, BlobProcess.Key.ANY, data);
    }

    long pid() {
        return process.pid();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(ServerOutput.START_SECONDS_MAX, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
