package io.afterbay.storm.workloads;

import com.sun.management.OperatingSystemMXBean;
import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerReport;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.storm.utils.VersionInfo;

/** Runs the plan of a trial on a cluster in this process, to its end. */
final class TrialRun {
    private static final Duration LOOK = Duration.ofMillis(100);

    /** Without an acked tuple for so long, nothing comes any more. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private static final double NANOS_PER_MICRO = 1e3;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final StragglerPlan plan;
    private final Map<String, Object> extraConf;
    private final String trial = "trial-" + UUID.randomUUID().toString().substring(0, 8);

    /** When the first tuple was acked. */
    private long startCpuNanos;

    TrialRun(StragglerPlan plan) {
        this(plan, Map.of());
    }

    /**
     * @param extraConf of Storm's, beyond what follows from the plan
     */
    TrialRun(StragglerPlan plan, Map<String, Object> extraConf) {
        this.plan = plan;
        this.extraConf = extraConf;
    }

    private Map<String, Object> conf() {
        Map<String, Object> conf = new HashMap<>(TrialTopology.conf(trial, plan));
        conf.putAll(extraConf);
        return conf;
    }

    static long cpuMillis() {
        return cpuNanos() / NANOS_PER_MILLI;
    }

    private static long cpuNanos() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    /**
     * @param storm where no other trial runs meanwhile
     * @param progress hears now and then how many tuples were acked
     */
    StragglerReport run(EmbeddedStorm storm, Consumer<TrialLog> progress) throws Exception {
        LimitedWorkers limited;
        try {
            limited = LimitedWorkers.open(plan.topology().limits());
        } catch (IOException e) {
            return failed(Objects.requireNonNull(e.getMessage()));
        }
        try (limited) {
            return run(storm, limited, progress);
        }
    }

    private StragglerReport run(
            EmbeddedStorm storm, LimitedWorkers limited, Consumer<TrialLog> progress)
            throws Exception {
        TrialLog log = TrialLog.open(trial, plan, limited);
        try (BusyProcessors busy = new BusyProcessors(plan.load().busyShare())) {
            LongSupplier beside = () -> busy.cpuNanos() + limited.compressorNanos();
            Map<String, Object> conf = conf();
            storm.submit(trial, conf, TrialTopology.of(trial, plan, conf));
            String problem = await(log, beside, progress);
            long cpuNanos = cpuNanos() - beside.getAsLong() - startCpuNanos;
            problem = problem.isEmpty() ? awaitSecondInstances(log) : problem;
            ReplayFigures replays = watch().figures();
            // Before the end: a worker that ends while one of its timers is at work ends the
            // process, and busy processors make that likelier.
            limited.close();
            storm.kill(trial);
            return problem.isEmpty()
                    ? new TrialFigures(log, replays).report(perTuple(cpuNanos, log), cpuMillis())
                    : failed(problem);
        } finally {
            TrialLog.forget(trial);
            ReplayWatch.forget(trial);
        }
    }

    private static StragglerReport failed(String problem) {
        return StragglerReport.failed(VersionInfo.getVersion(), problem, cpuMillis());
    }

    private ReplayWatch watch() {
        return ReplayWatch.of(trial);
    }

    private static double perTuple(long cpuNanos, TrialLog log) {
        return cpuNanos / NANOS_PER_MICRO / Math.max(1, log.schedule().tuples());
    }

    /**
     * Until all tuples are acked; says what is wrong, or nothing.
     *
     * @param beside processor time in nanoseconds that is not Storm's
     */
    private String await(TrialLog log, LongSupplier beside, Consumer<TrialLog> progress)
            throws InterruptedException {
        int seen = 0;
        long since = System.nanoTime();
        while (log.ackedTuples() < log.schedule().tuples()) {
            Thread.sleep(LOOK.toMillis());
            watch().look();
            progress.accept(log);
            int acked = log.ackedTuples();
            if (acked > seen) {
                startCpuNanos = seen == 0 ? cpuNanos() - beside.getAsLong() : startCpuNanos;
                seen = acked;
                since = System.nanoTime();
            } else if (System.nanoTime() - since > PATIENCE.toNanos()) {
                return "no tuple was acked for %d s; %d of %d were, %d failed"
                        .formatted(
                                PATIENCE.toSeconds(),
                                acked,
                                log.schedule().tuples(),
                                log.failures());
            }
        }
        return "";
    }

    /** Until tasks have also done what was sent twice; says what is wrong, or nothing. */
    private String awaitSecondInstances(TrialLog log) throws InterruptedException {
        long repeats = log.repeats() + watch().sum("sent");
        long all = (log.schedule().tuples() + repeats) * log.edges().size();
        long since = System.nanoTime();
        while (log.executions() < all && System.nanoTime() - since < PATIENCE.toNanos()) {
            Thread.sleep(LOOK.toMillis());
        }
        return log.executions() == all
                ? ""
                : "with %d tuples that were sent twice tasks had to do %d in all, and did %d"
                        .formatted(repeats, all, log.executions());
    }
}
