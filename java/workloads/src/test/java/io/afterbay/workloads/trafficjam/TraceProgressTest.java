package io.afterbay.workloads.trafficjam;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.workloads.run.Schedule;
import io.afterbay.workloads.run.VersionedSerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TraceProgressTest {
    private TraceProgress progress;
    private int line;

    @BeforeEach
    void start() {
        progress = new TraceProgress(TraceSplit.start());
        line = 1;
    }

    @Test
    void aReportIsLateFromTheSixthSecondBehindTheLargestTime() {
        assertThat(take(0, 100)).isNotNull();
        assertThat(take(0, 95)).isNotNull();
        assertThat(take(0, 94)).isNull();
        assertThat(take(0, 99)).as("does not move the largest time back").isNotNull();
        assertThat(take(0, 94)).isNull();
        assertThat(progress.accepted()).isEqualTo(3);
        assertThat(progress.late()).isEqualTo(2);
    }

    @Test
    void malformedLinesCountButDoNotMoveTime() {
        assertThat(progress.take(TraceLine.of(0, 2, 10, "x,c,s,0,0,1"))).isNull();
        assertThat(take(0, 3)).isNotNull();
        assertThat(progress.malformed()).isEqualTo(1);
        assertThat(progress.late()).isZero();
    }

    @Test
    void aRepeatedPassLiesInTheWindowsRightBehindAndHasOtherCars() {
        take(0, 13);
        take(0, 47);
        take(0, 40);
        progress.endPass();
        // Windows 10..50 took 40 s, so the next pass is 40 s later.
        assertThat(take(1, 13)).isEqualTo(new Report(53, "car#1", "street", 10, 0));
        assertThat(take(1, 47)).isEqualTo(new Report(87, "car#1", "street", 10, 0));
        assertThat(take(1, 40)).as("as late as in the first pass").isNull();
        progress.endPass();
        assertThat(take(2, 13)).isEqualTo(new Report(93, "car#2", "street", 10, 0));
    }

    @Test
    void rejectedLinesCountOnceHoweverOftenTheyAreRead() {
        for (int pass = 0; pass < 3; pass++) {
            take(pass, 20);
            take(pass, 1);
            progress.take(TraceLine.of(pass, 4, 10, "x"));
            progress.endPass();
        }
        assertThat(progress.accepted()).isEqualTo(3);
        assertThat(progress.late()).isEqualTo(1);
        assertThat(progress.malformed()).isEqualTo(1);
    }

    @Test
    void aCheckpointCarriesEveryDecision() throws Exception {
        take(0, 13);
        take(0, 47);
        progress.endPass();
        take(1, 13);
        progress.rejectsBytes(77);
        VersionedSerializer<TraceSplit> serializer =
                new VersionedSerializer<>(TraceSplit::write, TraceSplit::read);
        TraceSplit split = progress.toSplit().scheduled(new Schedule("job", 1, 2));
        TraceSplit restored = serializer.deserialize(1, serializer.serialize(split));
        assertThat(restored).isEqualTo(split);
        progress = new TraceProgress(restored);
        assertThat(take(1, 47)).isEqualTo(new Report(87, "car#1", "street", 10, 0));
    }

    private Report take(int pass, long timeS) {
        line++;
        return progress.take(TraceLine.of(pass, line, line * 20L, timeS + ",car,street,0,0,1.0"));
    }
}
