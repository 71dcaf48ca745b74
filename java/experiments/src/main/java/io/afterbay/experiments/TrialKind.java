package io.afterbay.experiments;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.Trial;
import io.afterbay.command.CommandFailure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * An experiment that has figures of its own.
 *
 * @param <P> what a worker is to do
 * @param <R> what it finds out
 */
public interface TrialKind<P extends TrialPlan, R extends Trial> {
    /** Name of the file of its results. */
    String experiment();

    Class<R> type();

    /** Rounds of runs, one run after the other; those of a round are compared with each other. */
    List<List<P>> rounds();

    /** The main class of the process of a run; see {@link TrialWorker}. */
    Class<? extends TrialWorker<P, R>> worker(P plan);

    /** Makes what all runs need, before the first of them. */
    default void prepare() throws CommandFailure, InterruptedException {}

    /**
     * The plan with what it needs of other runs.
     *
     * @param before all runs of this revision, or of this call if that has changes
     * @throws CommandFailure if it cannot be had; then the run has failed for that reason
     */
    default P ready(P plan, List<R> before) throws CommandFailure {
        return plan;
    }

    /** The run that came to nothing. */
    R failed(P plan, String reason);

    /** The figures of a run that failed later. */
    R failed(R run, String reason);

    /** Whether this run is what the plan wants. */
    boolean isOf(P plan, R run);

    /** Whether there is a round with all of that: only what ran in one round is compared. */
    default boolean isRecorded(List<P> round, Collection<List<R>> recorded) {
        return recorded.stream().anyMatch(runs -> hasAll(runs, round));
    }

    private boolean hasAll(List<R> runs, List<P> round) {
        return round.stream().allMatch(plan -> runs.stream().anyMatch(run -> isOf(plan, run)));
    }

    /** The figures that matter most, in a few words. */
    String describe(R run);

    /** What should have been counted in a finished run and was not, or the other way round. */
    List<String> problems(R run);

    /** What is wrong with runs that are compared with each other. */
    default List<String> problems(List<R> round) {
        return List.of();
    }

    /** What is wrong with a round: with one of its runs, or between them. */
    default List<String> allProblems(List<R> round) {
        List<String> problems = new ArrayList<>(problems(round));
        for (R run : round) {
            String failure = run.failure();
            List<String> found = failure == null ? problems(run) : List.of("it failed: " + failure);
            found.forEach(
                    text ->
                            problems.add(
                                    "%s, pair %d: %s".formatted(run.backend(), run.pair(), text)));
        }
        return problems;
    }

    /** The tables, in Markdown. */
    String report(List<RecordedTrial<R>> trials);
}
