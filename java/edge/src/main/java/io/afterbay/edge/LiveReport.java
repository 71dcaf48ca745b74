package io.afterbay.edge;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.command.ByteSize;
import io.afterbay.edge.live.Ages;
import io.afterbay.edge.live.LiveOptions;
import io.afterbay.edge.live.LiveOutcome;
import io.afterbay.edge.live.LiveOutcome.Agents;
import io.afterbay.edge.live.LiveOutcome.Messages;
import io.afterbay.edge.live.LiveOutcome.MiniCluster;
import io.afterbay.edge.live.LiveOutcome.Producers;
import io.afterbay.edge.live.LiveOutcome.Published;
import io.afterbay.edge.live.LiveOutcome.Way;
import io.afterbay.edge.run.FlinkCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a live run has found out, for people and for programs. */
final class LiveReport {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double MS_PER_SECOND = 1_000;

    private final LiveOptions options;
    private final LiveOutcome outcome;

    LiveReport(LiveOptions options, LiveOutcome outcome) {
        this.options = options;
        this.outcome = outcome;
    }

    String text() {
        List<String> lines = new ArrayList<>();
        lines.add(
                outcome.difference() == null
                        ? "rows equal: %,d".formatted(outcome.rows().size())
                        : "rows differ: " + outcome.difference());
        lines.add("%-24s%18s%18s".formatted("", "job in halves", "whole job"));
        Way halves = outcome.halves();
        Way whole = outcome.whole();
        lines.add(bytes("bytes over the links", halves.bytes(), whole.bytes()) + ratio());
        lines.add(bytes("  to the cloud", halves.bytesUp(), whole.bytesUp()));
        lines.add(bytes("  to the sites", halves.bytesDown(), whole.bytesDown()));
        MiniCluster cluster = outcome.miniCluster();
        if (cluster == null) {
            lines.addAll(ages(halves.ages(), whole.ages()));
        }
        lines.add(agents(outcome.agents()));
        Messages messages = outcome.messages();
        if (messages != null) {
            lines.addAll(messages(messages));
        }
        Published published = outcome.published();
        if (published != null) {
            lines.add(published(published));
        }
        if (cluster != null) {
            lines.add(usage("MiniCluster", cluster.peakBytes(), cluster.cpu()));
        }
        Producers producers = outcome.producers();
        if (producers != null) {
            lines.add(producers(producers));
        }
        lines.add(played());
        return String.join("\n", lines) + "\n";
    }

    private static String bytes(String what, long halves, long whole) {
        return "%-24s%,18d%,18d".formatted(what, halves, whole);
    }

    private String ratio() {
        return outcome.whole().bytes() == 0
                ? ""
                : String.format(Locale.ROOT, "   %.3fx", outcome.ratio());
    }

    private List<String> ages(@Nullable Ages halves, @Nullable Ages whole) {
        LiveOptions.Cloud cloud = options.cloud();
        if (cloud != null) {
            FlinkCluster cluster = cloud.cluster();
            return List.of(
                    "through a topic at %s, which Flink %s has read when all had come; ages are not known"
                            .formatted(
                                    cloud.bootstrap(),
                                    cluster == null ? "in this process" : "at " + cluster));
        }
        if (halves == null || whole == null) {
            return List.of("age of results: not known, since sites make no watermarks");
        }
        return List.of(
                age("age of results, median", halves.p50Ms(), whole.p50Ms()),
                age("  99 % are younger than", halves.p99Ms(), whole.p99Ms()),
                age("  the oldest", halves.maxMs(), whole.maxMs()));
    }

    private static String age(String what, double halvesMs, double wholeMs) {
        return "%-24s%18s%18s".formatted(what, seconds(halvesMs), seconds(wholeMs));
    }

    private static String seconds(double ms) {
        return String.format(Locale.ROOT, "%.2f s", ms / MS_PER_SECOND);
    }

    private String agents(Agents agents) {
        return usage("agents", agents.peakBytes(), agents.cpu()) + kills(agents);
    }

    private List<String> messages(Messages messages) {
        boolean someoneWasKilled = outcome.agents().agentKills() > 0;
        List<String> lines = new ArrayList<>();
        lines.add(
                "messages through %s: %,d published, %,d received%s, %,d of them sent again;"
                                .formatted(
                                        messages.broker(),
                                        messages.published(),
                                        messages.received(),
                                        someoneWasKilled ? " (but for those killed)" : "",
                                        messages.sentAgain())
                        + " rows left out: %,d repeated, %,d bad"
                                .formatted(messages.repeatedRows(), messages.badRows()));
        long lost = messages.published() - messages.received();
        if (outcome.difference() != null && !someoneWasKilled && lost > 0) {
            lines.add(
                    ("%,d messages that the broker has acknowledged have not come: it has to keep"
                                    + " sessions and their messages, also while it is started again"
                                    + " (mosquitto: persistence true, max_queued_messages 0)")
                            .formatted(lost));
        }
        LiveOptions.Messages asked = options.messages();
        if (outcome.difference() != null && asked != null && asked.sequence() == null) {
            lines.add(
                    "a message may come twice when an agent, the broker or a connection is gone;"
                            + " --sequence COLUMN leaves the second one out");
        }
        return lines;
    }

