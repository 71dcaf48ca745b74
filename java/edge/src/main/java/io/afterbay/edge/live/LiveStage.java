package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.lines.ResultsDirectory;
import io.afterbay.edge.lines.ResultsDirectory.Complete;
import io.afterbay.edge.plan.PlanJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * One of the ways of a {@link LiveRun}: plays what the sites see, has it brought to Flink, and runs
 * a job there. For one thread, and once.
 */
final class LiveStage {
    private static final long STEP_MS = 10;
    private static final Duration START_PATIENCE = Duration.ofMinutes(2);

    private final FlinkRun flinkRun;
    private final Timeline timeline;
    private final Map<String, Path> inputs;
    private final LiveOptions options;
    private final Consumer<String> progress;
    private final Path seen;
    private final ResultsDirectory results;
    private long startedMs;

    /** Where a job runs. */
    interface FlinkRun {
        /** Returns when the job of a plan has ended. */
        void run(PlanJson plan) throws CommandFailure, InterruptedException;
    }

    /**
     * @param flinkRun runs the job
     * @param inputs what each site sees, by name
     * @param directory of its own, which need not be there
     */
    LiveStage(
            FlinkRun flinkRun,
            Timeline timeline,
            Map<String, Path> inputs,
            LiveOptions options,
            Path directory,
            Consumer<String> progress)
            throws IOException {
        this.flinkRun = flinkRun;
        this.timeline = timeline;
        this.inputs = inputs;
        this.options = options;
        this.progress = progress;
        this.seen = Files.createDirectories(directory.resolve("seen"));
        for (String site : inputs.keySet()) {
            Files.createFile(Play.file(seen, site));
        }
        this.results = new ResultsDirectory(directory.resolve("results"));
    }

    /** Where the lines of the sites appear; see {@link Play#file}. */
    Path seen() {
        return seen;
    }

    ResultsDirectory results() {
        return results;
    }

    LiveOutcome.Way run(CloudFeed feed, LinkTrouble links)
            throws CommandFailure, IOException, InterruptedException {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (Play play = new Play(timeline, inputs, seen, timeline.speed(options.play()))) {
            PlanJson plan = feed.job(results.directory());
            Future<?> flink = new CompletableFuture<>();
            if (!feed.isReadAtEnd()) {
                flink = start(plan, feed, executor);
                awaitStart(flink, play);
            }
            carry(feed, links, play, flink);
            feed.finish();
            if (feed.isReadAtEnd()) {
                flink = start(plan, feed, executor);
            }
            await(flink);
            return outcome(links, play, feed.isReadAtEnd());
        } finally {
            executor.shutdownNow();
        }
    }

    private Future<?> start(PlanJson plan, CloudFeed feed, ExecutorService executor) {
        progress.accept(feed.name() + ": Flink starts");
        return executor.submit(
                () -> {
                    flinkRun.run(plan);
                    return null;
                });
    }

    /** What happens before Flink is there would be old from the beginning. */
    private void awaitStart(Future<?> flink, Play play)
            throws CommandFailure, IOException, InterruptedException {
        long deadline = System.nanoTime() + START_PATIENCE.toNanos();
        while (!results.hasBegun()) {
            failIfEndedEarly(flink, play);
            if (System.nanoTime() > deadline) {
                throw new CommandFailure(
                        "Flink has not started the job within %d s"
                                .formatted(START_PATIENCE.toSeconds()));
            }
            Thread.sleep(STEP_MS);
        }
    }

    private void carry(CloudFeed feed, LinkTrouble links, Play play, Future<?> flink)
            throws CommandFailure, IOException, InterruptedException {
        play.start();
        startedMs = System.currentTimeMillis();
        boolean arrived = false;
        while (!(play.isDone() && arrived)) {
            play.advance();
            long sinceStartMs = System.currentTimeMillis() - startedMs;
            links.advance(sinceStartMs);
            arrived = feed.look(sinceStartMs);
            failIfEndedEarly(flink, play);
            progress.accept(
                    "%s: %.1f s, %s%,d bytes over the link%s"
                            .formatted(
                                    feed.name(),
                                    sinceStartMs / 1e3,
                                    play.isDone() ? "all is played, " : "",
                                    links.bytesUp() + links.bytesDown(),
                                    links.isDown() ? ", which is down" : ""));
            Thread.sleep(STEP_MS);
        }
    }

    /** Flink may see the end of its input, which comes behind all that is played, before we do. */
    private static void failIfEndedEarly(Future<?> flink, Play play)
            throws CommandFailure, InterruptedException {
        if (!flink.isDone()) {
            return;
        }
        await(flink);
        if (!play.isDone()) {
            throw new CommandFailure("the job on Flink has ended before its input has");
        }
    }

    private static void await(Future<?> flink) throws CommandFailure, InterruptedException {
        try {
            flink.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof CommandFailure failure
                    ? failure
                    : new CommandFailure("the job failed: " + CommandFailure.reason(e), e);
        }
    }

    private LiveOutcome.Way outcome(LinkTrouble links, Play play, boolean isReadAtEnd)
            throws IOException {
        Duration took = Duration.ofMillis(System.currentTimeMillis() - startedMs);
        if (isReadAtEnd || !timeline.isEventTime()) {
            return new LiveOutcome.Way(links.bytesUp(), links.bytesDown(), null, took);
        }
        List<Complete> complete = results.read();
        Ages ages = Ages.of(complete, timeline.firstMs(), timeline.spanMs(), play::timeOf);
        return new LiveOutcome.Way(links.bytesUp(), links.bytesDown(), ages, took);
    }
}
