package io.afterbay.spark;

import io.afterbay.spark.publish.Backoff;
import io.afterbay.spark.publish.PublishSettings;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/** The settings {@code spark.afterbay.commit.*} of an application. */
final class CommitSettings {
    private static final String PREFIX = "spark.afterbay.commit.";
    private static final String THREADS = PREFIX + "threads";
    private static final String FILES = PREFIX + "pendingFilesMax";
    private static final String BYTES = PREFIX + "pendingBytesMax";
    private static final String WAIT = PREFIX + "waitMax";
    private static final String ATTEMPTS = PREFIX + "attemptsMax";
    private static final String HANG = PREFIX + "hangMax";
    private static final String SILENCE = PREFIX + "silenceMax";
    private static final String BANDWIDTH = PREFIX + "bytesPerSecondMax";
    private static final String HEDGED = PREFIX + "hedgedPercentMax";
    private static final int SILENCE_BEATS_MIN = 3;
    static final Set<String> KEYS =
            new TreeSet<>(
                    Set.of(
                            THREADS,
                            FILES,
                            BYTES,
                            WAIT,
                            ATTEMPTS,
                            HANG,
                            SILENCE,
                            BANDWIDTH,
                            HEDGED,
                            QuerySettings.MODE,
                            QuerySettings.REPLAYABLE,
                            QuerySettings.UNDERLYING));

    private CommitSettings() {}

    /**
     * @throws IllegalArgumentException that names the key and what is allowed
     */
    static PublishSettings of(SparkConf conf) {
        refuseUnknown(conf);
        QuerySettings.isPipelined(conf.get(QuerySettings.MODE, QuerySettings.STRICT));
        PublishSettings defaults = PublishSettings.defaults();
        Backoff backoff = defaults.backoff();
        return new PublishSettings(
                conf.getInt(THREADS, defaults.threads()),
                conf.getInt(FILES, defaults.entriesMax()),
                conf.getSizeAsBytes(BYTES, defaults.bytesMax()),
                nanos(conf, WAIT, defaults.waitNanosMax()),
                conf.getInt(ATTEMPTS, defaults.attemptsMax()),
                nanos(conf, HANG, defaults.hangNanosMax()),
                backoff,
                conf.getSizeAsBytes(BANDWIDTH, defaults.bytesPerSecondMax()),
                conf.getInt(HEDGED, defaults.hedgedPercentMax()));
    }

    /**
     * How long an executor may say nothing before the driver takes it for dead.
     *
     * @throws IllegalArgumentException that names the key and what is allowed
     */
    static long silenceNanosMax(SparkConf conf) {
        long nanos = nanos(conf, SILENCE, TimeUnit.SECONDS.toNanos(20));
        if (nanos < SILENCE_BEATS_MIN * Reporter.HEARTBEAT_NANOS) {
            throw new IllegalArgumentException(
                    SILENCE
                            + " must be at least "
                            + SILENCE_BEATS_MIN
                            + "s, not "
                            + conf.get(SILENCE)
                            + ": executors report every second");
        }
        return nanos;
    }

    private static long nanos(SparkConf conf, String key, long defaultNanos) {
        long defaultMillis = TimeUnit.NANOSECONDS.toMillis(defaultNanos);
        return TimeUnit.MILLISECONDS.toNanos(conf.getTimeAsMs(key, defaultMillis + "ms"));
    }

    private static void refuseUnknown(SparkConf conf) {
        for (Tuple2<String, String> setting : Arrays.asList(conf.getAllWithPrefix(PREFIX))) {
            if (!KEYS.contains(PREFIX + setting._1())) {
                throw new IllegalArgumentException(
                        "unknown setting " + PREFIX + setting._1() + "; there are " + KEYS);
            }
        }
    }
}