    private static String published(Published published) {
        String difference = published.difference();
        return "published on %s: %,d rows, %s; %,d of them came again"
                .formatted(
                        published.topic(),
                        published.rows(),
                        difference == null
                                ? "equal to those at the gateway"
                                : "which differ: " + difference,
                        published.again());
    }

    private String producers(Producers producers) {
        return usage("Kafka producers of the whole job", producers.peakBytes(), producers.cpu());
    }

    private String usage(String who, long peakBytes, Duration cpu) {
        double cpuS = seconds(cpu);
        return String.format(
                Locale.ROOT,
                "%s: %s resident at most, %.2f s of processor time in all%s",
                who,
                new ByteSize(peakBytes),
                cpuS,
                cpuS == 0 ? "" : " (%,.0f lines a second)".formatted(outcome.lines() / cpuS));
    }

    private static String kills(Agents agents) {
        return agents.agentKills() + agents.gatewayKills() == 0
                ? ""
                : "; killed and started again: agents %d times, the gateway %d times"
                        .formatted(agents.agentKills(), agents.gatewayKills());
    }

    private static double seconds(Duration time) {
        return time.toMillis() / MS_PER_SECOND;
    }

    private String played() {
        Double speed = outcome.speed();
        return String.format(
                Locale.ROOT,
                "%,d lines (%,d bytes) of %d sites, %s rows sent; played in %.1f s%s, over links of %,d kbit/s%s",
                outcome.lines(),
                outcome.rawBytes(),
                outcome.sites(),
                outcome.sent(),
                seconds(options.play()),
                speed == null ? "" : String.format(Locale.ROOT, ", %.0f times as fast", speed),
                options.link().bitsPerSecond() / 1_000,
                options.outage().isZero()
                        ? ""
                        : ", down for %.1f s".formatted(seconds(options.outage())));
    }

    String json() {
        ObjectNode report = JSON.createObjectNode();
        report.put("equal", outcome.difference() == null)
                .put("difference", outcome.difference())
                .put("rows", outcome.rows().size())
                .put("sites", outcome.sites())
                .put("lines", outcome.lines())
                .put("raw_bytes", outcome.rawBytes())
                .put("sent", outcome.sent())
                .put("speed", outcome.speed())
                .put("link_bits_per_s", options.link().bitsPerSecond())
                .put("round_trip_ms", options.link().roundTrip().toMillis())
                .put("play_ms", options.play().toMillis())
                .put("outage_ms", options.outage().toMillis());
        LiveOptions.Cloud cloud = options.cloud();
        if (cloud != null) {
            report.put("bootstrap", cloud.bootstrap())
                    .put("on", cloud.cluster() == null ? null : cloud.cluster().toString());
        }
        for (Map.Entry<String, Way> way :
                Map.of("halves", outcome.halves(), "whole", outcome.whole()).entrySet()) {
            way(report.putObject(way.getKey()), way.getValue());
        }
        Agents agents = outcome.agents();
        report.putObject("agents")
                .put("peak_bytes", agents.peakBytes())
                .put("cpu_ms", agents.cpu().toMillis())
                .put("kills", agents.agentKills())
                .put("gateway_kills", agents.gatewayKills());
        Messages messages = outcome.messages();
        if (messages != null) {
            report.putObject("messages")
                    .put("broker", messages.broker())
                    .put("published", messages.published())
                    .put("received", messages.received())
                    .put("sent_again", messages.sentAgain())
                    .put("repeated_rows", messages.repeatedRows())
                    .put("bad_rows", messages.badRows());
        }
        Published published = outcome.published();
        if (published != null) {
            report.putObject("published")
                    .put("topic", published.topic())
                    .put("equal", published.difference() == null)
                    .put("difference", published.difference())
                    .put("rows", published.rows())
                    .put("again", published.again());
        }
        Producers producers = outcome.producers();
        if (producers != null) {
            report.putObject("producers")
                    .put("peak_bytes", producers.peakBytes())
                    .put("cpu_ms", producers.cpu().toMillis());
        }
        MiniCluster cluster = outcome.miniCluster();
        if (cluster != null) {
            report.putObject("mini_cluster")
                    .put("peak_bytes", cluster.peakBytes())
                    .put("cpu_ms", cluster.cpu().toMillis());
        }
        return report.toPrettyString() + "\n";
    }

    private static void way(ObjectNode json, Way way) {
        json.put("bytes_up", way.bytesUp())
                .put("bytes_down", way.bytesDown())
                .put("took_ms", way.took().toMillis());
        Ages ages = way.ages();
        if (ages != null) {
            json.put("age_p50_ms", ages.p50Ms())
                    .put("age_p99_ms", ages.p99Ms())
                    .put("age_max_ms", ages.maxMs());
        }
    }
}
