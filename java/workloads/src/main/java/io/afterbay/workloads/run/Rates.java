package io.afterbay.workloads.run;

/** What {@code --rate} may be: events per second of an open loop, or 0 for none. */
public final class Rates {
    private static final double MIN = 1e-3;
    private static final double MAX = 1e9;

    private Rates() {}

    public static boolean isValid(double rate) {
        return rate == 0 || rate >= MIN && rate <= MAX;
    }

    /** The message about another one. */
    public static String explain(double rate) {
        return "--rate " + rate + ": use 0 or a number from 0.001 to 1e9";
    }
}
