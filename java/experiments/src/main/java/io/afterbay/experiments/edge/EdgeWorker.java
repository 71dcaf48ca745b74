package io.afterbay.experiments.edge;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.process.KafkaClassPath;
import io.afterbay.cli.process.ModuleClassPath;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.cli.process.WorkerJvm;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.command.Installation;
import io.afterbay.experiments.JsonProgram;
import io.afterbay.experiments.TrialWorker;
import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The process of the experiment on edge-cloud applications: has {@code edge run} run an app in a
 * process of its own, with the libraries of the module {@code edge}, and makes its report a trial.
 */
final class EdgeWorker extends TrialWorker<EdgePlan, EdgeTrial> {
    private static final String COMMANDS = "io.afterbay.edge.Edge";
    private static final String PROGRAM = "-Dafterbay.edge.program=";
    private static final String SITE_OF_KAFKA = "-Dafterbay.edge.kafka.site=";
    private static final String BROKER = "-Dafterbay.edge.kafka.broker=";

    private EdgeWorker(Start<EdgePlan> start) {
        super(start);
    }

    public static void main(String[] args) throws Exception {
        main(EdgePlan.class, EdgeWorker::new);
    }

    @Override
    protected EdgeTrial failed(String reason) {
        return EdgeTrial.none(plan.setting()).failed(reason);
    }

    @Override
    protected EdgeTrial trial() throws Exception {
        JsonNode report =
                new JsonProgram(directory)
                        .run("edge run", command(), Map.of(), List.of(ExitCode.FAILURE));
        if (!report.has("equal")) {
            throw new CommandFailure("edge run: no report; see it with the same options by itself");
        }
        handover.cpuOfChildren(Duration.ofNanos(ProcessFigures.cpuNanosOfChildren()));
        JsonNode difference = report.path("difference");
        EdgeTrial.Outcome outcome =
                new EdgeTrial.Outcome(
                        null,
                        report.path("equal").asBoolean(),
                        difference.isNull() ? null : difference.asText(),
                        number(report, "rows"),
                        number(report, "lines"));
        JsonNode halves = report.path("halves");
        JsonNode whole = report.path("whole");
        JsonNode agents = report.path("agents");
        JsonNode producers = report.path("producers");
        JsonNode cluster = report.path("mini_cluster");
        return EdgeTrial.none(plan.setting())
                .with(
                        outcome,
                        new EdgeTrial.Halves(
                                bytes(halves),
                                figure(halves, "age_p50_ms"),
                                figure(halves, "age_p99_ms"),
                                number(agents, "peak_bytes"),
                                number(agents, "cpu_ms")),
                        report.has("mini_cluster")
                                ? EdgeTrial.Whole.NONE
                                : new EdgeTrial.Whole(
                                        bytes(whole),
                                        figure(whole, "age_p50_ms"),
                                        figure(whole, "age_p99_ms")),
                        new EdgeTrial.Producers(
                                number(producers, "peak_bytes"), number(producers, "cpu_ms")),
                        new EdgeTrial.MiniCluster(
                                number(cluster, "peak_bytes"), number(cluster, "cpu_ms")));
    }

    private static @Nullable Long number(JsonNode json, String name) {
        JsonNode value = json.path(name);
        return value.isNumber() ? value.asLong() : null;
    }

    private static @Nullable Double figure(JsonNode json, String name) {
        JsonNode value = json.path(name);
        return value.isNumber() ? value.asDouble() : null;
    }

    private static @Nullable Long bytes(JsonNode way) {
        return way.has("bytes_up")
                ? way.path("bytes_up").asLong() + way.path("bytes_down").asLong()
                : null;
    }

    private List<String> command() throws CommandFailure {
        EdgeTrial.Setting setting = plan.setting();
        EdgeVariant variant = EdgeVariant.named(setting.variant());
        String classPath = new ModuleClassPath("edge").read();
        List<String> command =
                new ArrayList<>(
                        WorkerJvm.command(
                                List.of(
                                        "-Xmx1g",
                                        "-XX:+ExitOnOutOfMemoryError",
                                        "-XX:TieredStopAtLevel=1",
                                        "--add-opens=java.base/java.util=ALL-UNNAMED",
                                        "--add-opens=java.base/java.lang=ALL-UNNAMED",
                                        "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED")));
        command.add(PROGRAM + plan.program());
        command.add("-Dafterbay.home=" + Installation.home());
        if (variant == EdgeVariant.PRODUCER) {
            String withKafka = new ModuleClassPath("edge-kafka").read();
            // Of the module edge, a producer only uses classes that read lines.
            command.add(SITE_OF_KAFKA + withKafka + File.pathSeparator + firstEntry(classPath));
            command.add(BROKER + KafkaClassPath.read());
            classPath += File.pathSeparator + withKafka;
        }
        command.addAll(List.of("-cp", classPath, COMMANDS));
        command.addAll(List.of("run", plan.app(), "--json"));
        if (variant == EdgeVariant.GUESSED) {
            command.addAll(List.of("--control", EdgeVariant.GUESSED.label()));
        } else {
            command.addAll(List.of("--whole", whole(variant)));
            command.addAll(List.of("--link", setting.linkBitsPerS() + "bit"));
            command.addAll(List.of("--play", setting.playMs() + "ms"));
            command.addAll(List.of("--outage", setting.outageMs() + "ms"));
        }
        return command;
    }

    private static String whole(EdgeVariant variant) {
        return switch (variant) {
            case PRODUCER -> "producers";
            case MINI_CLUSTER -> "mini-cluster";
            default -> "stream";
        };
    }

    /** The classes of a module, before its libraries. */
    private static String firstEntry(String classPath) {
        return classPath.substring(0, classPath.indexOf(File.pathSeparator));
    }
}
