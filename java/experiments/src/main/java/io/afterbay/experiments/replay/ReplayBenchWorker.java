package io.afterbay.experiments.replay;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.handover.Handover;
import io.afterbay.handover.WorkerStatus;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayProgress;
import io.afterbay.replay.merge.MergeFigures;
import io.afterbay.workloads.profiles.ProfileChanges;
import io.afterbay.workloads.profiles.TrafficPlan;
import io.afterbay.workloads.profiles.TrafficReport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The process of a run: starts a broker, the traffic, the live job and the replay, the last two as
 * users do, and tells the traffic which part of the time begins.
 */
final class ReplayBenchWorker extends TrialWorker<ReplayBenchPlan, ReplayTrial> {
    private static final int PARTITIONS = 4;
    private static final long SEED = 1;
    private static final String GROUP = "titles";
    private static final String LIVE = "live";
    private static final String SECOND = "second";
    private static final String ID = "past";

    /** Of the only source of the job; see {@link ReplayControl}. */
    private static final String PROGRESS = "progress-0";

    /** Is there when an adaptive replay has measured the live job. */
    private static final String BUDGET = "budget.json";

    /** The part of the time that is about the replay. */
    private static final String DURING = "during";

    private static final long TICK_MS = 200;

    /** Titles of the live job before the warm-up begins: it is there then. */
    private static final int FIRST_TITLES = 50;

    /** Profiles that a job has left which has caught up, in seconds of the live rate. */
    private static final double CAUGHT_UP_S = 2;

    private static final long CATCH_UP_S_MAX = 600;

    /** In the search: for what is compiled, and then what counts. */
    private static final long BURST = 200_000;

    private final Programs programs;
    private final Path jar;

    /** Of the live job. */
    private final ClusterAddress cluster;

    private long ticks;
    private String broker = "";

