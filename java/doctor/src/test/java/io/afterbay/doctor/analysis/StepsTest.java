package io.afterbay.doctor.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.afterbay.doctor.Synthetic;
import io.afterbay.doctor.reading.Intervals;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Counts over time against the plain way: looking at every moment. */
class StepsTest {
    private static final int TIMES = 60;
    private static final int LONGEST = 10;

    @Test
    void equalWhatEveryMomentSays() {
        Random random = new Random(1);
        for (int round = 0; round < 500; round++) {
            Intervals a = random(random);
            Intervals b = random(random);
            Steps steps = Steps.of(a);
            Steps others = Steps.ofEach(List.of(b));
            double work = 0;
            double squares = 0;
            double together = 0;
            for (int time = 0; time < TIMES + LONGEST; time++) {
                int running = running(a, time);
                assertThat(steps.at(time)).isEqualTo(running);
                assertThat(others.at(time)).isEqualTo(Math.min(1, running(b, time)));
                work += running;
                squares += running * running;
                together += running(b, time) > 0 ? running : 0;
            }
            assertThat(steps.work()).isEqualTo(work);
            assertThat(steps.workWhile(others, 1))
                    .isEqualTo(work == 0 ? 0 : together / work, within(1e-9));
            assertThat(steps.meanOthers())
                    .isEqualTo(work == 0 ? 0 : (squares - work) / work, within(1e-9));
            assertExtremes(steps, a, random);
        }
    }

    private static void assertExtremes(Steps steps, Intervals a, Random random) {
        int from = random.nextInt(TIMES);
        int to = from + 1 + random.nextInt(TIMES - from);
        int most = 0;
        long atLeastTwo = 0;
        for (int time = from; time < to; time++) {
            most = Math.max(most, running(a, time));
            atLeastTwo += running(a, time) >= 2 ? 1 : 0;
        }
        assertThat(steps.mostIn(from, to)).isEqualTo(most);
        assertThat(steps.at(steps.mostAt(from, to))).isEqualTo(most);
        assertThat(steps.timeAtLeast(2, from, to)).isEqualTo(atLeastTwo);
    }

    private static int running(Intervals intervals, long time) {
        int count = 0;
        for (int i = 0; i < intervals.size(); i++) {
            count += intervals.start(i) <= time && time < intervals.end(i) ? 1 : 0;
        }
        return count;
    }

    private static Intervals random(Random random) {
        Intervals result = new Intervals();
        for (int i = random.nextInt(8); i > 0; i--) {
            long start = random.nextInt(TIMES);
            result.add(start, start + random.nextInt(LONGEST));
        }
        return result;
    }

    @Test
    void nothingRunsWithoutIntervals() {
        Steps none = Steps.of(new Intervals());
        assertThat(none.most()).isZero();
        assertThat(none.at(5)).isZero();
        assertThat(none.mostIn(0, 10)).isZero();
        assertThat(none.workWhile(none, 1)).isZero();
    }

    @Test
    void pointsAreBoundedAndKeepTheHighest() {
        Concurrency all = Concurrency.of(new Synthetic().instances(64));
        long end = Synthetic.START + 40 * Synthetic.PERIOD;
        List<Concurrency.Point> points = all.between(Synthetic.START, end, 100);
        assertThat(points).hasSizeBetween(90, 100);
        assertThat(points).anySatisfy(point -> assertThat(point.compactions()).isEqualTo(64));
        List<Concurrency.Point> exact = all.between(Synthetic.START, end, 100_000);
        assertThat(exact).hasSizeGreaterThan(1000);
        assertThat(exact.get(0)).isEqualTo(new Concurrency.Point(Synthetic.START, 0, 1));
    }
}
