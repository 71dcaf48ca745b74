package io.afterbay.stragglers;

/**
 * What c servers on one queue promise: the M/M/c model, by which the paper reasons for shared
 * queues (section 3.2).
 *
 * <p>Equation 2 of the paper is not that. Its numerator has {@code c * rho / c!} where Erlang's
 * formula has {@code (c * rho)^c / c!}, and with the power it is the probability of having to wait,
 * and no time. The mean time in the queue is that probability over {@code c * mu - lambda}, which
 * is what figure 3 of the paper shows.
 */
public final class ErlangC {
    private ErlangC() {}

    /**
     * The probability that an arriving tuple has to wait.
     *
     * @param servers c, 1 or more
     * @param utilisation ρ, from 0 to below 1
     */
    public static double waitProbability(int servers, double utilisation) {
        if (servers < 1 || !(utilisation >= 0 && utilisation < 1)) {
            throw new IllegalArgumentException(
                    "a queue needs 1 or more servers and a utilisation within 0..1, not "
                            + servers
                            + " and "
                            + utilisation);
        }
        double lost = erlangB(servers, servers * utilisation);
        return lost / (1 - utilisation * (1 - lost));
    }

    /** By recursion over the servers: powers and factorials of many would overflow. */
    private static double erlangB(int servers, double load) {
        double lost = 1;
        for (int k = 1; k <= servers; k++) {
            lost = load * lost / (k + load * lost);
        }
        return lost;
    }

    /**
     * The mean time that a tuple spends in the queue before it is served.
     *
     * @param servers c, 1 or more
     * @param arrivalsPerSecond λ, at all servers together, 0 or more and below c·μ
     * @param servicesPerSecond μ, of one server, above 0
     * @return seconds
     */
    public static double meanWaitSeconds(
            int servers, double arrivalsPerSecond, double servicesPerSecond) {
        double capacity = servers * servicesPerSecond;
        return waitProbability(servers, arrivalsPerSecond / capacity)
                / (capacity - arrivalsPerSecond);
    }
}
