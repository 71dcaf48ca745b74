package io.afterbay.cli.compare;

import io.afterbay.bench.Run;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.process.MachineLoad;
import io.afterbay.command.CommandFailure;
import io.afterbay.handover.WorkerStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Consumer;

/**
 * The order of a comparison: A B C D A B C D ..., so that what changes on the machine meanwhile
 * meets all backends alike. Round 0 is not counted; it gives the rate of the open loop.
 */
public final class Rounds {
    /** Of the throughput of the slower backends: enough to hurt, not so much that queues grow. */
    private static final double SHARE = 0.7;

    /** Runs one backend for one round. */
    interface Runner {
        /** What it found out; nothing if the user stopped it. */
        Optional<Findings> run(Assignment assignment, Consumer<WorkerStatus> listener)
                throws CommandFailure, InterruptedException;
    }

    private final CompareArguments arguments;
    private final Runner runner;
    private final CompareProgress progress;
    private final MachineLoad load;
    private final List<Findings> uncounted = new ArrayList<>();
    private final List<Findings> counted = new ArrayList<>();
    private OptionalDouble otherCores = OptionalDouble.empty();
    private int repeats;
    private double ratePerS;

    Rounds(CompareArguments arguments, Runner runner, CompareProgress progress, MachineLoad load) {
        this.arguments = arguments;
        this.runner = runner;
        this.progress = progress;
        this.load = load;
    }

    /** Runs all of them; false if the user stopped it. */
    boolean run() throws CommandFailure, InterruptedException {
        if (arguments.hasUncountedRound() && !round(0, uncounted)) {
            return false;
        }
        ratePerS = arguments.latency().isZero() ? 0 : rate();
        for (int pair = 1; pair <= arguments.pairs(); pair++) {
            if (!countedRound(pair)) {
                return false;
            }
        }
        return true;
    }

    /** Once more if the machine was busy with other work, as often as that is allowed. */
    private boolean countedRound(int pair) throws CommandFailure, InterruptedException {
        for (; ; ) {
            MachineLoad.Mark start = load.mark();
            if (!round(pair, counted)) {
                return false;
            }
            OptionalDouble other = load.otherCores(start);
            if (other.orElse(0) <= MachineLoad.OTHER_CORES_MAX || repeats == arguments.repeats()) {
                note(other);
                return true;
            }
            repeats++;
            progress.repeats(pair, other.getAsDouble());
            discount(pair);
        }
    }

    private void note(OptionalDouble other) {
        if (other.isPresent()) {
            otherCores = OptionalDouble.of(Math.max(otherCores.orElse(0), other.getAsDouble()));
        }
    }

    /** Its rows are still compared. */
    private void discount(int pair) {
        List<Findings> disturbed =
                counted.stream().filter(one -> one.run().pair() == pair).toList();
        uncounted.addAll(disturbed);
        counted.removeAll(disturbed);
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
            Optional<Findings> findings = runner.run(assignment, progress::show);
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

    /** The most processors that other work used in a counted pair; empty if nobody can tell. */
    OptionalDouble otherCores() {
        return otherCores;
    }

    /** Of the open loop; 0 without one. */
    double ratePerS() {
        return ratePerS;
    }

    List<Findings> counted() {
        return counted;
    }

    /** Round 0 included, and pairs that were repeated. */
    List<Findings> all() {
        List<Findings> all = new ArrayList<>(uncounted);
        all.addAll(counted);
        return all;
    }
}
