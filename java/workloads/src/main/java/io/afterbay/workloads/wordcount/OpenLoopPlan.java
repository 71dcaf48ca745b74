package io.afterbay.workloads.wordcount;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Word count at a rate for a while, or the search for the rate that takes a share of the
 * processors, as one process tells it another.
 *
 * @param application without a broker; its number of words follows from times and rate, and its
 *     rate is 0 if it is sought
 * @param streamsClassPath of the process with Kafka Streams, which may be of another version than
 *     the broker
 * @param streamsOptions more of them for the JVM of that process; the last of two counts
 * @param latencies file for the timeline of an open loop, which {@code afterbay doctor} reads
 * @param wanted share of the processors that the rate is to take, above 0 to 1
 * @param rampUpMs how long words come before anything counts
 * @param attemptMs length of an attempt to find the rate
 * @param openMs length of what counts
 */
public record OpenLoopPlan(
        WordCountPlan application,
        String streamsClassPath,
        List<String> streamsOptions,
        @Nullable String latencies,
        double wanted,
        long rampUpMs,
        long attemptMs,
        long openMs) {

    /** Whether the rate is not known yet. */
    public boolean seeksRate() {
        return application.ratePerS() == 0;
    }

    /** Words that come in the ramp-up. */
    public long rampUpWords(double ratePerS) {
        return (long) (ratePerS * rampUpMs / 1e3);
    }

    /** The application for so many words at a rate, under its own name and a number. */
    public WordCountPlan loop(String bootstrap, int number, long words, double ratePerS) {
        WordCountPlan of = application;
        return new WordCountPlan(
                bootstrap,
                of.name() + "-" + number,
                words,
                ratePerS,
                of.vocabulary(),
                of.skew(),
                of.seed(),
                of.partitions(),
                of.threads(),
                of.spreadsTriggers(),
                of.settings());
    }
}