    private ReplayBenchWorker(Start<ReplayBenchPlan> start) throws IOException {
        super(start);
        programs = new Programs(directory);
        jar = directory.resolve("profiles.jar");
        cluster = new ClusterAddress("localhost", freePort());
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    public static void main(String[] args) throws Exception {
        main(ReplayBenchPlan.class, ReplayBenchWorker::new);
    }

    @Override
    protected ReplayTrial failed(String reason) {
        return ReplayTrial.none(plan, reason);
    }

    @Override
    protected void end() throws IOException, InterruptedException {
        programs.close();
        handover.cpuOfChildren(programs.cpu());
    }

    @Override
    protected ReplayTrial trial() throws Exception {
        say("broker");
        programs.pack(jar);
        broker = programs.broker().line();
        Path files = Files.createDirectories(directory.resolve("t"));
        Handover told = JsonHandover.in(files);
        told.plan(
                new TrafficPlan(
                        broker,
                        PARTITIONS,
                        new ProfileChanges(SEED, plan.members()),
                        plan.past(),
                        plan.liveRatePerS() == null ? 0 : plan.liveRatePerS(),
                        GROUP));
        Program traffic = programs.traffic(files);
        traffic.line();
        return plan.isSearch() ? search(traffic) : measure(traffic, told);
    }

    private ReplayTrial search(Program traffic) throws Exception {
        say("past");
        traffic.tell("past");
        Program live = live(LIVE, GROUP, List.of());
        say("bursts");
        traffic.tell("burst " + BURST);
        double perS = Double.parseDouble(traffic.tell("burst " + BURST));
        live.stop();
        ReplayTrial none = ReplayTrial.none(plan, null);
        return new ReplayTrial(
                none.variant(),
                0,
                null,
                plan.pair(),
                null,
                perS,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }

    private ReplayTrial measure(Program traffic, Handover told) throws Exception {
        say("past");
        String[] range = traffic.tell("past").split(" ");
        Program live = live(LIVE, GROUP, List.of());
        traffic.tell("live");
        say("live job");
        traffic.tell("arrived " + FIRST_TITLES);
        sleep("warm-up", plan.warmUpMs(), live);
        traffic.tell("phase before");
        sleep("before", plan.phaseMs(), live);
        traffic.tell(plan.way() == ReplayVariant.ADAPTIVE ? "phase measuring" : "phase " + DURING);
        Replayed replayed =
                switch (plan.way().way()) {
                    case NOTHING -> nothing(live);
                    case REPLAY -> replay(range, traffic);
                    case SECOND_JOB -> secondJob(traffic);
                    case HYBRID -> hybrid(traffic, live, range);
                };
        traffic.tell("phase after");
        sleep("after", plan.phaseMs(), replayed.live == null ? live : replayed.live);
        say("comparison");
        traffic.tell("end " + (replayed.live == null ? GROUP : SECOND));
        TrafficReport report =
                told.trial(TrafficReport.class)
                        .orElseThrow(() -> new CommandFailure("the traffic left no report"));
        return trial(report, replayed);
    }

    /**
     * What was done of the past.
     *
     * @param live the job that is live from now on, if it is another one
     */
    private record Replayed(
            @Nullable Double perS, @Nullable MergeFigures merged, @Nullable Program live) {
        static final Replayed NOTHING = new Replayed(null, null, null);
    }

    private Replayed nothing(Program live) throws Exception {
        sleep(DURING, plan.phaseMs(), live);
        return Replayed.NOTHING;
    }

    private Replayed replay(String[] range, Program traffic) throws Exception {
        Path replays = directory.resolve("replays");
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "replay",
                                "jar",
                                jar.toString(),
                                "--from",
                                instant(range[0]),
                                "--to",
                                instant(range[1]),
                                "--rate",
                                rate(),
                                "--id",
                                ID,
                                "--dir",
                                replays.toString()));
        boolean isMerged = plan.way().isMerged() && plan.merges();
        arguments.addAll(isMerged ? List.of("--mode", "beside") : List.of("--own-output"));
        if (plan.way() == ReplayVariant.ADAPTIVE) {
            arguments.addAll(List.of("--live", cluster + "/" + liveJob()));
        }
        arguments.addAll(engineAndJob(GROUP, List.of()));
        Program replay = programs.afterbay("replay", arguments);
        if (plan.way() == ReplayVariant.ADAPTIVE) {
            awaitMeasured(replay, replays.resolve(ID).resolve(BUDGET));
            traffic.tell("phase " + DURING);
        }
        Path told = replays.resolve(ID).resolve("control");
        ReplayControl control = new ReplayControl(told.toUri());
        Pace pace = new Pace();
        while (replay.isAlive()) {
            Optional<ReplayProgress> progress = control.progress();
            if (progress.isPresent()) {
                pace.saw(progress.get(), Files.getLastModifiedTime(told.resolve(PROGRESS)));
            }
            tick(DURING);
        }
        replay.end();
        Optional<ReplayProgress> last = control.progress();
        if (last.isEmpty() || last.get().records() < plan.past()) {
            throw new CommandFailure(
                    "%s of %d records were replayed"
                            .formatted(last.map(ReplayProgress::records).orElse(0L), plan.past()));
        }
        return new Replayed(pace.perS(), control.merged().orElse(null), null);
    }

    /** It looks at the live job for a while before it begins, which is no part of it. */
    private void awaitMeasured(Program replay, Path budget) throws Exception {
        while (!Files.exists(budget)) {
            if (!replay.isAlive()) {
                throw replay.hasEnded();
            }
            tick("measuring");
        }
    }

    private String rate() {
        if (plan.way() == ReplayVariant.ADAPTIVE) {
            return "adaptive";
        }
        Double perS = plan.replayRatePerS();
        return perS == null ? "max" : Double.toString(perS);
    }

    /** The identifier of the job that runs. */
    private String liveJob() throws Exception {
        for (JsonNode job : new ClusterRest(cluster).get("/jobs/overview").path("jobs")) {
            if (job.path("state").asText().equals("RUNNING")) {
                return job.path("jid").asText();
            }
        }
        throw new CommandFailure("no live job runs at " + cluster);
    }

    /** How many records passed from the first time that something was told to the last. */
    private static final class Pace {
        private long firstRecords = -1;
        private long firstMs;
        private long lastRecords;
        private long lastMs;

