package io.afterbay.replay.merge;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A log to which a live job and a replay write, in any interleaving: transactions of both that
 * commit late or never, rows that wait on their way, late rows, pauses, and crashes of the replay
 * back to its last checkpoint. Compared is the table at the end with that of a plain rule.
 */
class KeyMergeModelTest {
    private static final int KEYS = 3;
    private static final int ROWS = 25;
    private static final int VERSIONS = 6;
    private static final int CONTROL_SEEDS = 3_000;

    /** What is taken out of the merge, to see that the model finds it. */
    private enum Without {
        NOTHING,
        /** Rows of the replay are written as they come. */
        RESOLVER,
        /** It looks for rows of the live job, and does not read back what it has written. */
        READING_BACK,
        /** It forgets what may be left of an attempt that failed. */
        BARRIERS
    }

    /** Versions are in the values: {@code version:number}. */
    private static final class Versions implements Resolver {
        private static final long serialVersionUID = 1;

        @Override
        public long version(OutputRow row) {
            return KeyMergeModelTest.version(row);
        }
    }

    private static final class ReplayWinsTies implements Resolver {
        private static final long serialVersionUID = 1;

        @Override
        public long version(OutputRow row) {
            return KeyMergeModelTest.version(row);
        }

        @Override
        public boolean replayedWins(long replayed, long newestLive) {
            return replayed >= newestLive;
        }
    }

    private static final List<Resolver> RESOLVERS =
            List.of(new LiveWins(), new Versions(), new ReplayWinsTies());

    private static long version(OutputRow row) {
        String text = text(row);
        return Long.parseLong(text.substring(0, text.indexOf(':')));
    }

    private static String text(OutputRow row) {
        return new String(row.value(), StandardCharsets.UTF_8);
    }

    @Property(tries = TestForm.REPLAY_MODEL_TRIES, seed = TestForm.SEED)
    void theTableIsRightHoweverItCameAbout(@ForAll long seed) throws Exception {
        for (Resolver resolver : RESOLVERS) {
            new Run(seed, resolver, Without.NOTHING).run();
        }
    }

