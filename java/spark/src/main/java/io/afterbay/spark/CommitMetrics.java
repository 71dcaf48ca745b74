package io.afterbay.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.afterbay.spark.publish.Bandwidth;
import io.afterbay.spark.publish.PublishMetrics;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/** What the publishers of a process have done and hold, as Spark's metrics. */
final class CommitMetrics {
    private CommitMetrics() {}

    static void register(MetricRegistry registry, Checkpoints checkpoints) {
        sum(registry, checkpoints, "publishedFiles", PublishMetrics::files);
        sum(registry, checkpoints, "publishedBytes", PublishMetrics::bytes);
        sum(registry, checkpoints, "publishFailures", PublishMetrics::failures);
        sum(registry, checkpoints, "publisherRestarts", PublishMetrics::restarts);
        sum(registry, checkpoints, "hedgedWrites", PublishMetrics::hedges);
        sum(registry, checkpoints, "waitingFiles", PublishMetrics::waitingFiles);
        sum(registry, checkpoints, "waitingBytes", PublishMetrics::waitingBytes);
        Bandwidth bandwidth = checkpoints.bandwidth();
        register(registry, "uploadedBytes", bandwidth::bytes);
        register(
                registry,
                "uploadPauseMillis",
                () -> TimeUnit.NANOSECONDS.toMillis(bandwidth.pausedNanos()));
    }

    private static void sum(
            MetricRegistry registry,
            Checkpoints checkpoints,
            String name,
            ToLongFunction<PublishMetrics> value) {
        register(registry, name, () -> checkpoints.metrics().stream().mapToLong(value).sum());
    }

    static void register(MetricRegistry registry, String name, LongSupplier value) {
        Gauge<Long> gauge = value::getAsLong;
        registry.register(name, gauge);
    }
}
