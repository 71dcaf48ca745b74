package io.afterbay.replay.merge;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.api.connector.source.ReaderInfo;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.api.connector.source.mocks.MockSplitEnumeratorContext;
import org.junit.jupiter.api.Test;

class LogEnumeratorTest {
    /** The merge says again and again that it has finished. */
    @Test
    void aReaderIsToldToEndOnceUnlessItComesBack() throws Exception {
        try (var context = new MockSplitEnumeratorContext<NumberSequenceSplit>(1)) {
            LogEnumerator<NumberSequenceSplit, ?> enumerator =
                    new LogEnumerator<>(
                            new NumberSequenceSource(0, 1).createEnumerator(context), context);
            enumerator.handleSourceEvent(0, new EndEvent());
            context.registerReader(new ReaderInfo(0, "localhost"));
            enumerator.addReader(0);
            enumerator.handleSourceEvent(0, new EndEvent());
            enumerator.handleSourceEvent(0, new EndEvent());
            assertThat(context.getSentSourceEvent().get(0)).containsExactly(new EndEvent());
            enumerator.addReader(0);
            enumerator.handleSourceEvent(0, new EndEvent());
            assertThat(context.getSentSourceEvent().get(0)).hasSize(2);
        }
    }
}
