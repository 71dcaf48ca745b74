package io.afterbay.cli.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.job.SummaryJson;
import io.afterbay.cli.job.SummaryText;
import io.afterbay.command.CommandFailure;
import io.afterbay.workloads.wordcount.WordCountPlan;
import io.afterbay.workloads.wordcount.WordCountReport;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The report of word count, for people and for programs. */
final class WordCountSummary {
    private static final String JOB = "word-count";

    private WordCountSummary() {}

    static void print(SummaryText text, WordCountPlan plan, WordCountReport report) {
        report.topCounts().forEach((word, count) -> text.line("%-12s %,d", word, count));
        text.line(
                "%,d words in %.1f s on Kafka Streams %s: %,.0f words/s, %,d of them different",
                report.words(),
                report.elapsedS(),
                report.kafka(),
                perSecond(report),
                report.distinctWords());
        text.line(
                "latency      P50 %,.1f ms, P99 %,.1f ms, P99.9 %,.1f ms, max %,.1f ms (%,d results)",
                report.p50Ms(), report.p99Ms(), report.p999Ms(), report.maxMs(), report.results());
        WordCountReport.Rocks rocks = report.rocks();
        if (rocks != null) {
            text.line(
                    "RocksDB      %,d stores, %,d flushes, %,d compactions, at most %d after one commit",
                    plan.partitions(),
                    rocks.flushes(),
                    rocks.compactions(),
                    rocks.mostCompactionsOfBurst());
        }
        text.line(
                "counts       %s",
                report.problem() == null ? "all right, each exactly once" : "WRONG");
    }

    private static double perSecond(WordCountReport report) {
        return report.elapsedS() == 0 ? 0 : report.results() / report.elapsedS();
    }

    static void write(Path file, WordCountPlan plan, WordCountReport report) throws CommandFailure {
        Outcome outcome =
                report.problem() == null ? Outcome.finished() : Outcome.failed(report.problem());
        ObjectNode root = SummaryJson.root(JOB, outcome);
        ((ObjectNode) Objects.requireNonNull(root.get("versions"))).put("kafka", report.kafka());
        options(root.putObject("options"), plan);
        root.put("events", report.words());
        root.put("results", report.results());
        root.put("elapsed_s", report.elapsedS());
        root.put("events_per_s", perSecond(report));
        latency(root.putObject("latency_ms"), report);
        root.put("distinct_words", report.distinctWords());
        ObjectNode top = root.putObject("top_counts");
        report.topCounts().forEach(top::put);
        rocks(root, report.rocks());
        SummaryJson.write(file, root);
    }

    private static void rocks(ObjectNode root, WordCountReport.@Nullable Rocks rocks) {
        if (rocks == null) {
            root.putNull("rocksdb");
            return;
        }
        root.putObject("rocksdb")
                .put("flushes", rocks.flushes())
                .put("compactions", rocks.compactions())
                .put("most_compactions_of_burst", rocks.mostCompactionsOfBurst());
    }

    private static void options(ObjectNode node, WordCountPlan plan) {
        node.put("bootstrap", plan.bootstrap());
        node.put("rate_per_s", plan.ratePerS());
        node.put("vocabulary", plan.vocabulary());
        node.put("skew", plan.skew());
        node.put("seed", plan.seed());
        node.put("partitions", plan.partitions());
        node.put("threads", plan.threads());
        node.put("desync", plan.spreadsTriggers());
        ObjectNode settings = node.putObject("settings");
        plan.settings().forEach(settings::put);
    }

    private static void latency(ObjectNode node, WordCountReport report) {
        node.put("p50", report.p50Ms());
        node.put("p99", report.p99Ms());
        node.put("p99_9", report.p999Ms());
        node.put("max", report.maxMs());
    }
}
