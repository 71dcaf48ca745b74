package io.afterbay.edge.live;

import io.afterbay.edge.link.LinkShape;
import io.afterbay.edge.mqtt.BrokerAddress;
import io.afterbay.edge.run.FlinkCluster;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a job is run live.
 *
 * @param link between each site and the cloud
 * @param play how long what the sites see is played, from its first line to its last one
 * @param outage for so long no link carries anything, from a quarter of the play on; zero for none
 * @param kill which program is killed at half of the play; null for none
 * @param whole how the whole job gets what the sites see
 * @param messages how agents get it through a broker; null if they read files
 * @param cloud of the user, for the job in halves; null for files and Flink on this machine
 */
public record LiveOptions(
        LinkShape link,
        Duration play,
        Duration outage,
        @Nullable Victim kill,
        WholeWay whole,
        @Nullable Messages messages,
        @Nullable Cloud cloud) {
    /** With files and Flink on this machine. */
    public LiveOptions(
            LinkShape link,
            Duration play,
            Duration outage,
            @Nullable Victim kill,
            WholeWay whole,
            @Nullable Messages messages) {
        this(link, play, outage, kill, whole, messages, null);
    }

    /** With agents that read files. */
    public LiveOptions(
            LinkShape link, Duration play, Duration outage, @Nullable Victim kill, WholeWay whole) {
        this(link, play, outage, kill, whole, null);
    }

    /** With one stream of zlib from each site for the whole job. */
    public LiveOptions(LinkShape link, Duration play, Duration outage, @Nullable Victim kill) {
        this(link, play, outage, kill, WholeWay.STREAM);
    }

    /** How the whole job gets what the sites see. */
    public enum WholeWay {
        /** One stream of zlib from each site, flushed each second. */
        STREAM,
        /** Kafka producers at the sites, whose topic Flink reads. */
        PRODUCERS,
        /** It does not: it runs where they see it, on a MiniCluster, without links and schedule. */
        MINI_CLUSTER
    }

    /** A program of the job in halves. */
    public enum Victim {
        /** That of the first site. */
        AGENT,
        GATEWAY
    }

    /**
     * Programs of the user.
     *
     * @param bootstrap HOST:PORT of Kafka's brokers, with commas between
     * @param cluster of Flink, which runs the upper half; null for Flink in this process
     */
    public record Cloud(String bootstrap, @Nullable FlinkCluster cluster) {}

    /**
     * What sites see, as messages of MQTT.
     *
     * @param broker that runs already; null to start mosquitto
     * @param mosquitto where that program is; null to look for it
     * @param sequence column whose numbers grow with each row, by which agents know rows that come
     *     twice; null if there is none
     * @param by column within whose values they grow; null if they grow within a site
     * @param publish topic on which agents also publish their rows, which are final; null for none
     * @param patience how long the broker may be away, or keep messages to itself
     * @param losesOne whether one message of the first site is never published: the control
     */
    public record Messages(
            @Nullable BrokerAddress broker,
            @Nullable Path mosquitto,
            @Nullable String sequence,
            @Nullable String by,
            @Nullable String publish,
            Duration patience,
            boolean losesOne) {
        /** Longer than a broker takes to start on a machine that is busy. */
        public static final Duration USUAL_PATIENCE = Duration.ofMinutes(4);
    }
}
