package io.afterbay.cli.engine;

import io.afterbay.command.ByteSize;
import org.jspecify.annotations.Nullable;

/**
 * How the memory of the worker process is divided. Everything that counts towards its resident size
 * has a share:
 *
 * <pre>
 *   total = heap             -Xmx: engine, user objects, state of the hashmap backend
 *         + state            off-heap: managed memory of the other backends, which operators of
 *                            SQL share
 *         + operators        managed memory where state has none
 *         + network          buffers between tasks
 *         + jvm              code, metaspace, thread stacks, collector, direct buffers of libraries
 * </pre>
 *
 * <p>Heap and state share what is left alike, but the heap has its least first.
 */
public record MemorySplit(
        ByteSize total,
        ByteSize heap,
        ByteSize state,
        ByteSize operators,
        ByteSize network,
        ByteSize jvm) {
    /** Of a process that plans and submits jobs, but runs none. */
    public static final MemorySplit OF_CLIENT =
            new MemorySplit(
                    ByteSize.ofMiB(768),
                    ByteSize.ofMiB(512),
                    ByteSize.ofMiB(0),
                    ByteSize.ofMiB(0),
                    ByteSize.ofMiB(0),
                    ByteSize.ofMiB(256));

    /** Of a process that is the JobManager of one job, too. */
    public static final MemorySplit OF_JOB_MANAGER =
            new MemorySplit(
                    ByteSize.ofMiB(832),
                    ByteSize.ofMiB(512),
                    ByteSize.ofMiB(0),
                    ByteSize.ofMiB(0),
                    ByteSize.ofMiB(64),
                    ByteSize.ofMiB(256));

    private static final long HEAP_MIN_MIB = 128;
    private static final long STATE_MIN_MIB = 64;
    private static final long OPERATORS_MIB = 32;
    private static final long JVM_MIN_MIB = 192;
    private static final long JVM_MAX_MIB = 1024;
    private static final long NETWORK_MIN_MIB = 32;
    private static final long NETWORK_MAX_MIB = 128;
    private static final long NETWORK_BUFFER_KIB = 32;

    /**
     * @param wanted how much of it is for state off-heap; null for half of what is left
     */
    public static MemorySplit of(
            ByteSize total, Backend backend, int parallelism, @Nullable ByteSize wanted) {
        long totalMib = total.mebibytes();
        long jvm = clamp(totalMib / 10, JVM_MIN_MIB, JVM_MAX_MIB);
        long network =
                Math.max(
                        clamp(totalMib / 16, NETWORK_MIN_MIB, NETWORK_MAX_MIB),
                        networkNeedMib(parallelism));
        long operators = backend.isOffHeap() ? 0 : OPERATORS_MIB;
        long rest = totalMib - jvm - network - operators;
        long half = Math.min(rest / 2, rest - HEAP_MIN_MIB);
        long state = wanted == null ? half : wanted.mebibytes();
        if (!backend.isOffHeap()) {
            state = 0;
        }
        return new MemorySplit(
                total,
                ByteSize.ofMiB(rest - state),
                ByteSize.ofMiB(state),
                ByteSize.ofMiB(operators),
                ByteSize.ofMiB(network),
                ByteSize.ofMiB(jvm));
    }

    /** What Flink manages. */
    public ByteSize managed() {
        return ByteSize.ofMiB(state.mebibytes() + operators.mebibytes());
    }

    /** The least memory with which a job of this parallelism starts. */
    public static ByteSize minimum(Backend backend, int parallelism, @Nullable ByteSize wanted) {
        long mebibytes = JVM_MIN_MIB;
        while (!of(ByteSize.ofMiB(mebibytes), backend, parallelism, wanted)
                .isEnough(backend, wanted)) {
            mebibytes += 16;
        }
        return ByteSize.ofMiB(mebibytes);
    }

    private boolean isEnough(Backend backend, @Nullable ByteSize wanted) {
        boolean isAnyState = !backend.isOffHeap() || wanted != null;
        return heap.mebibytes() >= HEAP_MIN_MIB
                && (isAnyState || state.mebibytes() >= STATE_MIN_MIB);
    }

    /**
     * Flink wants two exclusive buffers per channel, some floating ones per gate, and one per
     * subpartition and a few more on the sending side: source to cars, cars to streets (all to
     * all), streets to ranking.
     */
    private static long networkNeedMib(int parallelism) {
        long channels = (long) parallelism * parallelism + 2L * parallelism;
        long gates = 2L * parallelism + 2;
        return ((3 * channels + 16 * gates) * NETWORK_BUFFER_KIB >> 10) + 1;
    }

    private static long clamp(long value, long min, long max) {
        return Math.max(min, Math.min(max, value));
    }

    /** One line for people. */
    public String describe() {
        return total
                + ": heap "
                + heap
                + (state.bytes() == 0
                        ? " (state included), operators " + operators
                        : ", state off-heap " + state)
                + ", network "
                + network
                + ", JVM "
                + jvm;
    }
}
