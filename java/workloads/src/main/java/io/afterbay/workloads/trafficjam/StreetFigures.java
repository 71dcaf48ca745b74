package io.afterbay.workloads.trafficjam;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Comparator;

/**
 * One street in one window. The jam is {@code cars * max(0, 1 - mean / 13.9 m/s)}; with the sum S
 * of n speeds in 0.1 m/s that is {@code cars * max(0, 139 n - S) / (139 n)}, kept as a fraction of
 * integers until it is printed.
 *
 * @param windowEndS end of the window, exclusive, in seconds of event time
 * @param street the street
 * @param cars distinct cars that reported
 * @param reports all reports
 * @param speedSumDms sum of their speeds in 0.1 m/s
 * @param stamps when its reports were read
 */
public record StreetFigures(
        long windowEndS, String street, long cars, long reports, long speedSumDms, Stamps stamps) {

    /** 13.9 m/s is 50 km/h: traffic flows freely. */
    static final long FREE_FLOW_DMS = 139;

    private static final int DECIMALS = 3;

    /** The largest jam first, and equal ones by street in string order. */
    public static final Comparator<StreetFigures> BY_JAM =
            StreetFigures.byJamAscending().reversed().thenComparing(StreetFigures::street);

    private static Comparator<StreetFigures> byJamAscending() {
        return (a, b) ->
                a.jamNumerator()
                        .multiply(b.jamDenominator())
                        .compareTo(b.jamNumerator().multiply(a.jamDenominator()));
    }

    private BigInteger jamNumerator() {
        return BigInteger.valueOf(Math.max(0, FREE_FLOW_DMS * reports - speedSumDms))
                .multiply(BigInteger.valueOf(cars));
    }

    private BigInteger jamDenominator() {
        return BigInteger.valueOf(FREE_FLOW_DMS).multiply(BigInteger.valueOf(reports));
    }

    /** The mean of all reports in m/s, three decimals, half up. */
    public BigDecimal meanSpeedMps() {
        return quotient(BigInteger.valueOf(speedSumDms), BigInteger.valueOf(10 * reports));
    }

    /** The jam, three decimals, half up. */
    public BigDecimal jam() {
        return quotient(jamNumerator(), jamDenominator());
    }

    private static BigDecimal quotient(BigInteger dividend, BigInteger divisor) {
        return new BigDecimal(dividend)
                .divide(new BigDecimal(divisor), DECIMALS, RoundingMode.HALF_UP);
    }
}
