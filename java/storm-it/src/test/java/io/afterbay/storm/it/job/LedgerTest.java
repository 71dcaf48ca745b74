package io.afterbay.storm.it.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.apache.storm.spout.ISpoutOutputCollector;
import org.apache.storm.spout.SpoutOutputCollector;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The controls: what the test of the cluster would say if words were lost. */
class LedgerTest {
    private static final int WORDS = 100;

    @TempDir private Path directory;

    private Ledger ledger;

    @BeforeEach
    void makeWordsDue() throws IOException {
        ledger = new Ledger(directory);
        ledger.setLimit(WORDS);
    }

    /** On whose way to the sink each tenth word is lost. */
    private final class LossyWay implements ISpoutOutputCollector {
        private final Deque<Integer> arrived = new ArrayDeque<>();
        private final Deque<Integer> lost = new ArrayDeque<>();
        private int emitted;

        @Override
        public List<Integer> emit(String stream, List<Object> tuple, Object id) {
            (++emitted % 10 == 0 ? lost : arrived).add((Integer) id);
            return List.of();
        }

        @Override
        public void emitDirect(int task, String stream, List<Object> tuple, Object id) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long getPendingCount() {
            return 0;
        }

        @Override
        public void flush() {}

        @Override
        public void reportError(Throwable error) {
            throw new AssertionError(error);
        }
    }

    /** Until the spout has heard of each word, and has nothing more to emit. */
    private void run(WordSpout spout, LossyWay way) throws IOException {
        spout.open(Map.of(), null, new SpoutOutputCollector(way));
        NumberLog sunk = ledger.sunkLog(7);
        int ended = 0;
        while (ended < WORDS) {
            spout.nextTuple();
            for (Integer word = way.arrived.poll(); word != null; word = way.arrived.poll()) {
                sunk.append(word);
                spout.ack(word);
                ended++;
            }
            for (Integer word = way.lost.poll(); word != null; word = way.lost.poll()) {
                spout.fail(word);
                ended += spout.emitsAgain() ? 0 : 1;
            }
        }
    }

    @Test
    void wordsThatAreEmittedAgainAreNotLost() throws IOException {
        run(new WordSpout(ledger, true), new LossyWay());
        assertThat(ledger.problem()).isEmpty();
        assertThat(ledger.repeats()).isEqualTo(11);
    }

    @Test
    void wordsThatAreNotEmittedAgainAreMissed() throws IOException {
        run(new WordSpout(ledger, false), new LossyWay());
        String lost = "{9, 19, 29, 39, 49, 59, 69, 79, 89, 99}";
        assertThat(ledger.problem())
                .hasLineCount(2)
                .contains("not acked: " + lost, "not in the sink: " + lost);
        assertThat(ledger.repeats()).isZero();
    }

    /** As of a bolt that acks before it has done its work. */
    @Test
    void aWordThatIsOnlyAckedIsMissed() throws IOException {
        sink(0, WORDS - 1);
        ack(0, WORDS);
        assertThat(ledger.problem()).isEqualTo("not in the sink: {99}%n".formatted());
    }

    @Test
    void aWordThatWasNeverDueIsFound() throws IOException {
        sink(0, WORDS + 1);
        ack(0, WORDS);
        assertThat(ledger.problem()).isEqualTo("in the sink, and never due: {100}%n".formatted());
    }

    /** As of a spout that hears of both instances of a tuple that was replayed. */
    @Test
    void aWordThatIsAckedTwiceIsFound() throws IOException {
        sink(0, WORDS);
        ack(0, WORDS);
        append(ledger.ackedLog(), 7, 8);
        assertThat(ledger.problem()).isEqualTo("acked more often than emitted: [7]%n".formatted());
        append(ledger.emittedLog(), 7, 8);
        assertThat(ledger.problem()).isEmpty();
    }

    /** It goes on where the one before was killed. */
    @Test
    void aNewSpoutEmitsWhatIsNotAcked() throws IOException {
        ack(3, WORDS - 2);
        WordSpout spout = new WordSpout(ledger, true);
        LossyWay way = new LossyWay();
        spout.open(Map.of(), null, new SpoutOutputCollector(way));
        while (way.arrived.size() < 5) {
            spout.nextTuple();
        }
        assertThat(way.arrived).containsExactly(0, 1, 2, 98, 99);
    }

    private void ack(int from, int to) throws IOException {
        append(ledger.emittedLog(), from, to);
        append(ledger.ackedLog(), from, to);
    }

    private void sink(int from, int to) throws IOException {
        append(ledger.sunkLog(3), from, to);
    }

    private static void append(NumberLog log, int from, int to) throws IOException {
        for (int word = from; word < to; word++) {
            log.append(word);
        }
    }
}
