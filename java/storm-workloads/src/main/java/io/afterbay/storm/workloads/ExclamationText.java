package io.afterbay.storm.workloads;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.apache.storm.utils.VersionInfo;

/** The report of a run, for people and for programs. */
final class ExclamationText {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private ExclamationText() {}

    static void print(PrintWriter out, ExclamationReport report) {
        ExclamationPlan plan = report.plan();
        line(
                out,
                "%,d words, %,.0f/s, on Storm %s with %d %s; technique: %s%s",
                plan.words(),
                plan.ratePerS(),
                VersionInfo.getVersion(),
                plan.workers(),
                plan.workers() == 1 ? "worker" : "workers",
                plan.technique(),
                plan.slowdown() > 1
                        ? "; one of %d tasks %sx slower"
                                .formatted(plan.tasks(), factor(plan.slowdown()))
                        : "");
        line(
                out,
                "latency      %s (%,d words)",
                latency(report.percentilesMs()),
                plan.words() - plan.warmUpWords());
        report.executed().forEach((bolt, tasks) -> line(out, "%-12s %s", bolt, tasks(tasks)));
        if (plan.slowdown() > 1) {
            line(
                    out,
                    "slow task    had %.1f %% of the words of %s",
                    100 * report.shareOfFirstTask(),
                    ExclamationTopology.BOLTS.get(0));
        }
        if (report.replays() != null) {
            printReplays(out, report, report.replays());
        }
        line(
                out,
                "acked        %s",
                report.isRight()
                        ? "each word once"
                        : "%,d of %,d words, %,d of them twice, %,d failed: WRONG"
                                .formatted(
                                        report.acked(),
                                        plan.words(),
                                        report.ackedTwice(),
                                        report.failed()));
        out.flush();
    }

    private static void printReplays(
            PrintWriter out, ExclamationReport report, ReplayFigures replays) {
        line(
                out,
                "replays      %,d (%.1f %%), won %,d",
                replays.sent(),
                100.0 * replays.sent() / report.plan().words(),
                replays.won());
        line(out, "extra work   %.1f %%", 100 * report.extraWork());
        line(out, "budget       %s", budget(replays));
    }

    private static String budget(ReplayFigures replays) {
        if (Double.isNaN(replays.queues())) {
            return "closed: it was never known how busy the bolts were";
        }
        return String.format(
                Locale.ROOT,
                "%s: queues at %.0f %%, processors at %.0f %%",
                replays.closed() == 0
                        ? "open"
                        : String.format(
                                Locale.ROOT, "closed %.0f %% of the time", 100 * replays.closed()),
                100 * replays.queues(),
                100 * replays.processors());
    }

    private static String latency(Map<String, Double> percentilesMs) {
        return percentilesMs.entrySet().stream()
                .map(
                        one ->
                                String.format(
                                        Locale.ROOT,
                                        "%s %,.1f ms",
                                        one.getKey().replace('_', '.').replace('p', 'P'),
                                        one.getValue()))
                .collect(joining(", "));
    }

    private static String factor(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }

    private static String tasks(Map<Integer, Long> tasks) {
        return tasks.values().stream()
                .map(count -> String.format(Locale.ROOT, "%,d", count))
                .collect(joining("  ", "by task: ", ""));
    }

    private static void line(PrintWriter out, String format, Object... arguments) {
        out.println(String.format(Locale.ROOT, format, arguments));
    }

    static void write(Path file, ExclamationReport report) throws IOException {
        ExclamationPlan plan = report.plan();
        ObjectNode root = MAPPER.createObjectNode();
        root.put("job", "exclamation").put("storm", VersionInfo.getVersion());
        root.putObject("options")
                .put("technique", plan.technique().toString())
                .put("slow_task", plan.slowdown())
                .put("rate_per_s", plan.ratePerS())
                .put("words", plan.words())
                .put("warm_up_words", plan.warmUpWords())
                .put("service_ms", plan.serviceMs())
                .put("tasks", plan.tasks())
                .put("workers", plan.workers())
                .put("seed", plan.seed());
        ObjectNode latency = root.putObject("latency_ms");
        report.percentilesMs().forEach(latency::put);
        ObjectNode executed = root.putObject("executed");
        report.executed()
                .forEach((bolt, tasks) -> tasks.values().forEach(executed.withArray(bolt)::add));
        root.put("acked", report.acked());
        root.put("acked_twice", report.ackedTwice());
        root.put("failed", report.failed());
        if (report.replays() != null) {
            write(root, report, report.replays());
        }
        Files.writeString(file, MAPPER.writeValueAsString(root) + "\n");
    }

    private static void write(ObjectNode root, ExclamationReport report, ReplayFigures replays) {
        ObjectNode node = root.putObject("replays");
        node.put("sent", replays.sent())
                .put("won", replays.won())
                .put("refused", replays.refused())
                .put("extra_work", report.extraWork());
        if (!Double.isNaN(replays.queues())) {
            node.put("closed", replays.closed())
                    .put("queues", replays.queues())
                    .put("processors", replays.processors());
        }
    }
}
