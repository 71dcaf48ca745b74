package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.page.ReadPath.Read;
import org.junit.jupiter.api.Test;

class ReadPathTest {
    private static final long COPY = 2_000;
    private static final long DEVICE = 100_000;
    private static final int BLOCK_BYTES = 1040;

    private final ReadPath path = new ReadPath();
    private long offset = 1L << 40;

    /** A block far before the last one. */
    private Read next() {
        offset -= 1 << 20;
        return path.next(7, offset, BLOCK_BYTES);
    }

    /** The part of so many reads that is direct. */
    private double directOf(int reads, long cachedNanos, long directNanos) {
        int direct = 0;
        for (int i = 0; i < reads; i++) {
            Read read = next();
            direct += read == Read.DIRECT ? 1 : 0;
            path.took(read, read == Read.DIRECT ? directNanos : cachedNanos);
        }
        return (double) direct / reads;
    }

    @Test
    void doesNotEvenTryDirectReadsWhileTheCacheHasEverything() {
        assertThat(directOf(10_000, COPY, COPY / 2)).isZero();
    }

    @Test
    void goesPastACacheThatCostsMoreThanTheDevice() {
        directOf(ReadPath.SAMPLES_MIN * (ReadPath.FIRST_PROBES_EVERY + 2), 2 * DEVICE, DEVICE);
        assertThat(directOf(1000, 2 * DEVICE, DEVICE))
                .isBetween(1 - 1.5 / ReadPath.PROBE_EVERY, 1 - 0.5 / ReadPath.PROBE_EVERY);
    }

    @Test
    void staysWithACacheThatIsAsGood() {
        directOf(ReadPath.SAMPLES_MIN * ReadPath.FIRST_PROBES_EVERY * 2, DEVICE, DEVICE);
        assertThat(directOf(10_000, DEVICE, DEVICE)).isLessThan(1.5 / ReadPath.PROBE_EVERY);
    }

    @Test
    void comesBackWhenTheFilesFitAgain() {
        directOf(10_000, 2 * DEVICE, DEVICE);
        directOf(ReadPath.SAMPLES_MIN * (ReadPath.PROBE_EVERY + 2), COPY, DEVICE);
        assertThat(directOf(1000, COPY, DEVICE)).isZero();
    }

    @Test
    void aScanGoesThroughTheCacheAndSaysNothingOfOtherReads() {
        directOf(10_000, 2 * DEVICE, DEVICE);
        long at = offset;
        for (int i = 0; i < 1000; i++) {
            at += BLOCK_BYTES;
            assertThat(path.next(7, at, BLOCK_BYTES)).isEqualTo(Read.SCAN);
            path.took(Read.SCAN, COPY);
        }
        assertThat(directOf(320, 2 * DEVICE, DEVICE)).isGreaterThan(0.9);
    }

    @Test
    void anotherSegmentAStepBackAndAFarOneAreNoScan() {
        long at = 1 << 20;
        path.next(7, at, BLOCK_BYTES);
        assertThat(path.next(8, at + BLOCK_BYTES, BLOCK_BYTES)).isNotEqualTo(Read.SCAN);
        assertThat(path.next(8, at, BLOCK_BYTES)).isNotEqualTo(Read.SCAN);
        assertThat(path.next(8, at + BLOCK_BYTES + ReadPath.SCAN_BYTES + 1, BLOCK_BYTES))
                .isNotEqualTo(Read.SCAN);
    }
}