        /**
         * @param told when it was so far: later than that it is looked at
         */
        void saw(ReplayProgress progress, FileTime told) {
            if (firstRecords < 0 && progress.records() > 0) {
                firstRecords = progress.records();
                firstMs = told.toMillis();
                lastRecords = firstRecords;
            }
            if (progress.records() > lastRecords) {
                lastRecords = progress.records();
                lastMs = told.toMillis();
            }
        }

        /** Null if it was done at once. */
        @Nullable Double perS() {
            return lastMs <= firstMs
                    ? null
                    : (lastRecords - firstRecords) * 1e3 / (lastMs - firstMs);
        }
    }

    private Replayed secondJob(Program traffic) throws Exception {
        long startNanos = System.nanoTime();
        Program second = live("second", SECOND, List.of());
        awaitCaughtUp(second, traffic);
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        second.stop();
        return new Replayed(plan.past() / seconds, null, null);
    }

    /** In a group of its own, since the first part of its source begins with what is committed. */
    private Replayed hybrid(Program traffic, Program live, String[] range) throws Exception {
        long startNanos = System.nanoTime();
        live.stop();
        Program next = live("hybrid", SECOND, List.of("--past-until", range[1]));
        awaitCaughtUp(next, traffic);
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        return new Replayed(plan.past() / seconds, null, next);
    }

    private void awaitCaughtUp(Program job, Program traffic) throws Exception {
        Double rate = plan.liveRatePerS();
        long mostLeft = (long) (CAUGHT_UP_S * (rate == null ? 1 : rate));
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(CATCH_UP_S_MAX);
        while (true) {
            long left = Long.parseLong(traffic.tell("lag " + SECOND));
            if (left <= mostLeft) {
                return;
            }
            if (!job.isAlive()) {
                throw job.hasEnded();
            }
            if (System.nanoTime() > deadlineNanos) {
                throw new CommandFailure(
                        "group %s still has %d records to read after %d s"
                                .formatted(SECOND, left, CATCH_UP_S_MAX));
            }
            tick(DURING);
        }
    }

    private static String instant(String ms) {
        return Instant.ofEpochMilli(Long.parseLong(ms)).toString();
    }

    private Program live(String name, String group, List<String> more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("run", "jar", jar.toString()));
        if (name.equals(LIVE)) {
            // In every variant, though only one asks: markers are part of what is measured.
            arguments.addAll(
                    List.of(
                            "-Drest.bind-port=" + cluster.port(),
                            "-Dmetrics.latency.interval=100 ms",
                            "-Dmetrics.fetcher.update-interval=1 s"));
        }
        arguments.addAll(engineAndJob(group, more));
        return programs.afterbay(name, arguments);
    }

    private List<String> engineAndJob(String group, List<String> more) {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "--checkpoint-interval",
                                "1s",
                                "--memory",
                                "1g",
                                "--work-dir",
                                directory.toString(),
                                "--",
                                "--bootstrap",
                                broker,
                                "--group",
                                group));
        arguments.addAll(more);
        return arguments;
    }

    private ReplayTrial trial(TrafficReport report, Replayed replayed) {
        MergeFigures merged = replayed.merged;
        return new ReplayTrial(
                plan.variant(),
                plan.livePercent(),
                plan.replayRatePerS(),
                plan.pair(),
                null,
                null,
                plan.liveRatePerS(),
                plan.past(),
                replayed.perS,
                merged == null ? null : merged.conflicts(),
                merged == null ? null : merged.corrections(),
                report.members(),
                report.wrong(),
                report.stale(),
                phase(report, "before"),
                phase(report, DURING),
                phase(report, "after"),
                report.seconds());
    }

    private static TrafficReport.Phase phase(TrafficReport report, String name) {
        return report.phases().stream()
                .filter(phase -> phase.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private void sleep(String phase, long millis, Program live) throws Exception {
        long endNanos = System.nanoTime() + millis * 1_000_000;
        while (System.nanoTime() < endNanos) {
            if (!live.isAlive()) {
                throw live.hasEnded();
            }
            tick(phase);
        }
    }

    private void tick(String phase) throws InterruptedException {
        say(phase);
        Thread.sleep(TICK_MS);
    }

    private void say(String phase) {
        new WorkerStatus(phase, ticks++, Long.MAX_VALUE, 0).say();
    }
}
