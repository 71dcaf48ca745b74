package io.afterbay.cli;

import io.afterbay.bench.Run;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The order of a comparison: A B C D A B C D ..., so that what changes on the machine meanwhile
 * meets all backends alike. Round 0 is not counted; it gives the rate of the open loop.
 */
final class Rounds {
    /** Of the throughput of the slower backends: enough to hurt, not so much that queues grow. */
    private static final double SHARE = 0.7;

    private final CompareArguments arguments;
    private final RoundWorker worker;
    private final CompareProgress progress;
    private final List<Findings> uncounted = new ArrayList<>();
    private final List<Findings> counted = new ArrayList<>();
    private double ratePerS;

    Rounds(CompareArguments arguments, RoundWorker worker, CompareProgress progress) {
        this.arguments = arguments;
        this.worker = worker;
        this.progress = progress;
    }

    /** Runs all of them; false if the user stopped it. */
    boolean run() throws CommandFailure, InterruptedException {
        if (arguments.hasUncountedRound() && !round(0, uncounted)) {
            return false;
        }
        ratePerS = arguments.latency().isZero() ? 0 : rate();
        for (int pair = 1; pair <= arguments.pairs(); pair++) {
            if (!round(pair, counted)) {
                return false;
            }
        }
        return true;
    }

    private boolean round(int pair, List<Findings> results)
            throws CommandFailure, InterruptedException {
        for (Backend backend : arguments.backends) {
            Assignment assignment =
                    new Assignment(
                            backend.name(),
                            pair,
                            arguments.warmUp().toMillis(),
                            pair == 0 ? 0 : ratePerS,
                            arguments.latency().toMillis());
            progress.start(assignment, backend);
            Optional<Findings> findings = worker.run(assignment, progress::show);
            if (findings.isEmpty()) {
                return false;
            }
            progress.finished(findings.get());
            results.add(findings.get());
        }
        return true;
    }

    /** That of the user, or what the reference backend can bear; 0 if none finished its run. */
    private double rate() {
        if (arguments.rate > 0) {
            return arguments.rate;
        }
        String reference = Backend.ROCKSDB_HEAP_TIMERS.label();
        List<Run> runs =
                uncounted.stream()
                        .map(Findings::run)
                        .filter(run -> run.finished() && run.eventsPerS() != null)
                        .toList();
        return runs.stream()
                .filter(run -> run.backend().equals(reference))
                .findFirst()
                .or(() -> runs.stream().min(Comparator.comparing(Rounds::eventsPerS)))
                .map(run -> SHARE * eventsPerS(run))
                .orElse(0.0);
    }

    private static double eventsPerS(Run run) {
        return Objects.requireNonNull(run.eventsPerS());
    }

    /** Of the open loop; 0 without one. */
    double ratePerS() {
        return ratePerS;
    }

    List<Findings> counted() {
        return counted;
    }

    /** Round 0 included. */
    List<Findings> all() {
        List<Findings> all = new ArrayList<>(uncounted);
        all.addAll(counted);
        return all;
    }
}
