package io.afterbay.experiments.blob;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.TrialWorker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The process of the experiment on blob stores: starts a server, has objects put, verified and
 * read, and makes what the load says a trial.
 */
final class BlobWorker extends TrialWorker<BlobPlan, BlobTrial> {
    private static final String CLIENTS_OF_FILL = "8";
    private static final double MEGA = 1e6;
    private static final double GIGA = 1e9;
    private static final double MEBI = 1 << 20;

    private final BlobProcess programs;
    private final Path acknowledged;

    private BlobWorker(Start<BlobPlan> start) {
        super(start);
        this.programs = new BlobProcess(plan.tools().load(), directory);
        this.acknowledged = directory.resolve("acknowledged");
    }

    public static void main(String[] args) throws Exception {
        main(BlobPlan.class, BlobWorker::new);
    }

    @Override
    protected BlobTrial trial() throws Exception {
        BlobTrial trial = measured();
        handover.cpuOfChildren(Duration.ofNanos(ProcessFigures.cpuNanosOfChildren()));
        return trial;
    }

    @Override
    protected BlobTrial failed(String reason) {
        return plan.trial().failed(reason);
    }

    private BlobTrial measured() throws CommandFailure, IOException, InterruptedException {
        return switch (plan.variant()) {
            case LOOPBACK -> limit(List.of("loopback"), times());
            case DISK -> limit(ofDisk("disk"), times());
            case DISK_READ -> limit(ofDisk("disk-read"), List.of(count()));
            case INDEX -> index();
            default -> server();
        };
    }

    private List<String> ofDisk(String command) {
        return List.of(
                command,
                "--dir=" + programs.directory(),
                "--size=" + plan.setting().sizeBytes(),
                "--clients=" + plan.setting().clients());
    }