    @Property(tries = TestForm.REPLAY_MODEL_TRIES_LONG)
    @AddLifecycleHook(value = OnlyInLongForm.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
    void theTableIsRightInManyTries(@ForAll long seed) throws Exception {
        theTableIsRightHoweverItCameAbout(seed);
    }

    @ParameterizedTest
    @EnumSource(
            value = Without.class,
            names = {"RESOLVER", "READING_BACK", "BARRIERS"})
    void withoutAPartOfItTablesAreWrong(Without without) {
        assertThat(
                        LongStream.range(0, CONTROL_SEEDS)
                                .filter(seed -> isWrong(seed, without))
                                .count())
                .isPositive();
    }

    @Test
    void theModelMeetsWhatItIsFor() throws Exception {
        long corrections = 0;
        long crashes = 0;
        for (long seed = 0; seed < CONTROL_SEEDS; seed++) {
            Run run = new Run(seed, new Versions(), Without.NOTHING);
            run.run();
            corrections += run.corrections;
            crashes += run.crashes;
        }
        assertThat(corrections).isGreaterThan(CONTROL_SEEDS);
        assertThat(crashes).isGreaterThan(CONTROL_SEEDS);
    }

    private static boolean isWrong(long seed, Without without) {
        try {
            new Run(seed, new LiveWins(), without).run();
            return false;
        } catch (AssertionError e) {
            return true;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private enum Outcome {
        OPEN,
        COMMITTED,
        ABORTED
    }

    private static final class Transaction {
        Outcome outcome = Outcome.OPEN;
    }

    private record Entry(OutputRow row, Transaction transaction) {}

    /**
     * @param merges of each key, as bytes
     * @param closed transaction that commits with it
     */
    private record Checkpoint(
            Map<String, byte[]> merges,
            int read,
            int replayed,
            @Nullable Transaction closed,
            Map<Integer, String> samples) {}

    private static final class Run {
        private final SplittableRandom random;
        private final Resolver resolver;
        private final Without without;
        private final boolean isExactlyOnce;
        private final boolean isLiveTransactional;

        private final List<Entry> log = new ArrayList<>();
        private final List<OutputRow> past = new ArrayList<>();
        private final List<OutputRow> live = new ArrayList<>();
        private final Deque<OutputRow> onTheWay = new ArrayDeque<>();

        private Map<String, KeyMerge> merges = new HashMap<>();
        private int read;
        private int replayed;
        private int lived;
        private Transaction ofReplay = new Transaction();
        private Transaction ofLive = new Transaction();
        private @Nullable Transaction closed;
        private Barriers barriers = new Barriers(Map.of());
        private Checkpoint checkpoint = new Checkpoint(Map.of(), 0, 0, null, Map.of());
        private int attempt;
        private int emissions;
        private long corrections;
        private int crashes;

        Run(long seed, Resolver resolver, Without without) {
            this.random = new SplittableRandom(seed);
            this.resolver = resolver;
            this.without = without;
            this.isExactlyOnce = random.nextBoolean();
            this.isLiveTransactional = random.nextBoolean();
            for (int i = 0; i < 1 + random.nextInt(ROWS); i++) {
                past.add(row("past" + i));
            }
            for (int i = 0; i < random.nextInt(ROWS); i++) {
                live.add(row("live" + i));
            }
        }

        private OutputRow row(String name) {
            String value = random.nextInt(VERSIONS) + ":" + name;
            return new OutputRow(
                    "t",
                    0,
                    null,
                    new byte[] {(byte) random.nextInt(KEYS)},
                    value.getBytes(StandardCharsets.UTF_8),
                    List.of());
        }

        void run() throws Exception {
            while (!hasFinished()) {
                step(random.nextInt(20));
            }
            assertPrefixIsRight();
            if (resolver instanceof LiveWins) {
                endLive();
                assertThat(table(log.size()))
                        .as("with all of the live job")
                        .isEqualTo(answer(log.size()));
            }
        }

        private void step(int number) throws IOException {
            switch (number) {
                case 0, 1, 2 -> replay();
                case 3, 4 -> writeLive();
                case 5, 6, 7, 8, 9 -> readNext();
                case 10, 11, 12 -> arrive();
                case 13 -> checkpoint();
                case 14, 15 -> commit();
                case 16, 17 -> endLiveTransaction();
                case 18 -> crashSometimes();
                default -> {
                    // A pause.
                }
            }
        }

        private KeyMerge merge(OutputRow row) {
            return merges.computeIfAbsent(key(row), unknown -> new KeyMerge());
        }

        private static String key(OutputRow row) {
            return Byte.toString(row.key()[0]);
        }

        private void replay() {
            if (replayed == past.size()) {
                return;
            }
            OutputRow row = past.get(replayed++);
            KeyMerge merge = merge(row);
            boolean isWritten = merge.replayed(row, resolver) == KeyMerge.Verdict.WRITE;
            if (isWritten) {
                write(merge);
            } else if (without == Without.RESOLVER) {
                onTheWay.add(row.with(Provenance.ofReplayed("r", "off").header()));
            }
            barriers.met(merge, key(row));
        }

        private void write(KeyMerge merge) {
            onTheWay.add(merge.write("r", attempt + "-" + emissions++));
        }

        /** A row of the replay reaches the log. */
        private void arrive() {
            OutputRow row = onTheWay.poll();
            if (row != null) {
                Transaction transaction = ofReplay;
                if (!isExactlyOnce) {
                    transaction = new Transaction();
                    transaction.outcome = Outcome.COMMITTED;
                }
                log.add(new Entry(row, transaction));
            }
        }

        private void writeLive() {
            if (lived == live.size()) {
                return;
            }
            log.add(new Entry(live.get(lived++), ofLive));
            if (!isLiveTransactional) {
                endLiveTransaction(Outcome.COMMITTED);
            }
        }

        private void endLiveTransaction() {
            endLiveTransaction(random.nextInt(4) == 0 ? Outcome.ABORTED : Outcome.COMMITTED);
        }

        private void endLiveTransaction(Outcome outcome) {
            ofLive.outcome = outcome;
            ofLive = new Transaction();
        }

        private void endLive() {
            while (lived < live.size()) {
                writeLive();
            }
            endLiveTransaction(Outcome.COMMITTED);
        }

        private void readNext() {
            if (read == log.size() || log.get(read).transaction().outcome == Outcome.OPEN) {
                return;
            }
            Entry entry = log.get(read);
            int offset = read++;
            if (entry.transaction().outcome == Outcome.ABORTED || without == Without.RESOLVER) {
                return;
            }
            KeyMerge merge = merge(entry.row());
            merge.read(new LogRow(entry.row(), offset), "r", 0, resolver);
            Provenance provenance = Provenance.of(entry.row());
            if (provenance != null && provenance.emission().startsWith(attempt + "-")) {
                barriers.passed(0);
            }
            if (merge.isDue() && without != Without.READING_BACK) {
                corrections++;
                write(merge);
            }
            barriers.met(merge, key(entry.row()));
        }

        private void checkpoint() throws IOException {
            commit();
            while (!onTheWay.isEmpty()) {
                arrive();
            }
            Map<String, byte[]> bytes = new HashMap<>();
            for (Map.Entry<String, KeyMerge> merge : merges.entrySet()) {
                bytes.put(merge.getKey(), Envelope.state(merge.getValue()));
            }
            closed = ofReplay;
            ofReplay = new Transaction();
            checkpoint =
                    new Checkpoint(bytes, read, replayed, closed, Map.copyOf(barriers.samples()));
        }

        private void commit() {
            if (closed != null) {
                closed.outcome = Outcome.COMMITTED;
                closed = null;
            }
        }

        private void crashSometimes() throws IOException {
            if (random.nextInt(3) > 0) {
                return;
            }
            crashes++;
            int arriving = random.nextInt(onTheWay.size() + 1);
            for (int i = 0; i < arriving; i++) {
                arrive();
            }
            onTheWay.clear();
            ofReplay.outcome = Outcome.ABORTED;
            ofReplay = new Transaction();
            closed = checkpoint.closed();
            commit();
            attempt++;
            merges = new HashMap<>();
            for (Map.Entry<String, byte[]> merge : checkpoint.merges().entrySet()) {
                merges.put(merge.getKey(), Envelope.merge(merge.getValue()));
            }
            read = checkpoint.read();
            replayed = checkpoint.replayed();
            barriers = new Barriers(checkpoint.samples());
        }

        private boolean hasFinished() {
            if (replayed < past.size()) {
                return false;
            }
            if (without == Without.RESOLVER || without == Without.READING_BACK) {
                while (!onTheWay.isEmpty()) {
                    arrive();
                }
                ofReplay.outcome = Outcome.COMMITTED;
                commit();
                endLive();
                read = log.size();
                return true;
            }
            if (!merges.values().stream().allMatch(KeyMerge::isSettled)) {
                return false;
            }
            if (without == Without.BARRIERS) {
                return true;
            }
            barriers.missing().forEach(key -> write(merges.get(key)));
            return barriers.missing().isEmpty();
        }

        /** Up to where the merge has read; behind that, there is nothing of it. */
        private void assertPrefixIsRight() {
            assertThat(table(read)).isEqualTo(answer(read));
            assertThat(log.subList(read, log.size()))
                    .filteredOn(entry -> entry.transaction().outcome != Outcome.ABORTED)
                    .filteredOn(entry -> entry.transaction() != ofReplay)
                    .allMatch(entry -> Provenance.of(entry.row()) == null);
            assertThat(onTheWay).isEmpty();
        }

        /** What readers of committed rows have, as far as offsets are below an end. */
        private Map<String, String> table(int end) {
            Map<String, String> table = new HashMap<>();
            committed(end).forEach(row -> table.put(key(row), text(row)));
            return table;
        }

        private List<OutputRow> committed(int end) {
            return log.subList(0, end).stream()
                    .filter(entry -> entry.transaction().outcome == Outcome.COMMITTED)
                    .map(Entry::row)
                    .toList();
        }

        private Map<String, String> answer(int end) {
            Map<String, OutputRow> answer = new HashMap<>();
            for (OutputRow row : past) {
                answer.merge(
                        key(row),
                        row,
                        (best, next) ->
                                resolver.version(next) >= resolver.version(best) ? next : best);
            }
            Map<String, Long> newest = new HashMap<>();
            Map<String, OutputRow> last = new HashMap<>();
            for (OutputRow row : committed(end)) {
                if (Provenance.of(row) == null) {
                    newest.merge(key(row), resolver.version(row), Math::max);
                    last.put(key(row), row);
                }
            }
            last.forEach(
                    (key, row) -> {
                        OutputRow best = answer.get(key);
                        if (best == null
                                || !resolver.replayedWins(
                                        resolver.version(best), newest.get(key))) {
                            answer.put(key, row);
                        }
                    });
            Map<String, String> texts = new HashMap<>();
            answer.forEach((key, row) -> texts.put(key, text(row)));
            return texts;
        }
    }
}
