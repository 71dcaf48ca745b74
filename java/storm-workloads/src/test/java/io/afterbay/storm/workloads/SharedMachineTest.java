package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.handover.stragglers.StragglerTopology.Machine;
import org.junit.jupiter.api.Test;

class SharedMachineTest {
    private static final long SLICE = SharedMachine.SLICE_NANOS;

    private static SharedMachine of(int processors, int competitors) {
        return new SharedMachine(new Machine(processors, competitors), 0);
    }

    @Test
    void asManyTasksAsProcessorsAreAtWorkAtATime() {
        SharedMachine machine = of(2, 0);
        assertThat(machine.doneNanos(100, 10)).isEqualTo(110);
        assertThat(machine.doneNanos(100, 30)).isEqualTo(130);
        assertThat(machine.doneNanos(101, 10)).isEqualTo(120);
        assertThat(machine.doneNanos(125, 10)).isEqualTo(135);
        assertThat(machine.doneNanos(500, 10)).isEqualTo(510);
    }

    @Test
    void oneProcessorDoesOneTaskAfterTheOther() {
        SharedMachine machine = of(1, 0);
        assertThat(machine.doneNanos(0, 10)).isEqualTo(10);
        assertThat(machine.doneNanos(1, 10)).isEqualTo(20);
        assertThat(machine.doneNanos(2, 10)).isEqualTo(30);
    }

    /** A program beside asks again as soon as it has had its turn. */
    @Test
    void aProgramBesideTakesTurnsWithTasks() {
        SharedMachine machine = of(1, 1);
        assertThat(machine.doneNanos(0, 10)).isEqualTo(SLICE + 10);
        // It asked at the end of its turn, when the task before had the processor.
        assertThat(machine.doneNanos(SLICE + 5, 10)).isEqualTo(2 * SLICE + 20);
    }

    /** With a program beside, tasks have what it leaves: all of the other processor. */
    @Test
    void aProgramBesideLeavesTheOtherProcessor() {
        SharedMachine machine = of(2, 1);
        for (int i = 0; i < 100; i++) {
            assertThat(machine.doneNanos(i * SLICE, 10)).isEqualTo(i * SLICE + 10);
        }
    }

    @Test
    void timesMayBeOfAnySign() {
        SharedMachine machine = new SharedMachine(new Machine(1, 1), Long.MAX_VALUE);
        assertThat(machine.doneNanos(Long.MAX_VALUE, 10)).isEqualTo(Long.MAX_VALUE + SLICE + 10);
    }
}