    private BlobTrial limit(List<String> command, List<String> length)
            throws CommandFailure, IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(command);
        arguments.addAll(length);
        JsonNode load = programs.run(BlobProcess.Key.ANY, arguments);
        return plan.trial().with(outcome(load, null, null), rates(load), cost(load));
    }

    private List<String> times() {
        return List.of(
                seconds("--warmup-s", plan.times().warmUpMs()),
                seconds("--seconds", plan.times().countedMs()));
    }

    private static String seconds(String option, long millis) {
        return String.format(Locale.ROOT, "%s=%.3f", option, millis / 1000.0);
    }

    private BlobTrial index() throws CommandFailure, IOException, InterruptedException {
        Path data = Files.createDirectories(programs.directory().resolve("data"));
        JsonNode found =
                programs.run(
                        BlobProcess.Key.ANY,
                        List.of(
                                "index",
                                "--dir=" + data,
                                "--blobs=" + plan.setting().objects(),
                                "--size=" + plan.setting().sizeBytes()));
        double blobs = plan.setting().objects();
        long wrong = 0;
        for (String kind : List.of("cached", "logs_cold", "all_cold")) {
            wrong += found.get(kind).get("wrong").asLong();
        }
        return plan.trial()
                .with(
                        new BlobTrial.Outcome(null, found.get("gets").asLong(), wrong, 0L, null),
                        new BlobTrial.Index(
                                found.get("index_memory_bytes").asDouble() / blobs,
                                found.get("rss_grown_bytes").asDouble() / blobs,
                                found.get("cached").get("index").asDouble(),
                                found.get("cached").get("log").asDouble(),
                                found.get("logs_cold").get("from_disk").asDouble(),
                                found.get("all_cold").get("from_disk").asDouble(),
                                found.get("open_s").asDouble(),
                                found.get("build_s").asDouble()));
    }

    private BlobTrial server() throws CommandFailure, IOException, InterruptedException {
        try (BlobServer server = BlobServer.start(plan, programs)) {
            if (plan.isPut()) {
                return puts(server);
            }
            return plan.variant().isControl() ? control(server) : gets(server);
        }
    }

    /** A server without a store has nothing that could be verified. */
    private BlobTrial puts(BlobServer server)
            throws CommandFailure, IOException, InterruptedException {
        JsonNode load = load(server, "put", times());
        JsonNode verified = plan.variant().isStore() ? verify(server) : null;
        return plan.trial().with(outcome(load, verified, null), rates(load), cost(load));
    }

    private BlobTrial gets(BlobServer server)
            throws CommandFailure, IOException, InterruptedException {
        load(server, "put", fill());
        JsonNode verified = verify(server);
        Double cached = plan.isCold() ? dropCache(server) : null;
        List<String> length = plan.isCold() ? List.of(count()) : times();
        JsonNode load = load(server, "get", length);
        return plan.trial().with(outcome(load, verified, cached), rates(load), cost(load));
    }

    /** One byte in the middle of one object is another one. */
    private BlobTrial control(BlobServer server)
            throws CommandFailure, IOException, InterruptedException {
        List<String> length = new ArrayList<>(fill());
        length.add("--differs=" + plan.setting().objects() / 2);
        JsonNode load = load(server, "put", length);
        return plan.trial()
                .with(
                        outcome(load, verify(server), null),
                        BlobTrial.Rates.NONE,
                        BlobTrial.Cost.NONE);
    }

    private List<String> fill() {
        return List.of("--clients=" + CLIENTS_OF_FILL, count());
    }

    private String count() {
        return "--count=" + plan.setting().objects();
    }

    private JsonNode load(BlobServer server, String operation, List<String> length)
            throws CommandFailure, IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(arguments(server, "load"));
        arguments.add("--operation=" + operation);
        arguments.add("--server-pid=" + server.pid());
        if (length.stream().noneMatch(word -> word.startsWith("--clients"))) {
            arguments.add("--clients=" + plan.setting().clients());
        }
        arguments.addAll(length);
        JsonNode load = programs.run(server.key(), arguments);
        JsonNode first = load.get("first_error");
        if (load.get("requests").asLong() == 0 && !first.isNull()) {
            throw new CommandFailure("all requests failed: " + first.asText());
        }
        return load;
    }

    private JsonNode verify(BlobServer server)
            throws CommandFailure, IOException, InterruptedException {
        return programs.run(server.key(), arguments(server, "verify"));
    }

    private List<String> arguments(BlobServer server, String command) {
        return List.of(
                command,
                "--protocol=" + Objects.requireNonNull(plan.variant().protocol()),
                "--address=" + server.address(),
                "--size=" + plan.setting().sizeBytes(),
                "--acknowledged=" + acknowledged);
    }

    /** How much of the server's files is left in the page cache, in percent. */
    private double dropCache(BlobServer server)
            throws CommandFailure, IOException, InterruptedException {
        JsonNode left =
                programs.run(BlobProcess.Key.ANY, List.of("drop", "--dir=" + server.data()));
        return 100.0 * left.get("cached").asLong() / Math.max(1, left.get("sampled").asLong());
    }

    private static BlobTrial.Outcome outcome(
            JsonNode load, @Nullable JsonNode verified, @Nullable Double cachedPercent) {
        long wrong = load.get("wrong").asLong();
        long errors = load.get("errors").asLong();
        if (verified == null) {
            return new BlobTrial.Outcome(null, null, wrong, errors, cachedPercent);
        }
        return new BlobTrial.Outcome(
                null,
                verified.get("requests").asLong(),
                wrong + verified.get("wrong").asLong(),
                errors + verified.get("errors").asLong(),
                cachedPercent);
    }

    private static BlobTrial.Rates rates(JsonNode load) {
        long requests = load.get("requests").asLong();
        double seconds = load.get("seconds").asDouble();
        return new BlobTrial.Rates(
                requests,
                seconds,
                requests / seconds,
                load.get("bytes").asDouble() / seconds / MEGA,
                millis(load, "p50_us"),
                millis(load, "p99_us"),
                millis(load, "p999_us"),
                millis(load, "max_us"));
    }

    private static double millis(JsonNode load, String field) {
        return load.get(field).asDouble() / 1000;
    }

    private static BlobTrial.Cost cost(JsonNode load) {
        double requests = load.get("requests").asDouble();
        double gigabytes = load.get("bytes").asDouble() / GIGA;
        if (requests == 0) {
            return BlobTrial.Cost.NONE;
        }
        double clientCpu = load.get("client").get("cpu_s").asDouble() / gigabytes;
        JsonNode server = load.get("server");
        if (server.isNull()) {
            return new BlobTrial.Cost(null, null, clientCpu, null, null, null);
        }
        double cpu = server.get("cpu_s").asDouble();
        return new BlobTrial.Cost(
                cpu / gigabytes,
                cpu / requests * MEGA,
                clientCpu,
                server.get("rss_max_bytes").asDouble() / MEBI,
                server.get("read_bytes").asDouble() / requests,
                server.get("written_bytes").asDouble() / requests);
    }
}
