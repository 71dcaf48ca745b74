package io.afterbay.edge.live;

import io.afterbay.edge.run.ResultRows;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What came out of a job that ran live, both ways.
 *
 * @param difference null if rows are equal
 * @param rows of the job in halves
 * @param lines that sites have seen
 * @param rawBytes of them
 * @param sent kind of rows that leave the sites: raw, filtered, projected or partial
 * @param speed of the sites' time; null where sites make no watermark, and lines came evenly
 * @param whole without bytes and ages if it ran on a MiniCluster
 * @param messages of the sites; null if agents have read files
 * @param published by agents on the sites' broker; null if they were not asked to
 * @param producers of the whole job; null if no such ones fed it
 * @param miniCluster of the whole job; null if it ran behind links
 */
public record LiveOutcome(
        @Nullable String difference,
        ResultRows rows,
        int sites,
        long lines,
        long rawBytes,
        String sent,
        @Nullable Double speed,
        Way halves,
        Way whole,
        Agents agents,
        @Nullable Messages messages,
        @Nullable Published published,
        @Nullable Producers producers,
        @Nullable MiniCluster miniCluster) {
    /**
     * One way.
     *
     * @param ages null if there are no watermarks to tell them by
     */
    public record Way(long bytesUp, long bytesDown, @Nullable Ages ages, Duration took) {
        public long bytes() {
            return bytesUp + bytesDown;
        }
    }

    /**
     * The programs of the sites.
     *
     * @param peakBytes resident memory of the largest; 0 if the system does not tell
     * @param cpu of all of them
     * @param agentKills how often one of them was killed
     */
    public record Agents(long peakBytes, Duration cpu, int agentKills, int gatewayKills) {}

    /**
     * What went through the sites' broker. What agents have counted is of those of their processes
     * that were not killed.
     *
     * @param broker its address, or mosquitto if it was started for this
     * @param published that the broker has acknowledged
     * @param received by agents
     * @param sentAgain of them, those of which the broker has said that it sends them again
     * @param repeatedRows that were left out, by their numbers
     * @param badRows that were left out, since they are none
     */
    public record Messages(
            String broker,
            long published,
            long received,
            long sentAgain,
            long repeatedRows,
            long badRows) {}

    /**
     * Rows that agents have published on the sites' broker, beside those of the gateway.
     *
     * @param rows each counted as often as the gateway has it, and those that it has not
     * @param again times that they have come once more
     * @param difference null if they are those that the gateway has
     */
    public record Published(String topic, long rows, long again, @Nullable String difference) {}

    /**
     * The Kafka producers of the sites, each in a JVM of its own.
     *
     * @param peakBytes resident memory of the largest; 0 if the system does not tell
     * @param cpu of all of them, from the start of their JVMs
     */
    public record Producers(long peakBytes, Duration cpu) {}

    /**
     * A MiniCluster of Flink's in a process of its own, with what all sites see in files.
     *
     * @param peakBytes resident memory; 0 if the system does not tell
     * @param cpu for all lines, once it is warm
     */
    public record MiniCluster(long peakBytes, Duration cpu) {}

    /** Whether rows are equal, of both ways and those that are published. */
    public boolean isEqual() {
        return difference == null && (published == null || published.difference() == null);
    }

    /** Bytes of the job in halves over the link, both directions, per byte of the whole job's. */
    public double ratio() {
        return (double) halves.bytes() / whole.bytes();
    }
}
