package io.afterbay.workloads.profiles;

/**
 * What a process does that sends profiles to a topic, and meets the titles that a live job makes of
 * them in another one.
 *
 * @param bootstrap HOST:PORT of the broker
 * @param partitions of each topic
 * @param changes of profiles
 * @param past records that are there before the live job begins, the snapshot among them
 * @param ratePerS changes per second, while the live job runs
 * @param group of the live job, which begins behind the past
 */
public record TrafficPlan(
        String bootstrap,
        int partitions,
        ProfileChanges changes,
        long past,
        double ratePerS,
        String group) {
    /** The topic that is sent to. */
    public static final String PROFILES = "profiles";

    /** The topic that is read. */
    public static final String TITLES = "titles";
}
