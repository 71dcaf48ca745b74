package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class StateLedgerTest {
    private static final long SILENCE = 20_000_000_000L;

    private static final long STEP = 500_000_000L;

    private long now = Long.MAX_VALUE - 5; // clocks may overflow
    private final StateLedger ledger = new StateLedger(SILENCE, () -> now);
    private final Executor one = new Executor("executor 1");
    private final Executor two = new Executor("executor 2");

    /** With the answers that it had. */
    private final class Executor {
        final WrittenStates states;
        long seenRound;
        Set<String> busy = Set.of();

        Executor(String name) {
            states = new WrittenStates(name);
            beat();
        }

        void beat() {
            WriterReport report = states.report(seenRound, busy, false);
            seenRound = ledger.report(report);
            states.confirmed(report);
        }

        void write(String name) {
            states.created("ckpt", name);
            states.created("ckpt", name); // its checksum
        }

        void publish(String name) {
            states.published(name);
            states.published(name);
        }
    }

    private void allBeatTwice() {
        for (int i = 0; i < 2; i++) {
            one.beat();
            two.beat();
        }
    }

    /** Somebody waits, and executor 2 lives. */
    private void await(Gate gate, long nanos) throws Exception {
        for (long left = nanos; left > 0; left -= STEP) {
            now += STEP;
            two.beat();
            assertThat(gate.isOpen()).isFalse();
        }
    }

    private Gate commit(String... names) {
        return ledger.require("ckpt", 1, Set.of(names));
    }

    @Test
    void opensWhenAllFilesAreThere() throws Exception {
        one.write("1_a");
        two.write("1_b");
        Gate gate = commit("1_a", "1_b");
        allBeatTwice();
        assertThat(gate.isOpen()).isFalse();
        one.publish("1_a");
        one.beat();
        assertThat(gate.isOpen()).isFalse();
        assertThat(gate.waitsFor()).isEqualTo("1 state files of 2 executors, such as 1_b");
        two.publish("1_b");
        assertThat(gate.isOpen()).isFalse(); // not reported
        two.beat();
        assertThat(gate.isOpen()).isTrue();
    }

    @Test
    void aChangelogIsThereWithItsChecksum() throws Exception {
        one.write("1_a");
        Gate gate = commit("1_a");
        one.states.published("1_a");
        allBeatTwice();
        assertThat(gate.isOpen()).isFalse();
        one.states.published("1_a");
        one.beat();
        assertThat(gate.isOpen()).isTrue();
    }

    @Test
    void opensForFilesThatWereThereBeforeTheCommit() throws Exception {
        one.write("1_a");
        one.publish("1_a");
        one.beat();
        assertThat(commit("1_a").isOpen()).isTrue();
    }

    @Test
    void failsWhenTheExecutorIsSilentForTooLong() throws Exception {
        one.write("1_a");
        Gate gate = commit("1_a");
        allBeatTwice();
        await(gate, SILENCE);
        now++;
        assertThatThrownBy(gate::isOpen)
                .hasMessageContaining("state file 1_a was not published, and no executor has it")
                .hasMessageContaining("Ended, last first: [executor 1]")
                .hasMessageContaining("restarted");
        assertThat(ledger.lostWriters()).isEqualTo(1);
    }

    @Test
    void failsSoonWhenSparkSaysThatTheExecutorIsGone() throws Exception {
        one.write("1_a");
        Gate gate = commit("1_a");
        allBeatTwice();
        ledger.gone("executor 1");
        ledger.gone("nobody");
        await(gate, StateLedger.GRACE_NANOS); // its last report may be on its way
        now++;
        assertThatThrownBy(gate::isOpen).hasMessageContaining("executor 1");
    }

    @Test
    void aDriverThatStoodStillReadsReportsBeforeItTakesExecutorsForDead() throws Exception {
        one.write("1_a");
        Gate gate = commit("1_a");
        allBeatTwice();
        assertThat(gate.isOpen()).isFalse();
        now += 10 * SILENCE;
        assertThat(gate.isOpen()).isFalse();
        one.publish("1_a");
        one.beat();
        assertThat(gate.isOpen()).isTrue();
    }

    @Test
    void theLastReportOfAnExecutorCounts() throws Exception {
        one.write("1_a");
        Gate gate = commit("1_a");
        allBeatTwice();
        ledger.gone("executor 1");
        one.publish("1_a");
        ledger.report(one.states.report(one.seenRound, Set.of(), true));
        assertThat(gate.isOpen()).isTrue();
        assertThat(ledger.lostWriters()).isZero();
    }

    /** The file was written before the commit: it may be in a report that is still to come. */
    @Test
    void doesNotFailBeforeEachExecutorHasMadeAReportAfterTheCommit() throws Exception {
        one.write("1_a");
        Gate gate = commit("1_a");
        two.beat();
        two.beat();
        assertThat(gate.isOpen()).isFalse(); // executor 1 has not said anything
        one.beat(); // made before it knew of the commit, as far as the ledger can tell
        assertThat(gate.isOpen()).isFalse();
        one.publish("1_a");
        one.beat();
        assertThat(gate.isOpen()).isTrue();
    }

    /** The control for the one before: the same file, which nobody wrote. */
    @Test
    void failsWhenEachExecutorHasMadeAReportAndNoneHasTheFile() {
        Gate gate = commit("1_a");
        allBeatTwice();
        assertThatThrownBy(gate::isOpen).hasMessageContaining("no executor has it");
    }

    @Test
    void aFileOfAnAttemptThatWasCancelledIsLostIfACommitNamesIt() {
        one.write("1_a");
        one.states.published("1_a");
        one.states.cancelled("1_a");
        Gate gate = commit("1_a");
        allBeatTwice();
        assertThatThrownBy(gate::isOpen).hasMessageContaining("1_a");
    }

    @Test
    void aReportThatWasNotAnsweredIsMadeAgainAndAnOldOneChangesNothing() throws Exception {
        one.write("1_a");
        one.publish("1_a");
        WriterReport lost = one.states.report(one.seenRound, Set.of(), false);
        WriterReport again = one.states.report(one.seenRound, Set.of(), false);
        assertThat(again.durable()).isEqualTo(lost.durable()).isNotEmpty();
        one.states.confirmed(again);
        assertThat(one.states.report(0, Set.of(), false).durable()).isEmpty();

        one.write("1_b");
        one.beat();
        ledger.report(lost); // late, from when 1_b was not there
        Gate gate = commit("1_a", "1_b");
        allBeatTwice();
        assertThat(gate.isOpen()).isFalse();
    }

    @Test
    void forgetsWhatNoCommitCanNameAnyMore() throws Exception {
        one.write("1_failed-attempt");
        one.publish("1_failed-attempt");
        one.write("1_a");
        one.publish("1_a");
        one.write("2_a");
        one.publish("2_a");
        one.beat();
        assertThat(commit("1_a").isOpen()).isTrue();
        assertThat(ledger.require("ckpt", 2, Set.of("2_a")).isOpen()).isTrue();
        Gate late = commit("1_failed-attempt");
        allBeatTwice();
        assertThatThrownBy(late::isOpen).hasMessageContaining("no executor has it");
    }

    @Test
    void aCheckpointIsIdleWhenEachWriterHasSaidSoSinceOrHasEnded() throws Exception {
        assertThat(ledger.awaitIdle("ckpt", 0)).isFalse(); // what they said before
        CompletableFuture<Boolean> idle = awaitIdle();
        one.busy = Set.of("ckpt", "other");
        one.beat();
        two.beat();
        assertThat(idle.isDone()).isFalse();
        one.busy = Set.of("other");
        one.beat();
        assertThat(idle.get()).isTrue();

        CompletableFuture<Boolean> ended = awaitIdle();
        one.busy = Set.of("ckpt");
        one.beat();
        two.beat();
        assertThat(ended.isDone()).isFalse();
        ledger.report(one.states.report(one.seenRound, one.busy, true));
        assertThat(ended.get()).isTrue();
    }

    private CompletableFuture<Boolean> awaitIdle() throws Exception {
        CompletableFuture<Boolean> idle = new CompletableFuture<>();
        Thread waiting =
                new Thread(
                        () -> {
                            try {
                                idle.complete(ledger.awaitIdle("ckpt", Long.MAX_VALUE / 2));
                            } catch (InterruptedException e) {
                                idle.completeExceptionally(e);
                            }
                        });
        waiting.start();
        Await.until("it waits", () -> waiting.getState() == Thread.State.TIMED_WAITING);
        return idle;
    }

    @Test
    void reportsAreCopies() {
        Map<String, String> failures = new HashMap<>();
        WriterReport report =
                new WriterReport("executor 1", 1, 0, Map.of(), Set.of(), Set.of(), failures, false);
        failures.put("ckpt", "disk on fire");
        assertThat(report.failures()).isEmpty();
        one.states.failed("ckpt", "disk on fire");
        WriterReport failed = one.states.report(0, Set.of(), false);
        assertThat(failed.failures()).containsEntry("ckpt", "disk on fire");
        one.states.confirmed(failed);
        assertThat(one.states.report(0, Set.of(), false).failures()).isEmpty();
    }
}
