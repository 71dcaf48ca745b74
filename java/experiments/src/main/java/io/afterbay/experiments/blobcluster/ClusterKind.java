package io.afterbay.experiments.blobcluster;

import io.afterbay.bench.Numbers;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.RustPrograms;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.experiments.blob.BlobPrograms;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The experiment about the blob store on three nodes.
 *
 * @param rounds see {@link TrialKind#rounds}
 * @param build how the programs are compiled
 */
record ClusterKind(List<List<ClusterPlan>> rounds, RustPrograms.Build build)
        implements TrialKind<ClusterPlan, ClusterTrial> {

    @Override
    public String experiment() {
        return "blob-cluster";
    }

    @Override
    public Class<? extends TrialWorker<ClusterPlan, ClusterTrial>> worker(ClusterPlan plan) {
        return ClusterWorker.class;
    }

    @Override
    public Class<ClusterTrial> type() {
        return ClusterTrial.class;
    }

    @Override
    public void prepare() throws CommandFailure, InterruptedException {
        BlobPrograms.build(build);
    }

    @Override
    public ClusterTrial failed(ClusterPlan plan, String reason) {
        return plan.trial().failed(reason);
    }

    @Override
    public ClusterTrial failed(ClusterTrial run, String reason) {
        return run.failed(reason);
    }

    @Override
    public boolean isOf(ClusterPlan plan, ClusterTrial run) {
        return run.setting().equals(plan.setting());
    }

    @Override
    public String describe(ClusterTrial run) {
        ClusterTrial.Outcome outcome = run.outcome();
        String ended =
                "%d requests failed; %d reads right, %d wrong, %d lost"
                        .formatted(
                                outcome.errors(),
                                outcome.verified(),
                                outcome.wrong(),
                                outcome.lost());
        if (run.setting().isKill()) {
            ClusterTrial.Kill kill = run.kill();
            return "P99 %s ms, %s with a node away, %s when it is back; whole after %s ms; %s"
                    .formatted(
                            Numbers.format(kill.calmP99Ms()),
                            Numbers.format(kill.awayP99Ms()),
                            Numbers.format(kill.backP99Ms()),
                            Numbers.format(kill.wholeAfterMs()),
                            ended);
        }
        return "%s requests/s, %s MB/s; P50 %s, P99 %s ms; CPU of all nodes %s us/request; %s"
                .formatted(
                        Numbers.format(run.rates().requestsPerS()),
                        Numbers.format(run.rates().mbPerS()),
                        Numbers.format(run.rates().p50Ms()),
                        Numbers.format(run.rates().p99Ms()),
                        Numbers.format(run.cost().nodesCpuUsPerRequest()),
                        ended);
    }

    @Override
    public List<String> problems(ClusterTrial run) {
        List<String> problems = new ArrayList<>();
        ClusterTrial.Outcome outcome = run.outcome();
        addIf(problems, outcome.wrong(), " objects are not what was put");
        if (orZero(outcome.verified()) == 0) {
            problems.add("no object was verified");
        }
        if (ClusterVariant.named(run.setting().variant()).isControl()) {
            problems.addAll(problemsOfControl(run));
            return problems;
        }
        addIf(problems, outcome.errors(), " requests failed");
        addIf(problems, outcome.lost(), " objects were acknowledged and cannot be read");
        if (run.setting().isKill()) {
            problems.addAll(problemsOfKill(run.kill()));
        } else if (orZero(run.rates().requests()) == 0) {
            problems.add("no request was counted; use a longer --open");
        }
        return problems;
    }

    private static List<String> problemsOfKill(ClusterTrial.Kill kill) {
        List<String> problems = new ArrayList<>();
        if (!Boolean.TRUE.equals(kill.whole())) {
            problems.add(
                    "the replicas were not whole again within %d s"
                            .formatted(ClusterStatus.WHOLE_SECONDS_MAX));
        }
        if (kill.lag() == null) {
            problems.add("a replica has not heard of another one");
        }
        addIf(problems, kill.lag(), " records were not taken over by a replica");
        addIf(problems, kill.underReplicatedBytes(), " bytes are under-replicated");
        if (orZero(kill.calmRequests()) == 0
                || orZero(kill.awayRequests()) == 0
                || orZero(kill.backRequests()) == 0) {
            problems.add("no request was answered in one of the phases");
        }
        return problems;
    }

    /** Without copies, a node that is away and a disk that is lost have to be noticed. */
    private static List<String> problemsOfControl(ClusterTrial run) {
        List<String> problems = new ArrayList<>();
        long lost = orZero(run.outcome().lost());
        long only = orZero(run.kill().onLostDiskOnly());
        if (lost == 0) {
            problems.add(
                    "the control passes: a disk with the only copies is lost, and no object is");
        } else if (lost != only) {
            problems.add(
                    "the control has lost %d objects, and the lost disk had the only copy of %d"
                            .formatted(lost, only));
        }
        if (orZero(run.outcome().errors()) == 0) {
            problems.add(
                    "the control passes: a node with the only copies is away, and no request failed");
        }
        return problems;
    }

    private static void addIf(List<String> problems, @Nullable Long count, String what) {
        if (orZero(count) != 0) {
            problems.add(count + what);
        }
    }

    private static long orZero(@Nullable Long value) {
        return value == null ? 0 : value;
    }

    @Override
    public String report(List<RecordedTrial<ClusterTrial>> trials) {
        return new ClusterPage(trials).details();
    }
}
