package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;

import io.afterbay.flink.it.Leaks.Kill;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.util.FileUtils;

/** A job to which things happen for a long time; tells what it sees. */
final class Soak {
    /**
     * The TaskManager that is never killed: what each restart of the job leaves in the memory of
     * its process adds up.
     */
    static final String VETERAN = "tm-1";

    private static final int PARALLELISM = StandaloneCluster.SLOTS * ClusterExtension.TASK_MANAGERS;

    /** An event comes so long after a checkpoint at most: more than from one to the next. */
    private static final Duration DELAY_MAX = Duration.ofSeconds(8);

    /** Less than the heartbeat's timeout. */
    private static final Duration FREEZE_MAX = Duration.ofSeconds(6);

    private static final Map<String, String> INCREMENTAL =
            Map.of("execution.checkpointing.incremental", "true");

    private final StandaloneCluster cluster;
    private final Jobs jobs;
    private final Ledger ledger;
    private final SoakPlan plan;
    private final Path work;
    private final List<Kill> kills = new ArrayList<>();
    private final Instant begin = Instant.now();
    private String job = "";
    private int parallelism = PARALLELISM;
    private int checkpointFilesMax;
    private long diskLiveBytesMax;
    private int names = ClusterExtension.TASK_MANAGERS;

    /**
     * @param work the working directory of TaskManagers
     */
    Soak(StandaloneCluster cluster, Ledger ledger, SoakPlan plan, Path work) {
        this.cluster = cluster;
        this.jobs = new Jobs(cluster);
        this.ledger = ledger;
        this.plan = plan;
        this.work = work;
    }

    /** Runs the job for that time, longer if it takes so many kills longer, and then to its end. */
    void run(Duration time, int killsMin) throws Exception {
        job = ledger.start(AFTERBAY, PARALLELISM, null, INCREMENTAL);
        say("job %s", job);
        jobs.awaitCheckpoints(job, 1);
        while (Duration.between(begin, Instant.now()).compareTo(time) < 0
                || kills.size() < killsMin) {
            jobs.awaitCheckpoints(job, 1);
            observe();
            Thread.sleep(plan.below(DELAY_MAX).toMillis());
            happen(plan.next());
        }
        jobs.awaitCheckpoints(job, 1);
        resume(parallelism);
        ledger.release();
        say("the job reads to the end of its input");
        awaitEnd();
        say("the job has ended");
    }

    /** However long the rest of the input takes: each wait is for some more of it. */
    private void awaitEnd() throws Exception {
        AtomicLong emitted = new AtomicLong(-1);
        while (!hasEnded()) {
            long before = emitted.get();
            Await.until(
                    () -> "more than %d records, or the end of job %s".formatted(before, job),
                    () -> {
                        emitted.set(cluster.rest().emitted(job));
                        return emitted.get() > before || hasEnded();
                    });
        }
    }

    private void happen(SoakPlan.Event event) throws Exception {
        switch (event) {
            case KILL -> kill(victim());
            case LOSE -> lose(victim());
            case FREEZE -> freeze();
            case RESUME -> resume(parallelism);
            case RESCALE -> resume(parallelism == PARALLELISM ? PARALLELISM - 1 : PARALLELISM);
        }
    }

    private String victim() {
        return plan.oneOf(
                cluster.taskManagers().keySet().stream().filter(n -> !n.equals(VETERAN)).toList());
    }

    private void kill(String name) throws Exception {
        say("kill -9 of %s, which is started again", name);
        replace(name, name);
    }

    private void lose(String name) throws Exception {
        String other = "tm-" + ++names;
        say("kill -9 of %s, whose disk is lost; %s takes its place", name, other);
        replace(name, other);
    }

    private void replace(String name, String other) throws Exception {
        long restores = jobs.restores(job);
        Instant from = jobs.completedCheckpointBegin(job, Kill.CHECKPOINTS);
        cluster.killTaskManager(name);
        if (!name.equals(other)) {
            FileUtils.deleteDirectory(work.resolve("tm_" + name).toFile());
        }
        cluster.startTaskManager(other);
        cluster.awaitSlots();
        jobs.awaitRestores(job, restores + 1);
        kills.add(new Kill(from, Instant.now()));
        say("restored from checkpoint %d", jobs.restoredCheckpoint(job));
    }

    private void freeze() throws Exception {
        String name = plan.oneOf(List.copyOf(cluster.taskManagers().keySet()));
        Duration pause = plan.below(FREEZE_MAX);
        say("%s stands still for %d ms", name, pause.toMillis());
        cluster.freezeTaskManager(name, pause);
    }

    /** Just after a checkpoint, so that none is under way. */
    private void resume(int newParallelism) throws Exception {
        jobs.awaitCheckpoints(job, 1);
        observe();
        String checkpoint = ledger.cancel(job);
        say("cancelled; goes on from %s at parallelism %d", checkpoint, newParallelism);
        checkStorage();
        Map<String, String> config = new HashMap<>(INCREMENTAL);
        config.put("execution.state-recovery.path", checkpoint);
        config.put("execution.state-recovery.claim-mode", "CLAIM");
        job = ledger.start(AFTERBAY, newParallelism, null, config);
        parallelism = newParallelism;
        jobs.awaitRestores(job, 1);
        say("job %s is restored", job);
        jobs.awaitCheckpoints(job, 1);
    }

    private boolean hasEnded() throws Exception {
        String status = cluster.rest().status(job);
        if (status.equals("FAILED") || status.equals("CANCELED")) {
            throw new AssertionError(status + ":\n" + cluster.rest().exceptions(job));
        }
        if (status.equals("RUNNING")) {
            observe();
        }
        return status.equals("FINISHED");
    }

    private void observe() throws Exception {
        long bytes = cluster.rest().sum(job, "afterbay.diskLiveBytes");
        if (bytes > diskLiveBytesMax * 1.1) {
            say("%s of state are on disk", MemoryCurve.mib(bytes));
        }
        diskLiveBytesMax = Math.max(diskLiveBytesMax, bytes);
    }

    /**
     * When no job runs: storage has what the retained checkpoint refers to, and what kills left.
     */
    void checkStorage() throws Exception {
        Path storage = cluster.home().checkpoints();
        checkpointFilesMax = Math.max(checkpointFilesMax, Leaks.referred(storage).size());
        Await.until(this::storageFault, () -> storageFault().isEmpty());
        say(
                "checkpoint storage: %d files are of retained checkpoints, %d are left from %d kills: %s",
                Leaks.referred(storage).size(),
                Leaks.orphans(storage).size(),
                kills.size(),
                Leaks.perKill(Leaks.orphans(storage), kills));
    }

    private String storageFault() throws Exception {
        return Leaks.fault(Leaks.orphans(cluster.home().checkpoints()), kills, checkpointFilesMax);
    }

    /** When no job runs: the TaskManagers have given up what it had on their disks. */
    void checkLocalFiles() throws Exception {
        Await.until(
                () -> "local files to be deleted: " + Leaks.local(work),
                () -> Leaks.local(work).isEmpty());
    }

    /** The most that was seen in all stores' files, without garbage. */
    long diskLiveBytesMax() {
        return diskLiveBytesMax;
    }

    void say(String format, Object... arguments) {
        Duration time = Duration.between(begin, Instant.now());
        System.err.printf(
                Locale.ROOT,
                "soak %02d:%02d: %s%n",
                time.toMinutes(),
                time.toSecondsPart(),
                format.formatted(arguments));
    }
}
