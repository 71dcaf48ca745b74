package io.afterbay.cli.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/**
 * How much of their CPU time the threads of tasks spend in the state backend, by samples of their
 * stacks that Flight Recorder takes in this process.
 *
 * <p>Flight Recorder has two samplers. That for Java code looks at all threads every time (up to
 * five); that for native code looks at one, in turn, whether it works or waits. So their samples
 * cannot be added up: RocksDB, which is native, would hardly show. Therefore a {@link TaskClock}
 * says how much CPU time each thread spends in Java code and how much in native code, and the
 * samples only divide each of the two; a sample counts as much as the thread was working around it.
 *
 * <p>Left is an error where a thread waits shorter than the clock looks, for a read from a disk:
 * such an operation gets more of its thread's native time than it has worked. And what the JVM does
 * in calls from native code is in neither state; the clock takes it for Java, so RocksDB's share is
 * a little too small.
 */
public final class StoreProfile implements AutoCloseable {
    private static final String JAVA = "jdk.ExecutionSample";
    private static final String NATIVE = "jdk.NativeMethodSample";

    /** The shortest that there is; in native code, of one thread at a time. */
    private static final Duration PERIOD = Duration.ofMillis(10);

    /** Of an hour; older samples go. */
    private static final long BYTES_MAX = 256 << 20;

    /** What is known about one thread. */
    private record Sampled(ThreadTrace trace, OperationWeights inJava, OperationWeights inNative) {
        Sampled(ThreadTrace trace) {
            this(trace, new OperationWeights(), new OperationWeights());
        }

        /** Only then has it used CPU time between two looks. */
        boolean wasSeen() {
            return !inJava.isEmpty() || !inNative.isEmpty();
        }

        double nanos(StoreOperation operation) {
            double ofNative = trace.nativeShare();
            double share =
                    (1 - ofNative) * inJava.share(operation) + ofNative * inNative.share(operation);
            return trace.totalNanos() * share;
        }
    }

    private final Recording recording = new Recording();
    private final TaskClock clock;

    private StoreProfile(Supplier<long[]> tasks) {
        clock = new TaskClock(tasks);
    }

    /**
     * Starts the samplers, which costs the process about a second; nothing counts before {@link
     * #begin}. Null if this JVM has no Flight Recorder.
     *
     * @param tasks gives the ids of the threads of tasks that there are now
     */
    public static @Nullable StoreProfile start(Supplier<long[]> tasks) {
        if (!FlightRecorder.isAvailable()) {
            return null;
        }
        StoreProfile profile = new StoreProfile(tasks);
        profile.record();
        return profile;
    }

    private void record() {
        recording.enable(JAVA).withPeriod(PERIOD);
        recording.enable(NATIVE).withPeriod(PERIOD);
        recording.setMaxSize(BYTES_MAX);
        recording.start();
    }

    /** What happens from now on counts. Once. */
    public void begin() {
        clock.start();
    }

    /**
     * Stops the samplers and says what they have seen; null if that is nothing. May take seconds.
     *
     * @throws IOException if the samples cannot be written to a temporary file or read from it
     */
    public @Nullable StoreShares end() throws IOException {
        clock.close();
        recording.stop();
        Map<Long, Sampled> threads = new HashMap<>();
        clock.traces().forEach((id, trace) -> threads.put(id, new Sampled(trace)));
        Path samples = Files.createTempFile("afterbay-", ".jfr");
        try {
            recording.dump(samples);
            read(samples, threads);
        } finally {
            Files.delete(samples);
        }
        return shares(threads);
    }

    private static void read(Path samples, Map<Long, Sampled> threads) throws IOException {
        try (RecordingFile file = new RecordingFile(samples)) {
            while (file.hasMoreEvents()) {
                count(file.readEvent(), threads);
            }
        }
    }

    private static void count(RecordedEvent sample, Map<Long, Sampled> threads) {
        String type = sample.getEventType().getName();
        if (!type.equals(JAVA) && !type.equals(NATIVE)) {
            return;
        }
        RecordedThread sampled = sample.getThread("sampledThread");
        Sampled thread = sampled == null ? null : threads.get(sampled.getJavaThreadId());
        RecordedStackTrace stack = sample.getStackTrace();
        if (thread != null && stack != null) {
            double weight = thread.trace.busy(TaskClock.nanos(sample.getStartTime()));
            (type.equals(JAVA) ? thread.inJava : thread.inNative)
                    .add(StoreFrames.of(frames(stack)), weight);
        }
    }

    private static List<Frame> frames(RecordedStackTrace stack) {
        return stack.getFrames().stream()
                .map(frame -> frame.getMethod())
                .map(method -> new Frame(method.getType().getName(), method.getName()))
                .toList();
    }

    private static @Nullable StoreShares shares(Map<Long, Sampled> threads) {
        double all = threads.values().stream().mapToLong(one -> one.trace.totalNanos()).sum();
        return threads.values().stream().noneMatch(Sampled::wasSeen)
                ? null
                : new StoreShares(
                        nanos(threads, StoreOperation.WRITE) / all,
                        nanos(threads, StoreOperation.READ) / all);
    }

    private static double nanos(Map<Long, Sampled> threads, StoreOperation operation) {
        return threads.values().stream().mapToDouble(one -> one.nanos(operation)).sum();
    }

    @Override
    public void close() {
        clock.close();
        recording.close();
    }
}
