package io.afterbay.replay.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What one key makes of rows that no plain interleaving has. */
class KeyMergeTest {
    private static final String REPLAY = "r2/sink-0";
    private static final long SINCE_MS = 1_000;
    private static final Resolver LIVE_WINS = new LiveWins();

    /** Everything is one key. */
    private static final class Coarse implements Resolver {
        private static final long serialVersionUID = 1;

        @Override
        public byte @Nullable [] key(OutputRow row) {
            return new byte[0];
        }

        @Override
        public long version(OutputRow row) {
            return 0;
        }
    }

    private static OutputRow row(@Nullable String key, String value, long timestampMs) {
        return new OutputRow(
                "t",
                0,
                timestampMs,
                key == null ? null : key.getBytes(StandardCharsets.UTF_8),
                value.getBytes(StandardCharsets.UTF_8),
                List.of());
    }

    private static OutputRow copy(OutputRow row, long liveOffset, long liveMs) {
        return row.with(new Provenance("r1/sink-0", "e", liveOffset, liveMs).header());
    }

    private static KeyMerge having(OutputRow read, long offset) {
        KeyMerge merge = new KeyMerge();
        merge.read(new LogRow(read, offset), REPLAY, SINCE_MS, LIVE_WINS);
        return merge;
    }

    private static KeyMerge.Verdict replayed(KeyMerge merge) {
        return merge.replayed(row("k", "past", 500), LIVE_WINS);
    }

    /** An earlier replay has written a row of the live job once more. */
    @Test
    void aCopyOfARowOfTheLiveJobCountsIfThatRowWould() {
        OutputRow old = row("k", "live", 900);
        assertThat(replayed(having(copy(old, 3, SINCE_MS - 1), 9)))
                .isEqualTo(KeyMerge.Verdict.WRITE);
        assertThat(replayed(having(copy(old, 3, SINCE_MS), 9)))
                .isEqualTo(KeyMerge.Verdict.LIVE_WINS);
        assertThat(replayed(having(old, 3))).isEqualTo(KeyMerge.Verdict.LIVE_WINS);
    }

    /** Late rows stand behind newer ones, and count by their place. */
    @Test
    void copiesSaySinceWhenTheirRowCounts() throws IOException {
        for (long timestampMs : List.of(400L, 5_000L)) {
            KeyMerge merge = new KeyMerge();
            replayed(merge);
            merge.write(REPLAY, "e1");
            OutputRow live = row("k", "live", timestampMs);
            merge.read(new LogRow(live, 7), REPLAY, SINCE_MS, LIVE_WINS);
            KeyMerge restored = Envelope.merge(Envelope.state(merge));
            restored.read(
                    new LogRow(
                            row("k", "past", 500)
                                    .with(Provenance.ofReplayed(REPLAY, "e1").header()),
                            8),
                    REPLAY,
                    SINCE_MS,
                    LIVE_WINS);
            assertThat(restored.isDue()).isTrue();
            Provenance written = Provenance.of(restored.write(REPLAY, "e2"));
            assertThat(written)
                    .isEqualTo(new Provenance(REPLAY, "e2", 7, Math.max(SINCE_MS, timestampMs)));
        }
    }

    @Test
    void aKeyThatTellsLessApartThanKafkasEndsTheReplay() {
        Coarse coarse = new Coarse();
        KeyMerge merge = new KeyMerge();
        merge.replayed(row("a", "1", 0), coarse);
        merge.replayed(row("a", "2", 0), coarse);
        assertThatThrownBy(() -> merge.replayed(row("b", "3", 0), coarse))
                .isInstanceOf(MergeImpossibleException.class)
                .hasMessageContaining(Coarse.class.getName())
                .hasMessageContaining("(61 and 62)");
        assertThatThrownBy(() -> merge.read(new LogRow(row("b", "3", 0), 1), REPLAY, 0, coarse))
                .isInstanceOf(MergeImpossibleException.class);
    }

    @Test
    void aHeaderThatNobodyKnowsEndsTheReplay() {
        for (String text : List.of("", "r1/sink-0 e 3", "r1/sink-0 e x 4", "1 2 3 4 5")) {
            OutputRow row =
                    row("k", "v", 0)
                            .with(
                                    new OutputRow.Header(
                                            Provenance.HEADER,
                                            text.getBytes(StandardCharsets.UTF_8)));
            assertThatThrownBy(() -> Provenance.of(row))
                    .as(text)
                    .isInstanceOf(MergeImpossibleException.class)
                    .hasMessageContaining("topic 't', partition 0")
                    .hasMessageContaining("'" + text + "'");
        }
    }

    /** Somebody else may write them to the same topic. */
    @Test
    void aRowOfTheLogWithoutAKeyIsInNoConflictAndOneOfTheReplayIsRefused() throws IOException {
        assertThat(Envelope.of(new LogRow(row(null, "v", 0), 1), LIVE_WINS)).isEmpty();
        assertThat(Envelope.of(new LogRow(row("k", "v", 0), 1), LIVE_WINS)).isPresent();
        assertThatThrownBy(() -> Envelope.of(row(null, "v", 0), LIVE_WINS))
                .isInstanceOf(MergeImpossibleException.class)
                .hasMessageContaining("the job has made a row for topic 't' that has no key");
    }
}
