package io.afterbay.replay.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** One subtask, with a log of one partition that is a list. */
class MergingTest {
    private static final int KEY_GROUPS = 128;
    private static final LiveWins RESOLVER = new LiveWins();
    private static final long SINCE_MS = 1_000;

    /** The log, and how far attempts have read. */
    private final List<OutputRow> log = new ArrayList<>();

    private int read;

    /** An attempt. */
    private final class Attempt extends AbstractStreamOperatorTestHarness<byte[]> {
        Attempt(int parallelism, @Nullable OperatorSubtaskState from) throws Exception {
            super(
                    new MergingFactory(RESOLVER, "r1/sink-0", SINCE_MS, "source", figures -> {}),
                    KEY_GROUPS,
                    parallelism,
                    0);
            config.setStatePartitioner(0, new Envelope.ByKey());
            config.setStatePartitioner(1, new Envelope.ByKey());
            config.setStateKeySerializer(StringSerializer.INSTANCE);
            config.serializeAllConfigs();
            setup();
            if (from != null) {
                initializeState(from);
            }
            open();
        }

        @SuppressWarnings("unchecked") // It is what the factory makes.
        private TwoInputStreamOperator<byte[], byte[], byte[]> merging() {
            return (TwoInputStreamOperator<byte[], byte[], byte[]>) operator;
        }

        void replay(String value) throws Exception {
            StreamRecord<byte[]> row = new StreamRecord<>(Envelope.of(row(value), RESOLVER));
            merging().setKeyContextElement1(row);
            merging().processElement1(row);
            write();
        }

        void readAll() throws Exception {
            while (read < log.size()) {
                OutputRow next = log.get(read);
                StreamRecord<byte[]> row =
                        new StreamRecord<>(
                                Envelope.of(new LogRow(next, read++), RESOLVER).orElseThrow());
                merging().setKeyContextElement2(row);
                merging().processElement2(row);
                write();
            }
        }

        void endReplay() throws Exception {
            ((BoundedMultiInput) operator).endInput(1);
            write();
        }

        private void write() throws IOException {
            for (byte[] written : extractOutputValues()) {
                log.add(Envelope.row(written));
            }
            getOutput().clear();
        }
    }

    private static OutputRow row(String value) {
        return new OutputRow(
                "t",
                0,
                null,
                "k".getBytes(StandardCharsets.UTF_8),
                value.getBytes(StandardCharsets.UTF_8),
                List.of());
    }

    private String table() {
        return new String(log.get(log.size() - 1).value(), StandardCharsets.UTF_8);
    }

    /** Other subtasks may go on for long, and the live job meanwhile. */
    @Test
    void aSubtaskThatHasFinishedWritesNothingAfterAFailure() throws Exception {
        OperatorSubtaskState checkpoint;
        try (Attempt first = new Attempt(1, null)) {
            first.replay("past");
            first.endReplay();
            first.readAll();
            log.add(row("live"));
            first.readAll();
            checkpoint = first.snapshot(1, 1);
        }
        try (Attempt second = new Attempt(1, checkpoint)) {
            second.endReplay();
            second.readAll();
        }
        assertThat(table()).isEqualTo("live");
        assertThat(log).hasSize(2);
    }

    @Test
    void aSubtaskThatHasNotFinishedReadsARowOfItsOwnAfterAFailure() throws Exception {
        OperatorSubtaskState checkpoint;
        try (Attempt first = new Attempt(1, null)) {
            log.add(row("live"));
            first.readAll();
            checkpoint = first.snapshot(1, 1);
        }
        log.add(row("past").with(Provenance.ofReplayed("r1/sink-0", "lost").header()));
        try (Attempt second = new Attempt(1, checkpoint)) {
            second.replay("past");
            second.endReplay();
            second.readAll();
        }
        assertThat(table()).isEqualTo("live");
    }

    @Test
    void anotherParallelismIsRefused() throws Exception {
        OperatorSubtaskState checkpoint;
        try (Attempt first = new Attempt(1, null)) {
            first.replay("past");
            checkpoint = first.snapshot(1, 1);
        }
        assertThatThrownBy(() -> new Attempt(2, checkpoint))
                .hasStackTraceContaining("had parallelism 1 and now has 2")
                .hasStackTraceContaining("begin it again");
    }
}
