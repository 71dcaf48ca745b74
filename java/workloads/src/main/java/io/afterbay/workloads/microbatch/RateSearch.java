package io.afterbay.workloads.microbatch;

/**
 * Seeks the highest rate that is sustained, by attempts: doubles or halves until one is and one is
 * not, then halves what is between them, until they are close.
 */
public final class RateSearch {
    /** Rates in between are not told apart: attempts are short. */
    static final double CLOSE = 1.1;

    private static final int ATTEMPTS_MAX = 12;

    private final int most;
    private double sustained;
    private double tooMuch;
    private double next;
    private int attempts;

    /**
     * @param first rate to try
     * @param most that can be tried
     */
    public RateSearch(int first, int most) {
        this.next = first;
        this.most = most;
    }

    /** Of the next attempt. */
    public int next() {
        return (int) Math.max(1, Math.min(most, Math.round(next)));
    }

    /**
     * How the attempt went.
     *
     * @return whether another attempt is worth it
     */
    public boolean tried(boolean isSustained) {
        attempts++;
        if (isSustained) {
            sustained = next();
        } else {
            tooMuch = next();
        }
        if (sustained == 0) {
            next = tooMuch / 2;
        } else if (tooMuch == 0) {
            next = sustained * 2;
        } else {
            next = Math.sqrt(sustained * tooMuch);
        }
        boolean isFound =
                tooMuch > 0 && sustained > 0 && tooMuch / sustained <= CLOSE
                        || sustained >= most
                        || tooMuch == 1;
        return !isFound && attempts < ATTEMPTS_MAX;
    }

    /** The highest rate that was sustained; 0 for none. */
    public double sustained() {
        return sustained;
    }
}
