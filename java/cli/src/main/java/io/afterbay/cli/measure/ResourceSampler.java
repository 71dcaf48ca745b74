package io.afterbay.cli.measure;

import io.afterbay.bench.Timeline;
import io.afterbay.cli.process.ProcessFigures;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Memory of this process and size of a directory, every so often, on a thread of its own. */
public final class ResourceSampler implements AutoCloseable {
    private static final long INTERVAL_MILLIS = 500;
    private static final double BYTES_PER_MB = 1e6;

    /** Flight Recorder's files: what measures is not measured. */
    private static final String SAMPLES = ".jfr";

    private record Sample(long nanos, double rssMb, double diskMb) {}

    private final Path directory;
    private final List<Sample> samples = new ArrayList<>();
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(ResourceSampler::daemon);

    public ResourceSampler(Path directory) {
        this.directory = directory;
        var unused =
                thread.scheduleWithFixedDelay(
                        this::sample, 0, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "samples");
        thread.setDaemon(true);
        return thread;
    }

    private void sample() {
        var unused = ThreadTimes.now(); // threads that end soon will have been seen
        Sample sample =
                new Sample(
                        System.nanoTime(),
                        ProcessFigures.residentBytes().orElse(0) / BYTES_PER_MB,
                        bytesIn(directory) / BYTES_PER_MB);
        synchronized (samples) {
            samples.add(sample);
        }
    }

    /** The samples since a moment, with times relative to it. */
    public List<Timeline.Sample> since(long startNanos) {
        synchronized (samples) {
            return samples.stream()
                    .filter(sample -> sample.nanos - startNanos >= 0)
                    .map(
                            sample ->
                                    new Timeline.Sample(
                                            (sample.nanos - startNanos) / 1e6,
                                            sample.rssMb,
                                            sample.diskMb))
                    .toList();
        }
    }

    /** The largest size of the directory so far. */
    public double maxDiskMb() {
        synchronized (samples) {
            return samples.stream().mapToDouble(Sample::diskMb).max().orElse(0);
        }
    }

    private static long bytesIn(Path directory) {
        Size size = new Size();
        try {
            Files.walkFileTree(directory, size);
        } catch (IOException e) {
            // What was counted until then is close enough: files come and go.
        }
        return size.bytes;
    }

    private static final class Size extends SimpleFileVisitor<Path> {
        private long bytes;

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (!file.toString().endsWith(SAMPLES)) {
                bytes += attributes.size();
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) {
            return FileVisitResult.CONTINUE;
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
