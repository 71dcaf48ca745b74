package io.afterbay.cli.run;

import io.afterbay.cli.engine.EngineFigures;
import io.afterbay.cli.engine.Submissions.Submitted;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.remote.JobView;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a cluster says about the jobs of a run. */
final class RemoteFigures {
    private final ClusterRest rest;
    private final Map<Submitted, JobView> views = new LinkedHashMap<>();
    private long events;
    private long durationMillis;
    private String status = "not started";
    private EngineFigures engine = EngineFigures.NONE;

    RemoteFigures(ClusterRest rest) {
        this.rest = rest;
    }

    /** Asks the cluster; what it does not answer stays as it was. */
    void update(List<Submitted> jobs) throws InterruptedException {
        jobs.forEach(job -> views.computeIfAbsent(job, this::view));
        try {
            ask();
        } catch (ClusterException e) {
            // A JobManager that restarts answers again later; if none does, the client says so.
        }
    }

    private JobView view(Submitted job) {
        return new JobView(rest, job.id().toHexString());
    }

    private void ask() throws ClusterException, InterruptedException {
        long records = 0;
        long millis = 0;
        EngineFigures all = EngineFigures.NONE;
        for (JobView view : views.values()) {
            status = view.status();
            records += view.sourceRecords();
            millis += view.durationMillis();
            all = all.plus(of(view));
        }
        events = records;
        durationMillis = millis;
        engine = all;
    }

    private static EngineFigures of(JobView view) throws ClusterException, InterruptedException {
        JobView.Checkpoints checkpoints = view.checkpoints();
        return new EngineFigures(
                checkpoints.completed(),
                checkpoints.stateBytes(),
                checkpoints.longestMillis(),
                view.failures());
    }

    /** Of the newest job. */
    String status() {
        return status;
    }

    /** Records that left the sources, as far as the cluster knows. */
    long events() {
        return events;
    }

    /** How long the jobs have run, one after the other. */
    double elapsedSeconds() {
        return durationMillis / 1e3;
    }

    /** Whether there were no more than those. */
    boolean isExact() {
        return views.values().stream().allMatch(JobView::isExact);
    }

    double eventsPerSecond() {
        return durationMillis == 0 ? 0 : events / elapsedSeconds();
    }

    EngineFigures engine() {
        return engine;
    }
}
