package io.afterbay.cli.process;

import io.afterbay.command.CommandFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Rounds of runs that are compared with each other, one run after the other. A round does not count
 * if the machine did other work meanwhile, and runs again, as often as that is allowed.
 */
public final class CountedRounds {
    private final MachineLoad load;
    private final int repeatsMax;
    private int repeats;

    /**
     * @param load to which runs add what they used themselves
     * @param repeatsMax of all rounds together
     */
    public CountedRounds(MachineLoad load, int repeatsMax) {
        this.load = load;
        this.repeatsMax = repeatsMax;
    }

    /** The runs of a round. */
    public interface Runs<P, R> {
        /** The round begins, for the first time or again. */
        default void begin() {}

        /** What came of a run; nothing if the user stopped it. */
        Optional<R> run(P plan) throws CommandFailure, InterruptedException;

        /** What is wrong with a round, which another one must not hide. */
        default List<String> problems(List<R> round) {
            return List.of();
        }

        /** The round does not count, and runs again. */
        void disturbed(List<R> round, double otherCores);
    }

    /**
     * A round that counts.
     *
     * @param otherCores processors that other work used meanwhile; empty if nobody can tell
     */
    public record Counted<R>(List<R> runs, OptionalDouble otherCores) {}

    /** Runs a round until it counts; nothing if the user stopped it. */
    public <P, R> Optional<Counted<R>> run(List<P> plans, Runs<P, R> runs)
            throws CommandFailure, InterruptedException {
        for (; ; ) {
            MachineLoad.Mark start = load.mark();
            Optional<List<R>> round = runOnce(plans, runs);
            if (round.isEmpty()) {
                return Optional.empty();
            }
            OptionalDouble other = load.otherCores(start);
            if (counts(other, runs.problems(round.get())) || repeats == repeatsMax) {
                return Optional.of(new Counted<>(round.get(), other));
            }
            repeats++;
            runs.disturbed(round.get(), other.getAsDouble());
        }
    }

    /** Runs a round whatever else the machine does; nothing if the user stopped it. */
    public <P, R> Optional<List<R>> runOnce(List<P> plans, Runs<P, R> runs)
            throws CommandFailure, InterruptedException {
        runs.begin();
        List<R> round = new ArrayList<>();
        for (P plan : plans) {
            Optional<R> run = runs.run(plan);
            if (run.isEmpty()) {
                return Optional.empty();
            }
            round.add(run.get());
        }
        return Optional.of(round);
    }

    static boolean counts(OptionalDouble otherCores, List<String> problems) {
        return otherCores.orElse(0) <= MachineLoad.OTHER_CORES_MAX || !problems.isEmpty();
    }
}
