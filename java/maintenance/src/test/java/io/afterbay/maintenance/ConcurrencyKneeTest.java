package io.afterbay.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.maintenance.ConcurrencyKnee.Recommendation;
import io.afterbay.maintenance.ConcurrencyKnee.Verdict;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

class ConcurrencyKneeTest {
    private final ConcurrencyKnee knee = new ConcurrencyKnee();
    private long now;

    /** Flat up to four, as in figure 15 of ShadowSync, steep from there on. */
    private static double fourCores(int running) {
        return running <= 4 ? 300 + running : 304 + 150 * (running - 4);
    }

    @Test
    void findsWhereLatencyBeginsToRise() {
        fill(16, 40, running -> fourCores(running));
        assertThat(knee.recommend()).isEqualTo(new Recommendation(Verdict.KNEE, 4));
    }

    @Test
    void findsItBehindNoise() {
        Random random = new Random(7);
        fill(16, 60, running -> fourCores(running) + 80 * Math.abs(random.nextGaussian()));
        assertThat(knee.recommend().verdict()).isEqualTo(Verdict.KNEE);
        assertThat(knee.recommend().limit()).isBetween(3, 5);
    }

    @Test
    void saysThatDataDoesNotSuffice() {
        assertThat(knee.recommend()).isEqualTo(new Recommendation(Verdict.TOO_LITTLE_DATA, 0));
        fill(3, 1000, running -> fourCores(running));
        assertThat(knee.recommend().verdict()).isEqualTo(Verdict.TOO_LITTLE_DATA);
        fill(16, 5, running -> fourCores(running));
        assertThat(knee.recommend().verdict()).isEqualTo(Verdict.TOO_LITTLE_DATA);
    }

    @Test
    void noKneeWhereConcurrencyDoesNotMatter() {
        Random random = new Random(7);
        fill(16, 40, running -> 300 + 20 * random.nextDouble());
        assertThat(knee.recommend()).isEqualTo(new Recommendation(Verdict.NO_KNEE, 0));
    }

    @Test
    void noKneeInALine() {
        fill(16, 40, running -> 100 * running);
        assertThat(knee.recommend()).isEqualTo(new Recommendation(Verdict.NO_KNEE, 0));
    }

    @Test
    void idleWindowsSayNothing() {
        for (int i = 0; i < 100; i++) {
            window(0, 10_000);
        }
        fill(16, 40, running -> fourCores(running));
        assertThat(knee.recommend().limit()).isEqualTo(4);
    }

    @Test
    void aWindowCountsForItsMostTasksAndItsLongestLatency() {
        for (int running = 1; running <= 8; running++) {
            for (int i = 0; i < ConcurrencyKnee.MIN_WINDOWS_PER_LEVEL; i++) {
                knee.sample(now, 0, (long) fourCores(running));
                knee.sample(now + ConcurrencyKnee.WINDOW_NANOS - 1, running, 1);
                now += ConcurrencyKnee.WINDOW_NANOS;
            }
        }
        knee.sample(now, 0, 0); // ends the last window
        assertThat(knee.recommend()).isEqualTo(new Recommendation(Verdict.KNEE, 4));
    }

    @Test
    void forgetsOldWindows() {
        fill(16, 600, running -> 300);
        fill(16, ConcurrencyKnee.MAX_WINDOWS / 16, running -> fourCores(running));
        assertThat(knee.recommend().limit()).isEqualTo(4);
    }

    private void fill(int levels, int windows, IntToDoubleFunction latency) {
        for (int i = 0; i < windows; i++) {
            for (int running = 1; running <= levels; running++) {
                window(running, latency.applyAsDouble(running));
            }
        }
    }

    private void window(int running, double latency) {
        knee.sample(now, running, (long) latency);
        now += ConcurrencyKnee.WINDOW_NANOS;
    }
}
