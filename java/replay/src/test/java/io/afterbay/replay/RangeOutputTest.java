package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.RecordTimestampAssigner;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;
import org.junit.jupiter.api.Test;

/** Records of a source to which the job assigns no time: some have one of their own. */
class RangeOutputTest {
    private static final ReplayRange RANGE = new ReplayRange(10, 20);

    private final Output output = new Output();

    private static RangeOutput.Gate<String> gate(boolean needsTimes) {
        return new RangeOutput.Gate<>(
                RANGE, new RecordTimestampAssigner<>(), true, needsTimes, "source");
    }

    @Test
    void besideOthersThatHaveTimesAllWithoutOnePass() {
        RangeOutput.Gate<String> gate = gate(false);
        RangeOutput<String> ranged = new RangeOutput<>(gate, output);
        assertThat(gate.newestMs()).isEqualTo(10);
        ranged.collect("a");
        ranged.createOutputForSplit("split").collect("b");
        assertThat(output.records).containsExactly("a", "b");
        assertThat(gate.takePassed()).isEqualTo(2);
        assertThat(gate.newestMs()).as("the others are not to wait for it").isEqualTo(20);
    }

    @Test
    void thoseThatHaveOneAreLookedAtEvenSo() {
        RangeOutput.Gate<String> gate = gate(false);
        RangeOutput<String> ranged = new RangeOutput<>(gate, output);
        ranged.collect("early", 9);
        ranged.collect("in", 12);
        ranged.collect("late", 20);
        assertThat(output.records).containsExactly("in");
        ranged.collect("without");
        assertThat(output.records).containsExactly("in", "without");
    }

    @Test
    void whereNothingElseHasATimeTheyEndTheReplay() {
        RangeOutput<String> ranged = new RangeOutput<>(gate(true), output);
        ranged.collect("in", 12);
        assertThatThrownBy(() -> ranged.collect("without"))
                .isInstanceOf(ReplayImpossibleException.class)
                .hasMessageContaining("the records of source 'source' have no time")
                .hasMessageContaining("withTimestampAssigner");
        assertThat(output.records).containsExactly("in");
    }

    private static final class Output implements ReaderOutput<String> {
        private final List<String> records = new ArrayList<>();

        @Override
        public void collect(String record) {
            records.add(record);
        }

        @Override
        public void collect(String record, long timestamp) {
            records.add(record);
        }

        @Override
        public void emitWatermark(Watermark watermark) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void markIdle() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void markActive() {
            throw new UnsupportedOperationException();
        }

        @Override
        public SourceOutput<String> createOutputForSplit(String splitId) {
            return this;
        }

        @Override
        public void releaseOutputForSplit(String splitId) {
            throw new UnsupportedOperationException();
        }
    }
}
