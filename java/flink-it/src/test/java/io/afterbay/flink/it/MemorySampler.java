package io.afterbay.flink.it;

import io.afterbay.flink.it.cluster.StandaloneCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Samples the resident memory of a cluster's TaskManagers every second. */
final class MemorySampler implements AutoCloseable {
    private static final String FIELD = "VmRSS:";

    private final StandaloneCluster cluster;
    private final MemoryCurve curve = new MemoryCurve();
    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(
                    task -> {
                        Thread thread = new Thread(task, "memory-sampler");
                        thread.setDaemon(true);
                        return thread;
                    });

    MemorySampler(StandaloneCluster cluster) {
        this.cluster = cluster;
        timer.scheduleAtFixedRate(this::sample, 0, 1, TimeUnit.SECONDS);
    }

    MemoryCurve curve() {
        return curve;
    }

    private void sample() {
        cluster.taskManagers().forEach(this::sample);
    }

    private void sample(String name, long pid) {
        try {
            long bytes = residentBytes(pid);
            if (bytes > 0) {
                curve.add(name, bytes);
            }
        } catch (IOException e) {
            // It was killed just now.
        }
    }

    /** Zero if the process has just ended. */
    private static long residentBytes(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc", String.valueOf(pid), "status")).stream()
                .filter(line -> line.startsWith(FIELD))
                .map(line -> line.substring(FIELD.length()).trim().split(" ", 2)[0])
                .mapToLong(kib -> Long.parseLong(kib) << 10)
                .sum();
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
