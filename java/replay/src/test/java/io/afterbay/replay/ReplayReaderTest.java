package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.groups.SourceReaderMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.util.UserCodeClassLoader;
import org.junit.jupiter.api.Test;

/** In simulated time, around a reader of the numbers from 0, each of which is its own time. */
class ReplayReaderTest {
    private static final long MS = 1_000_000;
    private static final ReplayRange RANGE = new ReplayRange(10, 1_000);

    private long nowNanos;
    private final Context context = new Context();
    private final Output output = new Output();
    private final Numbers numbers = new Numbers();
    private final ReplayReader<Long, Split> reader =
            new ReplayReader<>(
                    numbers,
                    context,
                    new RangeOutput.Gate<>(RANGE, (number, ms) -> number, true, "numbers"),
                    () -> nowNanos);

    private CountEvent lastTold() {
        return (CountEvent) context.told.get(context.told.size() - 1);
    }

    private void poll(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            reader.pollNext(output);
        }
    }

    @Test
    void nothingPassesBeforeTheFirstRateWhichIsAwaited() throws Exception {
        reader.start();
        assertThat(reader.pollNext(output)).isEqualTo(InputStatus.NOTHING_AVAILABLE);
        CompletableFuture<Void> available = reader.isAvailable();
        assertThat(available).isNotDone();
        reader.handleSourceEvents(new PaceEvent(Double.POSITIVE_INFINITY));
        assertThat(available).isDone();
        assertThat(reader.pollNext(output)).isEqualTo(InputStatus.MORE_AVAILABLE);
        assertThat(numbers.next).isEqualTo(1);
    }

    @Test
    void whatIsOutOfTheRangeIsReadAtAnyRateButDoesNotPass() throws Exception {
        reader.handleSourceEvents(new PaceEvent(2));
        nowNanos += 500 * MS;
        poll(1_000);
        assertThat(output.records).containsExactly(10L);
        nowNanos += 500 * MS;
        poll(1_000);
        assertThat(output.records).containsExactly(10L, 11L);
    }

    @Test
    void whatPassedIsToldTwiceASecondAndAtTheEnd() throws Exception {
        reader.start();
        assertThat(lastTold().records().values()).containsExactly(0L);
        assertThat(lastTold().newestMs()).isEqualTo(10);
        reader.handleSourceEvents(new PaceEvent(Double.POSITIVE_INFINITY));
        poll(100);
        assertThat(context.told).hasSize(1);
        nowNanos += 500 * MS;
        poll(1);
        assertThat(lastTold().records().values()).containsExactly(90L);
        assertThat(lastTold().newestMs()).isEqualTo(99);
        numbers.limit = 2_000;
        while (reader.pollNext(output) != InputStatus.END_OF_INPUT) {}
        assertThat(lastTold().records().values()).containsExactly(990L);
        assertThat(lastTold().newestMs()).isEqualTo(1_000);
        assertThat(lastTold().hasEnded()).isTrue();
    }

    @Test
    void itSaysWhetherItWasHeldBack() throws Exception {
        numbers.next = 10;
        reader.start();
        reader.handleSourceEvents(new PaceEvent(10));
        poll(3);
        nowNanos += 500 * MS;
        poll(1);
        assertThat(lastTold().isHeldBack()).isTrue();
        reader.handleSourceEvents(new PaceEvent(Double.POSITIVE_INFINITY));
        poll(3);
        nowNanos += 500 * MS;
        poll(1);
        assertThat(lastTold().isHeldBack()).isFalse();
    }

    /** Otherwise it would wake up for ever. */
    @Test
    void inAPauseItIsSilent() throws Exception {
        reader.start();
        reader.handleSourceEvents(new PaceEvent(0));
        for (int i = 0; i < 100; i++) {
            nowNanos += 500 * MS;
            poll(1);
        }
        assertThat(context.told).hasSize(1);
        assertThat(reader.isAvailable()).isNotDone();
    }

    @Test
    void itsCountIsRestoredBesideItsSplits() throws Exception {
        reader.handleSourceEvents(new PaceEvent(Double.POSITIVE_INFINITY));
        poll(50);
        List<ReplaySplit<Split>> state = reader.snapshotState(1);
        assertThat(state).hasSize(2);

        Numbers others = new Numbers();
        ReplayReader<Long, Split> restored =
                new ReplayReader<>(
                        others,
                        context,
                        new RangeOutput.Gate<>(RANGE, (number, ms) -> number, true, "numbers"),
                        () -> nowNanos);
        restored.addSplits(state);
        restored.start();
        assertThat(others.next).isEqualTo(50);
        assertThat(lastTold().records().values()).containsExactly(40L);
        assertThat(lastTold().newestMs()).isEqualTo(49);

        restored.handleSourceEvents(new PaceEvent(Double.POSITIVE_INFINITY));
        restored.pollNext(output);
        String count =
                state.stream().filter(s -> s.split() == null).findAny().orElseThrow().splitId();
        assertThat(output.released)
                .as("Flink makes an output for each split, and waits for its watermarks")
                .containsExactly(count);
    }

    private record Split(long next) implements SourceSplit {
        @Override
        public String splitId() {
            return "numbers";
        }
    }

    private static final class Numbers implements SourceReader<Long, Split> {
        private long next;
        private long limit = Long.MAX_VALUE;

        @Override
        public void start() {
            // It needs nothing.
        }

        @Override
        public InputStatus pollNext(ReaderOutput<Long> output) {
            if (next == limit) {
                return InputStatus.END_OF_INPUT;
            }
            output.createOutputForSplit("numbers").collect(next++);
            return InputStatus.MORE_AVAILABLE;
        }

        @Override
        public List<Split> snapshotState(long checkpointId) {
            return List.of(new Split(next));
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void addSplits(List<Split> splits) {
            next = splits.get(0).next();
        }

        @Override
        public void notifyNoMoreSplits() {
            // It has one.
        }

        @Override
        public void close() {
            // It has nothing.
        }
    }

    private static final class Output implements ReaderOutput<Long> {
        private final List<Long> records = new ArrayList<>();
        private final List<String> released = new ArrayList<>();

        @Override
        public void collect(Long record) {
            records.add(record);
        }

        @Override
        public void collect(Long record, long timestamp) {
            records.add(record);
        }

        @Override
        public void emitWatermark(Watermark watermark) {
            // Not looked at.
        }

        @Override
        public void markIdle() {
            // Not looked at.
        }

        @Override
        public void markActive() {
            // Not looked at.
        }

        @Override
        public SourceOutput<Long> createOutputForSplit(String splitId) {
            return this;
        }

        @Override
        public void releaseOutputForSplit(String splitId) {
            released.add(splitId);
        }
    }

    private static final class Context implements SourceReaderContext {
        private final List<SourceEvent> told = new ArrayList<>();

        @Override
        public void sendSourceEventToCoordinator(SourceEvent event) {
            told.add(event);
        }

        @Override
        public SourceReaderMetricGroup metricGroup() {
            return UnregisteredMetricsGroup.createSourceReaderMetricGroup();
        }

        @Override
        public Configuration getConfiguration() {
            return new Configuration();
        }

        @Override
        public String getLocalHostName() {
            return "localhost";
        }

        @Override
        public int getIndexOfSubtask() {
            return 0;
        }

        @Override
        public void sendSplitRequest() {
            // It has its split.
        }

        @Override
        public UserCodeClassLoader getUserCodeClassLoader() {
            throw new UnsupportedOperationException();
        }
    }
}
