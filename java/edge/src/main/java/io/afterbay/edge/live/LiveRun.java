package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.live.LiveOptions.WholeWay;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.ScriptPlan;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.program.PlanCut;
import io.afterbay.edge.run.EmbeddedFlink;
import io.afterbay.edge.run.FlinkCluster;
import io.afterbay.edge.run.ResultRows;
import io.afterbay.edge.run.RunnableJob;
import io.afterbay.edge.run.Tables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
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
 *   or       site a ── publisher ── broker ── agent ── …
 *
 *   or       … ── gateway ── topic ── upper half on Flink, when all has come ── rows
 *
 *   whole    site a ── shipper ───┐
 *            site b ── shipper ───┴─ receiver ─ the job on Flink ───── rows, when
 *
 *   or       site a ── producer ──┐
 *            site b ── producer ──┴─ Kafka ──── the job on Flink ───── rows, when
 *
 *   or       files of all sites ── the job on a MiniCluster ────────── rows
 * </pre>
 *
 * One way behind the other, with the same pace, links and outages.
 */
public final class LiveRun {
    private static final int CLUSTER_RUNS = 4;

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
        @Nullable KafkaPrograms kafka =
                options.whole() == WholeWay.PRODUCERS ? KafkaPrograms.installed() : null;
        progress.accept("reading when each line happens");
        Timeline timeline = Timeline.of(program, times(job, script), inputs, directory("timeline"));
        PlanJson plan = asFiles(job.source().name(), job.plan());
        PlanCut cut = program.cut(plan, script.local(), directory("cut"));
        checkPublished(cut);
        LiveOptions.Cloud cloud = options.cloud();
        Halves halves =
                cloud == null
                        ? throughFiles(cut, script, timeline, inputs)
                        : throughTopics(cloud, cut, plan, job, script, timeline, inputs);
        Whole whole =
                options.whole() == WholeWay.MINI_CLUSTER
                        ? onSiteCluster(job, script, inputs)
                        : behindLinks(kafka, job, script, timeline, inputs);
        ResultRows rows = ResultRows.read(job.sink(), halves.results);
        return new LiveOutcome(
                ResultRows.read(job.sink(), whole.results).difference(rows),
                rows,
                inputs.size(),
                timeline.count(),
                bytes(inputs),
                cut.sent(),
                timeline.isEventTime() ? timeline.speed(options.play()) : null,
                halves.way,
                whole.way,
                halves.agents,
                halves.messages,
                halves.published,
                whole.producers,
                whole.cluster);
    }

    /** What came out of the job in halves. */
    private record Halves(
            LiveOutcome.Way way,
            Path results,
            LiveOutcome.Agents agents,
            LiveOutcome.@Nullable Messages messages,
            LiveOutcome.@Nullable Published published) {}

    private Halves throughFiles(
            PlanCut cut, ScriptPlan script, Timeline timeline, Map<String, Path> inputs)
            throws CommandFailure, IOException, InterruptedException {
        GatewayFiles files =
                new GatewayFiles(cut, inputs.size(), directory("halves/edge").resolve("output"));
        return halves(cut, files, stage("halves", embedded(script), timeline, inputs), inputs);
    }

    private Halves throughTopics(
            LiveOptions.Cloud cloud,
            PlanCut cut,
            PlanJson plan,
            RunnableJob job,
            ScriptPlan script,
            Timeline timeline,
            Map<String, Path> inputs)
            throws CommandFailure, IOException, InterruptedException {
        if (!cut.sitesMakeWatermarks()) {
            throw new CommandFailure(
                    "--bootstrap: sites make no watermarks for this job ('./afterbay edge plan' says"
                            + " why), so each of them would need a partition of its own; run it"
                            + " without --bootstrap");
        }
        FlinkCluster cluster = cloud.cluster();
        if (cluster != null) {
            cluster.check();
        }
        Path results = directory("halves/results");
        try (RunTopics topics = new RunTopics(program, cloud.bootstrap(), directory("halves"))) {
            PlanJson copy = topics.copy(job.sink(), script.session(), results);
            topics.makeResults();
            LiveStage.FlinkRun flinkRun =
                    cluster == null
                            ? embedded(script)
                            : upper -> {
                                cluster.run(upper.withSinks(topics.results()), script.session());
                                EmbeddedFlink.run(copy, script.session());
                            };
            PlanCut throughTopic =
                    program.cut(plan, script.local(), topics.source(cut.table()), directory("cut"));
            return halves(
                    throughTopic,
                    new GatewayTopic(throughTopic, topics),
                    stage("halves", flinkRun, timeline, inputs),
                    inputs);
        }
    }

    private Halves halves(
            PlanCut cut, GatewayOutput output, LiveStage stage, Map<String, Path> inputs)
            throws CommandFailure, IOException, InterruptedException {
        try (LinkTrouble links = new LinkTrouble(options.play(), options.outage());
                HalvesFeed feed =
                        new HalvesFeed(
                                program,
                                cut,
                                output,
                                inputs.keySet(),
                                stage.seen(),
                                links,
                                options,
                                directory("halves/edge"))) {
            LiveOutcome.Way way = stage.run(feed, links);
            return new Halves(
                    way,
                    stage.results().directory(),
                    feed.usage(),
                    feed.messages(),
                    feed.published());
        }
    }

    private static LiveStage.FlinkRun embedded(ScriptPlan script) {
        return plan -> EmbeddedFlink.run(plan, script.session());
    }

    /** Parts are of no use to who lives at a site. */
    private void checkPublished(PlanCut cut) throws CommandFailure {
        LiveOptions.Messages messages = options.messages();
        if (messages != null && messages.publish() != null && !cut.isFinal()) {
            throw new CommandFailure(
                    ("--publish %s is of rows that are final at a site, and those of this job are %s:"
                                    + " no window has a column of --local %s in its key, or something"
                                    + " else keeps it in the cloud; './afterbay edge plan' with the"
                                    + " same --local says why")
                            .formatted(
                                    messages.publish(), cut.sent(), String.join(",", cut.local())));
        }
    }

    /** What came out of the whole job. */
    private record Whole(
            LiveOutcome.Way way,
            Path results,
            LiveOutcome.@Nullable Producers producers,
            LiveOutcome.@Nullable MiniCluster cluster) {}

    private Whole behindLinks(
            @Nullable KafkaPrograms kafka,
            RunnableJob job,
            ScriptPlan script,
            Timeline timeline,
            Map<String, Path> inputs)
            throws CommandFailure, IOException, InterruptedException {
        LiveStage stage = stage("whole", embedded(script), timeline, inputs);
        try (LinkTrouble links = new LinkTrouble(options.play(), options.outage());
                CloudFeed feed = wholeFeed(kafka, job, timeline, stage.seen(), links)) {
            LiveOutcome.Way way = stage.run(feed, links);
            return new Whole(
                    way,
                    stage.results().directory(),
                    feed instanceof ProducersFeed topic ? topic.usage() : null,
                    null);
        }
    }

    private Whole onSiteCluster(RunnableJob job, ScriptPlan script, Map<String, Path> inputs)
            throws CommandFailure, IOException, InterruptedException {
        progress.accept("MiniCluster");
        SiteCluster cluster =
                new SiteCluster(
                        job, script.session(), inputs.values(), CLUSTER_RUNS, directory("whole"));
        long startedMs = System.currentTimeMillis();
        LiveOutcome.MiniCluster usage = cluster.run();
        Duration took = Duration.ofMillis(System.currentTimeMillis() - startedMs);
        return new Whole(new LiveOutcome.Way(0, 0, null, took), cluster.results(), null, usage);
    }

    private LiveStage stage(
            String name, LiveStage.FlinkRun flinkRun, Timeline timeline, Map<String, Path> inputs)
            throws IOException {
        return new LiveStage(
                flinkRun, timeline, inputs, options, directory.resolve(name), progress);
    }

    private CloudFeed wholeFeed(
            @Nullable KafkaPrograms kafka,
            RunnableJob job,
            Timeline timeline,
            Path seen,
            LinkTrouble links)
            throws CommandFailure, IOException, InterruptedException {
        Path edge = directory("whole/edge");
        if (kafka == null) {
            return new WholeFeed(job, timeline.lines().keySet(), seen, links, options, edge);
        }
        progress.accept("Kafka producers start");
        return new ProducersFeed(kafka, job, timeline, seen, links, options, edge);
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

    private static long bytes(Map<String, Path> inputs) throws IOException {
        long bytes = 0;
        for (Path input : inputs.values()) {
            bytes += Files.size(input);
        }
        return bytes;
    }
}
