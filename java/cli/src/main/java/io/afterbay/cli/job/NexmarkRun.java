package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.Engine;
import io.afterbay.workloads.nexmark.Nexmark;
import io.afterbay.workloads.nexmark.NexmarkOptions;
import io.afterbay.workloads.nexmark.NexmarkStatistics;
import io.afterbay.workloads.nexmark.Verification;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A NEXMark query in a worker. */
public final class NexmarkRun extends VerifiedRun {
    private final NexmarkOptions options;

    public NexmarkRun(NexmarkOptions options, boolean verifies) {
        super(verifies);
        this.options = options;
    }

    @Override
    public String name() {
        return "nexmark";
    }

    @Override
    public NexmarkStatistics statistics() {
        return NexmarkStatistics.of(options.run());
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
        return new NexmarkRun(options.writingTo(file), verifies());
    }

    @Override
    public CompletableFuture<Void> start(Engine engine) throws Exception {
        return engine.start(environment -> Nexmark.build(environment, options), isOpenLoop());
    }

    @Override
    String problem(Path output) throws IOException {
        Verification result = Verification.ofFile(options, output);
        return result.isEqual()
                ? ""
                : "%s gave wrong rows: %,d of %,d are missing, %,d are surplus; %s"
                        .formatted(
                                options.query(),
                                result.missing(),
                                result.rows(),
                                result.surplus(),
                                String.join("; ", result.examples()));
    }

    @Override
    long rows() {
        return statistics().rows();
    }

    @Override
    public void printResult(SummaryText text) {
        text.line("NEXMark %s: %,d rows%s", options.query(), rows(), verdict());
    }

    @Override
    public void printLatency(SummaryText text, RunFigures run) {
        latencyNote(text, "the event whose watermark completes it was");
    }

    @Override
    public void options(ObjectNode node) {
        node.put("query", options.query().toString());
        node.put("events", options.events());
        node.put("window_ms", options.windows().lengthMillis());
        node.put("session_gap_ms", options.windows().sessionGapMillis());
        node.put("active_keys", options.generator().activeKeys());
        node.put("inter_event_us", options.generator().interEventMicros());
        node.put("seed", options.generator().seed());
        node.put("rate", options.eventsPerSecond());
    }
}
