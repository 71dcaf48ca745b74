package io.afterbay.kafka.workloads;

import io.afterbay.workloads.run.LatencyTimeline;
import io.afterbay.workloads.run.LoadSearch;
import io.afterbay.workloads.wordcount.OpenLoopPlan;
import io.afterbay.workloads.wordcount.OpenLoopReport;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.apache.kafka.common.utils.AppInfoParser;
import org.jspecify.annotations.Nullable;

/** What {@link OpenLoopWorker} does: one open loop, or several that seek its rate. */
final class OpenLoopRun {
    /** Due at once; enough for some seconds, in which code is compiled. */
    private static final long FAST_WORDS = 400_000;

    private static final double AT_ONCE = 1e9;

    private final OpenLoopPlan plan;
    private final Path directory;
    private final Counting.Listener listener;
    private Duration cpuOfStreams = Duration.ZERO;
    private int loops;

    OpenLoopRun(OpenLoopPlan plan, Path directory, Counting.Listener listener) {
        this.plan = plan;
        this.directory = directory;
        this.listener = listener;
    }

    /** Whatever goes wrong with Kafka is in the report. */
    OpenLoopReport run() throws IOException, InterruptedException {
        listener.at("starting the broker", 0, 0);
        try (EmbeddedKafka kafka = EmbeddedKafka.start(directory.resolve("broker"))) {
            return plan.seeksRate() ? seek(kafka.bootstrap()) : measure(kafka.bootstrap());
        } catch (WordCountException e) {
            return OpenLoopReport.failed(
                    AppInfoParser.getVersion(), String.valueOf(e.getMessage()), cpuMs());
        }
    }

    private long cpuMs() {
        return OpenLoop.ownCpu().plus(cpuOfStreams).toMillis();
    }

    /** What a word costs as fast as possible; then attempts at a rate. */
    private OpenLoopReport seek(String bootstrap)
            throws WordCountException, IOException, InterruptedException {
        OpenLoop.Result fast = loop(bootstrap, FAST_WORDS, AT_ONCE, 0);
        double wordsPerS = FAST_WORDS / fast.elapsedS();
        double cpuUsPerWord = fast.cpuNanos() / 1e3 / FAST_WORDS;
        LoadSearch search =
                new LoadSearch(
                        plan.wanted(),
                        Runtime.getRuntime().availableProcessors(),
                        cpuUsPerWord,
                        wordsPerS);
        boolean goesOn = true;
        while (goesOn) {
            LatencyTimeline attempt =
                    loop(bootstrap, search.ratePerS(), plan.attemptMs()).timeline();
            Double busy = attempt.busy();
            goesOn = search.tried(busy == null ? 0 : busy, attempt.arrivedPerS());
        }
        return OpenLoopReport.found(
                fast.figures().kafka(),
                wordsPerS,
                cpuUsPerWord,
                search.ratePerS(),
                search.busy(),
                cpuMs());
    }

    private OpenLoopReport measure(String bootstrap)
            throws WordCountException, IOException, InterruptedException {
        double ratePerS = plan.application().ratePerS();
        OpenLoop.Result result = loop(bootstrap, ratePerS, plan.openMs());
        LatencyTimeline timeline = result.timeline();
        return new OpenLoopReport(
                null,
                result.figures().kafka(),
                result.counts(),
                null,
                null,
                ratePerS,
                timeline.latencyMs(50),
                timeline.latencyMs(90),
                timeline.latencyMs(95),
                timeline.latencyMs(99),
                timeline.latencyMs(99.9),
                timeline.latencyMs(100),
                timeline.busy(),
                timeline.mostWaiting(),
                timeline.write(Path.of(Objects.requireNonNull(plan.latencies(), "a file"))),
                result.figures().flushThreads(),
                result.figures().compactionThreads(),
                gate(result.figures()),
                cpuMs());
    }

    private static OpenLoopReport.@Nullable Gate gate(StreamsProcess.Figures figures) {
        return figures.holds() == 0
                ? null
                : new OpenLoopReport.Gate(figures.holds(), figures.heldMs(), figures.delayMs());
    }

    private OpenLoop.Result loop(String bootstrap, double ratePerS, long millis)
            throws WordCountException, IOException, InterruptedException {
        long rampUp = plan.rampUpWords(ratePerS);
        long counted = Math.max(1, (long) (ratePerS * millis / 1e3));
        return loop(bootstrap, rampUp + counted, ratePerS, rampUp);
    }

    private OpenLoop.Result loop(String bootstrap, long words, double ratePerS, long rampUp)
            throws WordCountException, IOException, InterruptedException {
        WordCountPlan loop = plan.loop(bootstrap, ++loops, words, ratePerS);
        OpenLoop.Result result = new OpenLoop(plan, loop, directory, listener).run(rampUp);
        cpuOfStreams = cpuOfStreams.plus(result.cpuOfStreams());
        return result;
    }
}
