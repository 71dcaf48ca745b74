package io.afterbay.flink.it;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The resident memory of processes over time. Thread safe. */
final class MemoryCurve {
    private static final double MIB = 1 << 20;

    /** Fewer are no curve. */
    private static final int SAMPLES_MIN = 9;

    private final List<Sample> samples = new ArrayList<>();

    record Sample(String process, long residentBytes) {}

    /** Samples of a process are added in order, at equal distances. */
    synchronized void add(String process, long residentBytes) {
        samples.add(new Sample(process, residentBytes));
    }

    /** Checks the peak of all processes. */
    synchronized void assertAtMost(long bytes) {
        Sample peak =
                samples.stream()
                        .max(Comparator.comparingLong(Sample::residentBytes))
                        .orElseThrow(() -> new AssertionError("memory was never sampled"));
        if (peak.residentBytes > bytes) {
            throw new AssertionError(
                    "%s took %s; the configuration gives it %s"
                            .formatted(peak.process, mib(peak.residentBytes), mib(bytes)));
        }
    }

    /** Checks that the peak of the last third is that of the middle one, or little more. */
    synchronized void assertFlat(String process, long marginBytes) {
        List<Long> all = bytes(process);
        if (all.size() < SAMPLES_MIN) {
            throw new AssertionError("%d samples of %s".formatted(all.size(), process));
        }
        long middle = peakOfThird(all, 1);
        long last = peakOfThird(all, 2);
        if (last > middle + marginBytes) {
            throw new AssertionError(
                    "%s grows: %s in the last third of its life, %s in the one before; %s more are permitted"
                            .formatted(process, mib(last), mib(middle), mib(marginBytes)));
        }
    }

    /** The peaks of each third of a process's life. */
    synchronized String describe(String process) {
        List<Long> all = bytes(process);
        return "%s, %s, %s"
                .formatted(
                        mib(peakOfThird(all, 0)),
                        mib(peakOfThird(all, 1)),
                        mib(peakOfThird(all, 2)));
    }

    private List<Long> bytes(String process) {
        return samples.stream()
                .filter(sample -> sample.process.equals(process))
                .map(Sample::residentBytes)
                .toList();
    }

    private static long peakOfThird(List<Long> all, int third) {
        return all.subList(third * all.size() / 3, (third + 1) * all.size() / 3).stream()
                .mapToLong(Long::longValue)
                .max()
                .orElse(0);
    }

    static String mib(long bytes) {
        return String.format(Locale.ROOT, "%.0f MiB", bytes / MIB);
    }
}
