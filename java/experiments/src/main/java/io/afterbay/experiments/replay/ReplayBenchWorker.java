package io.afterbay.experiments.replay;

import io.afterbay.cli.process.JsonHandover;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The process of a run: starts a broker, the traffic, the live job and the replay, the last two as
 * users do, and tells the traffic which part of the time begins.
 */
final class ReplayBenchWorker extends TrialWorker<ReplayBenchPlan, ReplayTrial> {
    private static final int PARTITIONS = 4;
    private static final long SEED = 1;
    private static final String GROUP = "titles";
    private static final String SECOND = "second";
    private static final String ID = "past";

    /** Of the only source of the job; see {@link ReplayControl}. */
    private static final String PROGRESS = "progress-0";

    private static final long TICK_MS = 200;

    /** Titles of the live job before the warm-up begins: it is there then. */
    private static final int FIRST_TITLES = 50;

    /** Profiles that a job has left which has caught up, in seconds of the live rate. */
    private static final double CAUGHT_UP_S = 2;

    /** In the search: for what is compiled, and then what counts. */
    private static final long BURST = 200_000;

    private final Programs programs;
    private final Path jar;
    private long ticks;
    private String broker = "";

    private ReplayBenchWorker(Start<ReplayBenchPlan> start) {
        super(start);
        programs = new Programs(directory);
        jar = directory.resolve("profiles.jar");
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
        Program live = live("live", GROUP, List.of());
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
        Program live = live("live", GROUP, List.of());
        traffic.tell("live");
        say("live job");
        traffic.tell("arrived " + FIRST_TITLES);
        sleep("warm-up", plan.warmUpMs(), live);
        traffic.tell("phase before");
        sleep("before", plan.phaseMs(), live);
        traffic.tell("phase during");
        Replayed replayed =
                switch (plan.way().way()) {
                    case NOTHING -> nothing(live);
                    case REPLAY -> replay(range);
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
        sleep("during", plan.phaseMs(), live);
        return Replayed.NOTHING;
    }

    private Replayed replay(String[] range) throws Exception {
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
                                plan.replayRatePerS() == null
                                        ? "max"
                                        : Double.toString(plan.replayRatePerS()),
                                "--id",
                                ID,
                                "--dir",
                                replays.toString()));
        boolean isMerged = plan.way().isMerged() && plan.merges();
        arguments.addAll(isMerged ? List.of("--mode", "beside") : List.of("--own-output"));
        arguments.addAll(engineAndJob(GROUP, List.of()));
        Program replay = programs.afterbay("replay", arguments);
        Path told = replays.resolve(ID).resolve("control");
        ReplayControl control = new ReplayControl(told.toUri());
        Pace pace = new Pace();
        while (replay.isAlive()) {
            Optional<ReplayProgress> progress = control.progress();
            if (progress.isPresent()) {
                pace.saw(progress.get(), Files.getLastModifiedTime(told.resolve(PROGRESS)));
            }
            tick("during");
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
        traffic.tell("lag %s %d".formatted(SECOND, caughtUp()));
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        second.stop();
        return new Replayed(plan.past() / seconds, null, null);
    }

    /** In a group of its own, since the first part of its source begins with what is committed. */
    private Replayed hybrid(Program traffic, Program live, String[] range) throws Exception {
        long startNanos = System.nanoTime();
        live.stop();
        Program next = live("hybrid", SECOND, List.of("--past-until", range[1]));
        traffic.tell("lag %s %d".formatted(SECOND, caughtUp()));
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        return new Replayed(plan.past() / seconds, null, next);
    }

    private long caughtUp() {
        Double rate = plan.liveRatePerS();
        return (long) (CAUGHT_UP_S * (rate == null ? 1 : rate));
    }

    private static String instant(String ms) {
        return Instant.ofEpochMilli(Long.parseLong(ms)).toString();
    }

    private Program live(String name, String group, List<String> more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("run", "jar", jar.toString()));
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
                phase(report, "during"),
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
