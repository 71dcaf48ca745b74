package io.afterbay.workloads.clustermonitoring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TaskEventsTest {
    private static final int EVENTS = 50_000;
    private final TaskEvents events = TaskEvents.of(7);

    @Test
    void anEventDependsOnSeedAndNumberOnly() {
        TaskEvents same = TaskEvents.of(7);
        TaskEvents other = TaskEvents.of(8);
        for (long number = 99; number >= 0; number--) {
            assertThat(same.event(number)).isEqualTo(events.event(number));
        }
        assertThat(LongStream.range(0, 100).filter(n -> other.event(n).equals(events.event(n))))
                .isEmpty();
    }

    @Test
    void fieldsAreThoseOfTheTrace() {
        for (long number = 0; number < EVENTS; number++) {
            TaskEvent event = events.event(number);
            assertThat(event.job()).isBetween(-2000L, (long) EVENTS / 50);
            assertThat(event.eventType()).isBetween(0, 8);
            assertThat(event.category()).isBetween(0, 3);
            assertThat(event.priority()).isBetween(0, 11);
            assertThat(event.cpu()).isBetween(1, 1000);
            assertThat(event.ram()).isBetween(1, 1000);
            assertThat(event.disk()).isBetween(1, 1000);
        }
    }

    @Test
    void jobsComeAndGoAndTheNewOnesAreBusy() {
        Map<Long, Integer> last = new HashMap<>();
        for (long number = EVENTS - 2500; number < EVENTS; number++) {
            last.merge(events.event(number).job(), 1, Integer::sum);
        }
        int newest = EVENTS / TaskEvents.EVENTS_PER_JOB;
        assertThat(last).hasSizeGreaterThan(TaskEvents.ACTIVE_JOBS / 3);
        assertThat(last.keySet()).allMatch(job -> job > newest - TaskEvents.ACTIVE_JOBS - 50);
        long ofNewHalf =
                last.entrySet().stream()
                        .filter(e -> e.getKey() > newest - TaskEvents.ACTIVE_JOBS / 2)
                        .mapToLong(Map.Entry::getValue)
                        .sum();
        assertThat(ofNewHalf / 2500.0).isBetween(0.65, 0.8);
    }

    @Test
    void aThirdAndSomeOfTheEventsScheduleATask() {
        long scheduled =
                LongStream.range(0, EVENTS)
                        .filter(n -> events.event(n).eventType() == TaskEvent.SCHEDULE)
                        .count();
        assertThat((double) scheduled / EVENTS).isBetween(0.39, 0.42);
    }

    @Test
    void lowCategoriesAreFrequent() {
        long[] counts = new long[TaskEvents.CATEGORIES];
        for (long number = 0; number < EVENTS; number++) {
            counts[events.event(number).category()]++;
        }
        assertThat(counts[0]).isBetween(EVENTS * 48L / 100, EVENTS * 52L / 100);
        assertThat(counts[3]).isBetween(EVENTS / 10L, EVENTS / 6L);
    }
}
