package io.afterbay.workloads.microbatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.workloads.clustermonitoring.TaskEvent;
import io.afterbay.workloads.clustermonitoring.TaskEvents;
import io.afterbay.workloads.linearroad.LinearRoad;
import io.afterbay.workloads.linearroad.PositionReport;
import io.afterbay.workloads.run.RowSum;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The answers against the definition of each query, taken literally: every window, every row. */
class AnswersTest {
    private static final long SEED = 3;
    private static final int PER_S = 20;
    private static final int RECORDS = 90 * PER_S;
    private static final long SECOND = 1_000_000;

    private final Answers answers = new Answers(SEED, PER_S, RECORDS);
    private final EventTimes times = new EventTimes(PER_S);
    private final LinearRoad road = LinearRoad.at(SEED, PER_S);
    private final TaskEvents events = TaskEvents.of(SEED);

    private List<String> rows(StreamQuery query) {
        List<String> rows = new ArrayList<>();
        answers.rows(query, rows::add);
        return rows;
    }

    @Test
    void lr2MeetsEveryReportOfTheVehicleInThirtySeconds() {
        List<String> expected = new ArrayList<>();
        for (int l = 0; l < RECORDS; l++) {
            for (int a = 0; a < RECORDS; a++) {
                long age = times.micros(l) - times.micros(a);
                if (age >= 0
                        && age <= 30 * SECOND
                        && road.report(a).vehicle() == road.report(l).vehicle()) {
                    PositionReport r = road.report(l);
                    expected.add(
                            Answers.row(
                                    times.micros(l),
                                    r.vehicle(),
                                    r.speed(),
                                    r.highway(),
                                    r.lane(),
                                    r.direction(),
                                    r.segment()));
                }
            }
        }
        assertThat(rows(StreamQuery.LR2)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(expected).hasSizeGreaterThan(2 * RECORDS);
    }

    /** Ends of windows up to a second before the last record, which the watermark is behind. */
    private List<Long> starts(StreamQuery query) {
        List<Long> starts = new ArrayList<>();
        long range = query.rangeSeconds() * SECOND;
        long slide = query.slideSeconds() * SECOND;
        long end = times.micros(RECORDS - 1) - SECOND;
        for (long start = times.micros(0) - range; start + range <= end; start += slide) {
            starts.add(start);
        }
        return starts;
    }

    private boolean isIn(int number, long start, StreamQuery query) {
        long micros = times.micros(number);
        return micros >= start && micros < start + query.rangeSeconds() * SECOND;
    }

    @Test
    void lr4CountsInEveryWindow() {
        List<String> expected = new ArrayList<>();
        for (long start : starts(StreamQuery.LR4)) {
            List<List<Integer>> places = new ArrayList<>();
            for (int n = 0; n < RECORDS; n++) {
                if (isIn(n, start, StreamQuery.LR4)) {
                    PositionReport r = road.report(n);
                    places.add(List.of(r.highway(), r.direction(), r.segment()));
                }
            }
            for (List<Integer> place : List.copyOf(new HashSet<>(places))) {
                long count = places.stream().filter(place::equals).count();
                expected.add(Answers.row(start, place.get(0), place.get(1), place.get(2), count));
            }
        }
        assertThat(rows(StreamQuery.LR4)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(expected).hasSizeGreaterThan(RECORDS);
    }

    @Test
    void cm1SumsInEveryWindow() {
        List<String> expected = new ArrayList<>();
        for (long start : starts(StreamQuery.CM1)) {
            long[] sums = new long[4];
            for (int n = 0; n < RECORDS; n++) {
                if (isIn(n, start, StreamQuery.CM1)) {
                    sums[events.event(n).category()] += events.event(n).cpu();
                }
            }
            for (int category = 0; category < sums.length; category++) {
                if (sums[category] > 0) {
                    expected.add(Answers.row(start, category, sums[category]));
                }
            }
        }
        assertThat(rows(StreamQuery.CM1)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(expected).hasSizeGreaterThan(20);
    }

    @Test
    void cm2AveragesWhatIsScheduled() {
        List<String> expected = new ArrayList<>();
        for (long start : starts(StreamQuery.CM2)) {
            List<TaskEvent> scheduled = new ArrayList<>();
            for (int n = 0; n < RECORDS; n++) {
                if (isIn(n, start, StreamQuery.CM2) && events.event(n).eventType() == 1) {
                    scheduled.add(events.event(n));
                }
            }
            for (long job : new TreeSet<>(scheduled.stream().map(TaskEvent::job).toList())) {
                double mean =
                        scheduled.stream()
                                .filter(e -> e.job() == job)
                                .mapToInt(TaskEvent::cpu)
                                .average()
                                .orElseThrow();
                expected.add(Answers.row(start, job, mean));
            }
        }
        assertThat(rows(StreamQuery.CM2)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(expected).hasSizeGreaterThan(RECORDS);
    }

    /** Rows of complete windows do not change any more, and those of others are not there. */
    @ParameterizedTest
    @EnumSource(StreamQuery.class)
    void moreRecordsMakeMoreRowsOnly(StreamQuery query) {
        List<String> earlier = new ArrayList<>();
        new Answers(SEED, PER_S, RECORDS / 2).rows(query, earlier::add);
        assertThat(rows(query)).containsAll(earlier).hasSizeGreaterThan(earlier.size());
    }

    @Test
    void aSumOfPartsIsTheSumOfAll() {
        RowSum all = answers.sum(StreamQuery.LR4);
        RowSum[] halves = {new RowSum(), new RowSum()};
        answers.rows(StreamQuery.LR4, row -> halves[row.length() % 2].add(row));
        RowSum together = new RowSum();
        together.addAll(halves[0].parts());
        together.addAll(halves[1].parts());
        assertThat(together).hasToString(all.toString());
        together.add("one more");
        assertThat(together.toString()).isNotEqualTo(all.toString());
    }

    @Test
    void theRecordThatMattersIsScheduledWhereThatCounts() {
        long number = answers.recordThatMatters(StreamQuery.CM2);
        assertThat(number).isGreaterThanOrEqualTo(RECORDS / 2);
        assertThat(events.event(number).eventType()).isEqualTo(TaskEvent.SCHEDULE);
    }

    @Test
    void timesAreEvenAndDiffer() {
        EventTimes thirds = new EventTimes(3);
        assertThat(thirds.micros(1) - thirds.micros(0)).isEqualTo(333_333);
        assertThat(thirds.micros(3) - thirds.micros(0)).isEqualTo(SECOND);
        EventTimes most = new EventTimes(EventTimes.RECORDS_PER_S_MAX);
        assertThat(most.micros(1)).isGreaterThan(most.micros(0));
        assertThatThrownBy(() -> new EventTimes(0)).hasMessageContaining("from 1 to 1000000");
    }
}
