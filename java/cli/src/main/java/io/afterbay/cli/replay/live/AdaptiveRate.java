package io.afterbay.cli.replay.live;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which rate of a replay leaves the live job in peace: halved when the live job leaves its budget,
 * a step up otherwise.
 *
 * <pre>
 *   rate      ceiling: was too much
 *    |           x              x
 *    |          /            .-'     plateau, some decisions long; then probing, in growing steps
 *    |         /       .-----
 *    |        /     .-'              three quarters of what is left to the plateau, each time
 *    |       /    x/
 *    |     .'                        doubled, as long as nothing is known
 *    +------------------------- decisions
 * </pre>
 *
 * <p>Steps are those of TCP: slow start and halving (Jacobson, SIGCOMM 1988), the search below what
 * was too much and the plateau before it (BIC, Xu et al., INFOCOM 2004; CUBIC, Ha et al., 2008). A
 * plain additive step would be at three quarters of what is possible on average.
 *
 * <p>A decision is made of three samples, and at once only if one is twice its budget. Figures of
 * the live job are those of a time that has passed: after a halving there is no other until what
 * they were made of is gone, or while they fall. A rate that the replay does not use up is not
 * raised. For one thread.
 */
public final class AdaptiveRate {
    private static final int SAMPLES = 3;
    private static final double FAR = 2;

    /** A strain that is smaller by this is one that falls. */
    private static final double FALLING = 0.95;

    private static final double PLATEAU = 0.95;
    private static final double GAP_CLOSED = 0.75;

    /** Decisions before something above the plateau is tried. */
    private static final int PLATEAU_DECISIONS = 8;

    private static final double FIRST_PROBE = 0.02;
    private static final double PROBE_MAX = 0.25;

    /** With less than that, it is the replay that cannot. */
    private static final double USED_MIN = 0.7;

    private final LiveBudget budget;
    private final double minimum;
    private final int settleSamples;
    private final List<LiveSample> latest = new ArrayList<>();
    private double rate;
    private double ceiling = Double.POSITIVE_INFINITY;
    private boolean isRecovering;
    private double strainBefore;
    private int settling;
    private int missing;
    private int onPlateau;
    private double probe;

    /**
     * What was decided.
     *
     * @param rate in records per second, from now on
     * @param live what it was decided by; null if nothing was known
     */
    public record Decision(double rate, String reason, @Nullable LiveSample live) {}

    /**
     * @param start the first rate, in records per second
     * @param minimum what halving never goes below
     * @param settleSamples after a halving, how many samples may still be made of the time before
     */
    public AdaptiveRate(LiveBudget budget, double start, double minimum, int settleSamples) {
        this.budget = budget;
        this.rate = Math.max(start, minimum);
        this.minimum = minimum;
        this.settleSamples = settleSamples;
    }

    public double rate() {
        return rate;
    }

    /**
     * Takes the next sample.
     *
     * @param sample null if the live job could not be asked
     * @param used records per second that the replay has read lately
     * @return empty if the time for a decision has not come
     */
    public Optional<Decision> next(@Nullable LiveSample sample, double used) {
        if (sample == null || !sample.saysSomething()) {
            return unknown();
        }
        missing = 0;
        settling = Math.max(0, settling - 1);
        latest.add(sample);
        boolean isFar = budget.strain(sample) > FAR && !isRecovering;
        if (latest.size() < SAMPLES && !isFar) {
            return Optional.empty();
        }
        LiveSample seen = isFar ? sample : LiveSample.median(latest);
        latest.clear();
        return Optional.of(decide(seen, used));
    }

    /** Nobody knows whether the live job is well. */
    private Optional<Decision> unknown() {
        latest.clear();
        if (++missing < SAMPLES) {
            return Optional.empty();
        }
        missing = 0;
        rate = halved(rate);
        return Optional.of(new Decision(rate, "halved: nothing is known of the live job", null));
    }

    private Decision decide(LiveSample live, double used) {
        Optional<String> left = budget.left(live);
        double strain = budget.strain(live);
        String reason = left.isPresent() ? down(left.get(), strain, used) : up(used);
        strainBefore = strain;
        return new Decision(rate, reason, live);
    }

    private String down(String left, double strain, double used) {
        if (isRecovering && (settling > 0 || strain < FALLING * strainBefore)) {
            return "kept: " + left + ", from before the rate was halved";
        }
        double tooMuch = isUsed(used) ? rate : Math.max(used, minimum);
        if (!isRecovering) {
            ceiling = tooMuch;
        }
        isRecovering = true;
        onPlateau = 0;
        probe = 0;
        settling = settleSamples;
        double before = rate;
        rate = halved(tooMuch);
        return (rate < before ? "halved: " : "kept, the least there is: ") + left;
    }

    private boolean isUsed(double used) {
        return used >= USED_MIN * rate;
    }

    private double halved(double from) {
        return Math.max(minimum, from / 2);
    }

    private String up(double used) {
        isRecovering = false;
        settling = 0;
        if (!isUsed(used)) {
            return String.format(Locale.ROOT, "kept: the replay itself has %,.0f records/s", used);
        }
        if (Double.isInfinite(ceiling)) {
            rate *= 2;
            return "doubled: the live job is in its budget";
        }
        double plateau = Math.max(minimum, PLATEAU * ceiling);
        if (rate < plateau) {
            double next = rate + GAP_CLOSED * (plateau - rate);
            rate = plateau - next < FIRST_PROBE * plateau ? plateau : next;
            return "a step up: the live job is in its budget";
        }
        if (onPlateau++ < PLATEAU_DECISIONS) {
            return "kept: more was too much";
        }
        probe = probe == 0 ? FIRST_PROBE * rate : Math.min(2 * probe, PROBE_MAX * rate);
        rate += probe;
        return "a step up: more was too much a while ago";
    }
}
