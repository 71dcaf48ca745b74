package io.afterbay.experiments.blobcluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.experiments.blob.BlobProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * The process of the experiment on clusters of blob stores: starts nodes, and puts load on them.
 */
final class ClusterWorker extends TrialWorker<ClusterPlan, ClusterTrial> {
    private static final String CLIENTS_OF_FILL = "--clients=8";

    /** Of all objects of a get, so that they fit into the page cache, and not in others. */
    private static final long CACHED_BYTES = 128L << 20;

    private static final long CACHED_BYTES_OF_QUICK = 8L << 20;

    /** With less counted time, it is the short form. */
    private static final long COUNTED_MS_OF_LARGE = 2_000;

    private static final double MEGA = 1e6;
    private static final double GIGA = 1e9;
    private static final double MEBI = 1 << 20;

    private final BlobProcess programs;

    private ClusterWorker(Start<ClusterPlan> start) {
        super(start);
        this.programs = new BlobProcess(plan.tools().load(), directory);
    }

    public static void main(String[] args) throws Exception {
        main(ClusterPlan.class, ClusterWorker::new);
    }

    @Override
    protected ClusterTrial trial() throws Exception {
        ClusterTrial trial = measured();
        handover.cpuOfChildren(Duration.ofNanos(ProcessFigures.cpuNanosOfChildren()));
        return trial;
    }

    @Override
    protected ClusterTrial failed(String reason) {
        return plan.trial().failed(reason);
    }

    private ClusterTrial measured() throws CommandFailure, IOException, InterruptedException {
        ClusterNodes.Sizes sizes = isLarge() ? ClusterNodes.Sizes.LARGE : ClusterNodes.Sizes.SMALL;
        try (ClusterNodes nodes = ClusterNodes.start(plan, programs, sizes)) {
            ClusterLoad load =
                    new ClusterLoad(plan, programs, nodes, directory.resolve("acknowledged"));
            return switch (plan.operation()) {
                case PUT -> puts(load);
                case GET -> gets(load);
                case KILL -> new NodeKill(plan, nodes, load).run();
            };
        }
    }

    private boolean isLarge() {
        return plan.times().countedMs() >= COUNTED_MS_OF_LARGE;
    }

    private ClusterTrial puts(ClusterLoad load)
            throws CommandFailure, IOException, InterruptedException {
        JsonNode put = load.closed("put", times());
        return plan.trial().with(outcome(put, load.verify()), rates(put), cost(put));
    }

    private ClusterTrial gets(ClusterLoad load)
            throws CommandFailure, IOException, InterruptedException {
        long bytes = isLarge() ? CACHED_BYTES : CACHED_BYTES_OF_QUICK;
        long objects = Math.max(2, bytes / plan.setting().sizeBytes());
        load.closed("put", List.of(CLIENTS_OF_FILL, "--count=" + objects));
        ClusterLoad.Verified verified = load.verify();
        JsonNode get = load.closed("get", times());
        return plan.trial().with(outcome(get, verified), rates(get), cost(get));
    }

    private List<String> times() {
        return List.of(
                "--clients=" + plan.setting().clients(),
                seconds("--warmup-s", plan.times().warmUpMs()),
                seconds("--seconds", plan.times().countedMs()));
    }

    private static String seconds(String option, long millis) {
        return String.format(Locale.ROOT, "%s=%.3f", option, millis / 1000.0);
    }

    private static ClusterTrial.Outcome outcome(JsonNode load, ClusterLoad.Verified verified) {
        return new ClusterTrial.Outcome(
                null,
                load.get("errors").asLong(),
                verified.right(),
                load.get("wrong").asLong() + verified.wrong(),
                verified.lost());
    }

    private static ClusterTrial.Rates rates(JsonNode load) {
        long requests = load.get("requests").asLong();
        double seconds = load.get("seconds").asDouble();
        return new ClusterTrial.Rates(
                requests,
                seconds,
                requests / seconds,
                load.get("bytes").asDouble() / seconds / MEGA,
                millis(load, "p50_us"),
                millis(load, "p90_us"),
                millis(load, "p99_us"),
                millis(load, "p999_us"),
                millis(load, "max_us"));
    }

    static double millis(JsonNode load, String field) {
        return load.get(field).asDouble() / 1000;
    }

    private static ClusterTrial.Cost cost(JsonNode load) {
        double requests = load.get("requests").asDouble();
        if (requests == 0) {
            return ClusterTrial.Cost.NONE;
        }
        double gigabytes = load.get("bytes").asDouble() / GIGA;
        JsonNode nodes = load.get("server");
        double cpu = nodes.get("cpu_s").asDouble();
        return new ClusterTrial.Cost(
                cpu / requests * MEGA,
                cpu / gigabytes,
                load.get("client").get("cpu_s").asDouble() / gigabytes,
                nodes.get("rss_max_bytes").asDouble() / MEBI,
                nodes.get("written_bytes").asDouble() / requests);
    }
}
