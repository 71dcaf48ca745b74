package io.afterbay.spark;

import io.afterbay.spark.publish.PublishSettings;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/** The settings {@code spark.afterbay.commit.*} of an application. */
final class CommitSettings {
    private static final int SILENCE_BEATS_MIN = 3;

    private CommitSettings() {}

    /**
     * @throws IllegalArgumentException that names the key and what is allowed
     */
    static PublishSettings of(SparkConf conf) {
        refuseUnknown(conf);
        QuerySettings.isPipelined(value(conf, CommitOption.MODE));
        return new PublishSettings(
                number(conf, CommitOption.THREADS),
                number(conf, CommitOption.FILES),
                bytes(conf, CommitOption.BYTES),
                nanos(conf, CommitOption.WAIT),
                number(conf, CommitOption.ATTEMPTS),
                nanos(conf, CommitOption.HANG),
                PublishSettings.defaults().backoff(),
                bytes(conf, CommitOption.BANDWIDTH),
                number(conf, CommitOption.HEDGED));
    }

    /**
     * How long an executor may say nothing before the driver takes it for dead.
     *
     * @throws IllegalArgumentException that names the key and what is allowed
     */
    static long silenceNanosMax(SparkConf conf) {
        long nanos = nanos(conf, CommitOption.SILENCE);
        if (nanos < SILENCE_BEATS_MIN * Reporter.HEARTBEAT_NANOS) {
            throw new IllegalArgumentException(
                    CommitOption.SILENCE.key()
                            + " must be at least "
                            + SILENCE_BEATS_MIN
                            + "s, not "
                            + value(conf, CommitOption.SILENCE)
                            + ": executors report every second");
        }
        return nanos;
    }

    private static String value(SparkConf conf, CommitOption option) {
        return conf.get(option.key(), option.defaultValue());
    }

    private static int number(SparkConf conf, CommitOption option) {
        return conf.getInt(option.key(), Integer.parseInt(option.defaultValue()));
    }

    private static long bytes(SparkConf conf, CommitOption option) {
        return conf.getSizeAsBytes(option.key(), option.defaultValue());
    }

    private static long nanos(SparkConf conf, CommitOption option) {
        return TimeUnit.MILLISECONDS.toNanos(conf.getTimeAsMs(option.key(), option.defaultValue()));
    }

    private static void refuseUnknown(SparkConf conf) {
        List<String> known = CommitOption.keys();
        for (Tuple2<String, String> setting :
                Arrays.asList(conf.getAllWithPrefix(CommitOption.PREFIX))) {
            String key = CommitOption.PREFIX + setting._1();
            if (!known.contains(key)) {
                throw new IllegalArgumentException(
                        "unknown setting " + key + "; there are " + known);
            }
        }
    }
}
