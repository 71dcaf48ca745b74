package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.Engine;
import io.afterbay.workloads.trafficjam.RankingRow;
import io.afterbay.workloads.trafficjam.TrafficJam;
import io.afterbay.workloads.trafficjam.TrafficJamOptions;
import io.afterbay.workloads.trafficjam.TrafficJamStatistics;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The traffic-jam job in a worker. */
public record TrafficJamRun(TrafficJamOptions options) implements Job {

    @Override
    public String name() {
        return "traffic-jam";
    }

    @Override
    public TrafficJamStatistics statistics() {
        return TrafficJamStatistics.of(options.run());
    }

    @Override
    public boolean isOpenLoop() {
        return options.isOpenLoop();
    }

    @Override
    public @Nullable String output() {
        return options.output();
    }

    @Override
    public Job writingTo(String file) {
        return new TrafficJamRun(options.writingTo(file));
    }

    @Override
    public CompletableFuture<Void> start(Engine engine) throws Exception {
        return engine.start(environment -> TrafficJam.build(environment, options), isOpenLoop());
    }

    @Override
    public void printResult(SummaryText text) {
        List<RankingRow> rows = statistics().lastRanking();
        if (rows.isEmpty()) {
            text.line("no window was completed");
            return;
        }
        long endS = rows.get(0).figures().windowEndS();
        text.line("Most jammed streets from second %,d to %,d", endS - 10, endS);
        text.line("%4s  %-12s %6s  %14s  %10s", "rank", "street", "cars", "mean speed m/s", "jam");
        for (RankingRow row : rows) {
            text.line(
                    "%4d  %-12s %6d  %14s  %10s",
                    row.rank(),
                    row.figures().street(),
                    row.figures().cars(),
                    row.figures().meanSpeedMps().toPlainString(),
                    row.figures().jam().toPlainString());
        }
        text.line("");
    }

    @Override
    public void printLatency(SummaryText text, RunFigures run) {
        text.histogram("delay", run.delayMicros());
        text.line(
                "             latency: a result minus the %s of its last event; delay: minus that"
                        + " of the event",
                isOpenLoop() ? "scheduled time" : "reading");
        text.line("             that closed the window, 5 s of event time later");
        text.closedLoopNote(isOpenLoop());
        text.line(
                "rejected     %,d late, %,d malformed",
                statistics().late(), statistics().malformed());
    }

    @Override
    public void options(ObjectNode node) {
        node.put("input", options.input());
        node.put("rate", options.linesPerSecond());
        node.put("repeat", options.repeat());
        node.put("payload_bytes", options.payloadBytes());
        node.put("history", options.history());
        node.put("work", options.work());
    }

    @Override
    public void figures(ObjectNode root, RunFigures run) {
        root.put("late", statistics().late());
        root.put("malformed", statistics().malformed());
        SummaryJson.histogram(root.putObject("delay_ms"), run.delayMicros());
        ranking(root.putArray("last_ranking"), statistics().lastRanking());
    }

    private static void ranking(ArrayNode array, List<RankingRow> rows) {
        for (RankingRow row : rows) {
            ObjectNode node = array.addObject();
            node.put("window_end_s", row.figures().windowEndS());
            node.put("rank", row.rank());
            node.put("street", row.figures().street());
            node.put("cars", row.figures().cars());
            node.put("mean_speed_mps", row.figures().meanSpeedMps());
            node.put("jam", row.figures().jam());
        }
    }
}
