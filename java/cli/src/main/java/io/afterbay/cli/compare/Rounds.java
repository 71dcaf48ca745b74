package io.afterbay.cli.compare;

import io.afterbay.bench.Run;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.process.CountedRounds;
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

    private final CompareOptions arguments;
    private final Runner runner;
    private final CompareProgress progress;
    private final CountedRounds rounds;
    private final List<Findings> uncounted = new ArrayList<>();
    private final List<Findings> counted = new ArrayList<>();
    private OptionalDouble otherCores = OptionalDouble.empty();
    private double ratePerS;

    Rounds(CompareOptions arguments, Runner runner, CompareProgress progress, MachineLoad load) {
        this.arguments = arguments;
        this.runner = runner;
        this.progress = progress;
        this.rounds = new CountedRounds(load, arguments.repeats());
    }

    /** Runs all of them; false if the user stopped it. */
    boolean run() throws CommandFailure, InterruptedException {
        if (arguments.hasUncountedRound()
                && rounds.runOnce(assignments(0), new Pair(0, uncounted)).isEmpty()) {
            return false;
        }
        ratePerS = arguments.latency().isZero() ? 0 : rate();
        for (int pair = 1; pair <= arguments.pairs(); pair++) {
            Optional<CountedRounds.Counted<Findings>> round =
                    rounds.run(assignments(pair), new Pair(pair, counted));
            if (round.isEmpty()) {
                return false;
            }
            note(round.get().otherCores());
        }
        return true;
    }

    private void note(OptionalDouble other) {
        if (other.isPresent()) {
            otherCores = OptionalDouble.of(Math.max(otherCores.orElse(0), other.getAsDouble()));
        }
    }

    private List<Assignment> assignments(int pair) {
        return arguments.backends().stream()
                .map(
                        backend ->
                                new Assignment(
                                        backend.name(),
                                        pair,
                                        arguments.warmUp().toMillis(),
                                        pair == 0 ? 0 : ratePerS,
                                        arguments.latency().toMillis()))
                .toList();
    }

    /** The runs of a round. What is complete is kept, also of one that the user stops. */
    private final class Pair implements CountedRounds.Runs<Assignment, Findings> {
        private final int number;
        private final List<Findings> results;

        Pair(int number, List<Findings> results) {
            this.number = number;
            this.results = results;
        }

        @Override
        public Optional<Findings> run(Assignment assignment)
                throws CommandFailure, InterruptedException {
            progress.start(assignment, Backend.named(assignment.backend()));
            Optional<Findings> findings = runner.run(assignment, progress::show);
            findings.ifPresent(
                    found -> {
                        progress.finished(found);
                        results.add(found);
                    });
            return findings;
        }

        /** Its rows are still compared. */
        @Override
        public void disturbed(List<Findings> round, double other) {
            progress.repeats(number, other);
            uncounted.addAll(round);
            results.removeAll(round);
        }
    }

    /** That of the user, or what the reference backend can bear; 0 if none finished its run. */
    private double rate() {
        if (arguments.rate() > 0) {
            return arguments.rate();
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
