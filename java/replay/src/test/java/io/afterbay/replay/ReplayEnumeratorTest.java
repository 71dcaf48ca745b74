package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With one reader, and what is done in the background done at once. */
class ReplayEnumeratorTest {
    private static final ReplayRange RANGE = new ReplayRange(0, 100);

    @TempDir private Path directory;
    private ReplayControl control;
    private final RecordingContext<ReplaySplit<NumberSequenceSplit>> context =
            new RecordingContext<>();
    private ReplayEnumerator<NumberSequenceSplit, ?> enumerator;

    @BeforeEach
    void create() throws Exception {
        control = new ReplayControl(directory.toUri());
        control.setRate(70);
        enumerator =
                new ReplayEnumerator<>(
                        new NumberSequenceSource(0, 99)
                                .createEnumerator(new SplitContext<>(context)),
                        context,
                        ReplayEnumeratorState.anew(),
                        RANGE,
                        new SourceControl(directory.toUri(), 0, 1, RANGE.fromMs(), "numbers"));
    }

    private void register() {
        context.register(0);
        enumerator.addReader(0);
    }

    /** It knows nothing of the rate, which has not changed. */
    @Test
    void aReaderThatComesBackIsToldItsShareAgain() {
        enumerator.start();
        assertThat(context.sent).isEmpty();
        register();
        assertThat(context.sent).isEqualTo(List.of(new PaceEvent(70)));
        register();
        assertThat(context.sent).isEqualTo(List.of(new PaceEvent(70), new PaceEvent(70)));
    }

    @Test
    void itsEndIsToldAtOnceAndItHearsNoMore() throws Exception {
        enumerator.start();
        register();
        control.setRate(0);
        enumerator.handleSourceEvent(0, new CountEvent(Map.of("a", 100L), 99, true, true));
        assertThat(context.sent).isEqualTo(List.of(new PaceEvent(70)));
        ReplayProgress progress = control.progress().orElseThrow();
        assertThat(progress.records()).isEqualTo(100);
        assertThat(progress.reachedMs()).isEqualTo(100);
        assertThat(progress.hasEnded()).isTrue();
    }
}
