package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class JitterRuleTest {
    private final AtomicLong clock = new AtomicLong();
    private final JitterRule rule = new JitterRule(clock::get);

    private void alternate(int task, long nanos, int times) {
        for (int i = 0; i < times; i++) {
            rule.executed(task, i % 2 == 0 ? 0 : nanos);
        }
    }

    @Test
    void nothingIsToldWithinThePeriod() {
        alternate(1, 100, 50);
        alternate(2, 900, 50);
        assertThat(rule.better(1, 2)).isEqualTo(JitterRule.TIE);
    }

    @Test
    void theOneWithLessJitterWinsOnceItIsTold() {
        alternate(1, 900, 50);
        alternate(2, 100, 50);
        clock.addAndGet(JitterRule.PERIOD_NANOS);
        rule.executed(3, 5);
        assertThat(rule.better(1, 2)).isEqualTo(2);
        assertThat(rule.better(2, 1)).isEqualTo(2);
    }

    /** It takes long, always so: that is no jitter, and the rule's weakness. */
    @Test
    void aSteadilySlowTaskWinsAgainstOneThatVaries() {
        for (int i = 0; i < 50; i++) {
            rule.executed(1, 1_000_000);
        }
        alternate(2, 10, 50);
        clock.addAndGet(JitterRule.PERIOD_NANOS);
        rule.executed(3, 5);
        assertThat(rule.better(1, 2)).isEqualTo(1);
    }

    @Test
    void oneOfWhichNothingWasToldLoses() {
        alternate(1, 100, 50);
        clock.addAndGet(JitterRule.PERIOD_NANOS);
        rule.executed(1, 0);
        assertThat(rule.better(7, 1)).isEqualTo(1);
        assertThat(rule.better(7, 8)).isEqualTo(JitterRule.TIE);
    }
}
