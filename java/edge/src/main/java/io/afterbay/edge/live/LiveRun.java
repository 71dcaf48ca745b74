package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.lines.ResultsDirectory;
import io.afterbay.edge.lines.ResultsDirectory.Complete;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.ScriptPlan;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.program.PlanCut;
import io.afterbay.edge.run.EmbeddedFlink;
import io.afterbay.edge.run.ResultRows;
import io.afterbay.edge.run.RunnableJob;
import io.afterbay.edge.run.Tables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a job in halves and as a whole while its sites see what it is about:
 *
 * <pre>
 *            seen            link
 *   halves   site a ── agent ─────┐
 *            site b ── agent ─────┴─ gateway ── upper half on Flink ── rows, when
 *
 *   whole    site a ── shipper ───┐
 *            site b ── shipper ───┴─ receiver ─ the job on Flink ───── rows, when
 * </pre>
 *
 * One way behind the other, with the same pace, links and outages.
 */
public final class LiveRun {
    private static final long STEP_MS = 10;
    private static final Duration START_PATIENCE = Duration.ofMinutes(2);

    private final EdgeProgram program;
    private final Path directory;
    private final LiveOptions options;
    private final Consumer<String> progress;

    /**
     * @param directory for files that nobody needs afterwards
     * @param progress is told all the time how far it is
     */
    public LiveRun(
            EdgeProgram program, Path directory, LiveOptions options, Consumer<String> progress) {
        this.program = program;
        this.directory = directory;
        this.options = options;
        this.progress = progress;
    }

    /**
     * @param inputs what each site sees, by name
     * @throws CommandFailure if this job cannot be run like that, or a part of it fails
     */
    public LiveOutcome run(ScriptPlan script, Map<String, Path> inputs)
            throws CommandFailure, IOException, InterruptedException {
        RunnableJob job = RunnableJob.of(script);
        progress.accept("reading when each line happens");
        Timeline timeline = Timeline.of(program, times(job, script), inputs, directory("timeline"));
        PlanCut cut = program.cut(asFiles(job.source().name(), job.plan()), directory("cut"));
        Stage halves = new Stage("halves", script.zone(), timeline, inputs);
        LiveOutcome.Way inHalves;
        LiveOutcome.Agents agents;
        try (LinkTrouble links = new LinkTrouble(options.play(), options.outage());
                HalvesFeed feed =
                        new HalvesFeed(
                                program,
                                cut,
                                inputs.keySet(),
                                halves.seen,
                                links,
                                options,
                                directory("halves/edge"))) {
            inHalves = halves.run(feed, links);
            agents = feed.usage();
        }
        Stage whole = new Stage("whole", script.zone(), timeline, inputs);
        LiveOutcome.Way asWhole;
        try (LinkTrouble links = new LinkTrouble(options.play(), options.outage());
                WholeFeed feed =
                        new WholeFeed(
                                job,
                                inputs.keySet(),
                                whole.seen,
                                links,
                                options,
                                directory("whole/edge"))) {
            asWhole = whole.run(feed, links);
        }
        ResultRows rows = ResultRows.read(job.sink(), halves.results.directory());
        return new LiveOutcome(
                ResultRows.read(job.sink(), whole.results.directory()).difference(rows),
                rows,
                inputs.size(),
                timeline.count(),
                bytes(inputs),
                cut.sent(),
                timeline.isEventTime() ? speed(timeline) : null,
                inHalves,
                asWhole,
                agents);
    }

    private @Nullable PlanJson times(RunnableJob job, ScriptPlan script) {
        PlanJson times = script.times();
        return times == null ? null : asFiles(job.source().name(), times);
    }

    private PlanJson asFiles(String source, PlanJson plan) {
        return plan.withSource(
                source, Tables.withFormatOf(plan.sources().get(0), Tables.json(directory)));
    }

    private Path directory(String name) throws IOException {
        return Files.createDirectories(directory.resolve(name));
    }

    private double speed(Timeline timeline) {
        return (double) timeline.spanMs() / Math.max(1, options.play().toMillis());
    }

    private static long bytes(Map<String, Path> inputs) throws IOException {
        long bytes = 0;
        for (Path input : inputs.values()) {
            bytes += Files.size(input);
        }
        return bytes;
    }

    /** One of the two ways. */
    private final class Stage {
        private final ZoneId zone;
        private final Timeline timeline;
        private final Map<String, Path> inputs;
        private final Path seen;
        private final ResultsDirectory results;
        private long startedMs;

        Stage(String name, ZoneId zone, Timeline timeline, Map<String, Path> inputs)
                throws IOException {
            this.zone = zone;
            this.timeline = timeline;
            this.inputs = inputs;
            this.seen = directory(name + "/seen");
            for (String site : inputs.keySet()) {
                Files.createFile(Play.file(seen, site));
            }
            this.results = new ResultsDirectory(directory.resolve(name + "/results"));
        }

        LiveOutcome.Way run(CloudFeed feed, LinkTrouble links)
                throws CommandFailure, IOException, InterruptedException {
            progress.accept(feed.name() + ": Flink starts");
            ExecutorService executor = Executors.newSingleThreadExecutor();
            try (Play play = new Play(timeline, inputs, seen, speed(timeline))) {
                PlanJson plan = feed.job(results.directory());
                Future<?> flink =
                        executor.submit(
                                () -> {
                                    EmbeddedFlink.run(plan, zone);
                                    return null;
                                });
                awaitStart(flink, play);
                carry(feed, links, play, flink);
                feed.finish();
                await(flink);
                return outcome(links, play);
            } finally {
                executor.shutdownNow();
            }
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

        /**
         * Flink may see the end of its input, which comes behind all that is played, before we do.
         */
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

        private LiveOutcome.Way outcome(LinkTrouble links, Play play) throws IOException {
            Duration took = Duration.ofMillis(System.currentTimeMillis() - startedMs);
            List<Complete> complete = results.read();
            Ages ages =
                    timeline.isEventTime()
                            ? Ages.of(complete, timeline.firstMs(), timeline.spanMs(), play::timeOf)
                            : null;
            return new LiveOutcome.Way(links.bytesUp(), links.bytesDown(), ages, took);
        }
    }
}
