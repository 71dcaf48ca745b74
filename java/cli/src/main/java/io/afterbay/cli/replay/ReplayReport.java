package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.replay.live.LiveBudget;
import io.afterbay.command.CommandFailure;
import io.afterbay.replay.ReplayProgress;
import io.afterbay.replay.merge.MergeFigures;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a replay.
 *
 * @param place {@link ReplayPlace#option}
 * @param share of the range that every source has read, from 0 to 1
 * @param records in the range so far
 * @param perSecond records lately
 * @param job that it has on a cluster; null if it has none
 * @param isFollowed whether a process waits for its end
 * @param liveStop of a live job that was stopped for it; null if none was
 * @param rate what was asked for, or decided
 * @param timeline of the rate
 * @param budget of the live job; null if it does not decide on the rate
 * @param left until its end ({@link TimeLeft}); null if that is not known
 * @param priority of its newest process; null if it runs on a cluster, or has not begun
 * @param merged what its merge with the live job's output has done; null if there is none
 * @param problem why it failed, or null
 */
record ReplayReport(
        ReplayPlan plan,
        String place,
        ReplayState state,
        double share,
        long records,
        double perSecond,
        @Nullable ReplayJob job,
        boolean isFollowed,
        @Nullable LiveStop liveStop,
        WantedRate rate,
        List<RateTimeline.Entry> timeline,
        @Nullable LiveBudget budget,
        @Nullable Duration left,
        @Nullable Priority priority,
        @Nullable MergeFigures merged,
        @Nullable String problem) {
    static ReplayReport of(ReplayDirectory directory) throws CommandFailure {
        ReplayPlan plan = directory.plan();
        ReplayState state = directory.state();
        List<ReplayProgress> sources = directory.progressOfSources();
        Optional<ReplayProgress> progress = ReplayProgress.of(sources);
        double share = progress.map(known -> share(plan, known)).orElse(0.0);
        return new ReplayReport(
                plan,
                ReplayPlace.option(directory.root()),
                state,
                share,
                progress.map(ReplayProgress::records).orElse(0L),
                state == ReplayState.RUNNING
                        ? progress.map(ReplayProgress::recordsPerSecond).orElse(0.0)
                        : 0,
                directory.job().orElse(null),
                directory.isHeld(),
                directory.liveStop().orElse(null),
                directory.rate(),
                directory.timeline(),
                directory.budget().orElse(null),
                state == ReplayState.RUNNING ? TimeLeft.of(plan, sources) : null,
                directory.priority().orElse(null),
                directory.merged().orElse(null),
                state == ReplayState.FAILED
                        ? directory.ended().map(ReplayDirectory.Ended::problem).orElse(null)
                        : null);
    }

    static double share(ReplayPlan plan, ReplayProgress progress) {
        if (progress.hasEnded()) {
            return 1;
        }
        double reached = progress.reachedMs() - (double) plan.fromMs();
        return Math.max(0, Math.min(1, reached / (plan.toMs() - (double) plan.fromMs())));
    }

    /** For a progress line. */
    String line() {
        return "%s: %.1f %% of the range, %,d records, %s%s"
                        .formatted(plan.id(), share * 100, records, pace(), eta())
                + conflicts();
    }

    private String conflicts() {
        if (merged == null) {
            return "";
        }
        String waiting =
                share < 1 || merged.unsettled() == 0
                        ? ""
                        : ", %,d keys to be read back".formatted(merged.unsettled());
        return ", %,d conflicts%s".formatted(merged.conflicts(), waiting);
    }

    private String pace() {
        return state == ReplayState.RUNNING
                ? "%,.0f records/s (rate %s%s)"
                        .formatted(perSecond, Rate.text(rate.rate()), reason())
                : state.toString();
    }

    private String reason() {
        return rate.adaptive()
                ? RateTimeline.newest(timeline)
                        .map(entry -> ", " + entry.reason())
                        .orElse(", adaptive")
                : "";
    }

    private String eta() {
        return left == null ? "" : ", %s left".formatted(text(left));
    }

    static String text(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds < 60) {
            return seconds + " s";
        }
        return seconds < 3600
                ? "%d min %d s".formatted(seconds / 60, seconds % 60)
                : "%d h %d min".formatted(seconds / 3600, seconds % 3600 / 60);
    }

    /** Nothing if it does not run here. */
    String precedence() {
        return priority == null || !state.isAlive() ? "" : ", " + priority.text();
    }

    /** What to do next, for who has it before them. */
    String way() {
        return switch (state) {
            case FINISHED -> nothing();
            case CANCELLED -> "";
            case RUNNING -> (isFollowed ? "" : "; nobody follows it: " + resume()) + live();
            case UNKNOWN -> live();
            case PAUSED, INTERRUPTED -> "; go on: " + resume() + live();
            case FAILED -> ": %s; try again: %s%s".formatted(problem, resume(), live());
        };
    }

    /** The range was probably meant in other times than the job's records have. */
    private String nothing() {
        return share < 1 || records > 0
                ? ""
                : "; no record is in the range, %s: docs/replay.md says by which time each source is asked"
                        .formatted(plan.range());
    }

    private String live() {
        if (liveStop == null || liveStop.phase() == LiveStop.Phase.BACK) {
            return "";
        }
        String where =
                liveStop.savepoint() == null
                        ? "being stopped, or already stopped"
                        : "stopped at %s".formatted(liveStop.savepoint());
        return "; the live job is %s; to start it again at once: ./afterbay replay cancel %s%s"
                .formatted(where, plan.id(), place);
    }

    private String resume() {
        return "./afterbay replay resume " + plan.id() + place;
    }

    void json(ObjectNode node) {
        node.put("id", plan.id());
        node.put("job", plan.title());
        node.put("state", state.name().toLowerCase(Locale.ROOT));
        node.put("from", Instant.ofEpochMilli(plan.fromMs()).toString());
        node.put("to", Instant.ofEpochMilli(plan.toMs()).toString());
        node.put("share", share);
        node.put("records", records);
        node.put("records_per_s", perSecond);
        node.put("on", plan.on() == null ? null : plan.on().toString());
        node.put("job_id", job == null ? null : job.id());
        node.put("followed", isFollowed);
        node.put("rate", rate.perSecond());
        node.put("adaptive", rate.adaptive());
        if (left == null) {
            node.putNull("left_s");
        } else {
            node.put("left_s", left.toSeconds());
        }
        if (priority != null) {
            priority.json(node.putObject("priority"));
        }
        if (merged != null) {
            node.put("conflicts", merged.conflicts());
            node.put("corrections", merged.corrections());
        }
        node.put("problem", problem);
        if (budget != null) {
            ObjectNode known = node.putObject("budget");
            known.put("p99_ms", budget.p99Ms());
            known.put("lag_records", budget.lagRecords());
            known.put("lag_ms", budget.lagMs());
        }
        if (liveStop != null) {
            ObjectNode known = node.putObject("blocking");
            known.put("phase", liveStop.phase().name().toLowerCase(Locale.ROOT));
            known.put("savepoint", liveStop.savepoint());
            known.put("live_job_id", liveStop.newJobId());
        }
        RateTimeline.json(timeline, node.putArray("timeline"));
    }
}
