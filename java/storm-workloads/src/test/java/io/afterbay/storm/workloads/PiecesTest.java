package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.storm.StragglerSettings;
import io.afterbay.storm.workloads.PiecesTopology.Seen;
import io.afterbay.testing.Await;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Topologies that were put together from the pieces, on real Storm, which starts them at once:
 * another takes seconds. Numbers are counted; no time is asserted.
 */
class PiecesTest extends EmbeddedStormSuite {
    private static final ExclamationPlan REPLAYED =
            new ExclamationPlan("replayed", Technique.REPLAY, 1, 0, 3_000, 5, 1, 0, 1, 1);
    private static Seen pieces;
    private static Seen plain;
    private static Measured replayed;

    @BeforeAll
    static void submit() throws Exception {
        pieces = Seen.submit(storm(), "pieces", PiecesTopology.ofPieces("pieces"));
        plain = Seen.submit(storm(), "plain", PiecesTopology.plain("plain"));
        replayed = Measured.of(REPLAYED.run());
        new StallingTopology.Seen(REPLAYED.run(), StallingTopology::isAcked);
        storm().submit(
                        REPLAYED.run(),
                        StallingTopology.conf(REPLAYED),
                        StallingTopology.ofPieces(
                                REPLAYED, StragglerSettings.none().replayShare(0.2)));
    }

    @AfterAll
    static void kill() throws Exception {
        pieces.close();
        plain.close();
        storm().kill(REPLAYED.run());
        Measured.forget(REPLAYED.run());
    }

    /** The shared bolt's task has one number, and what else it was sent others do. */
    @Test
    void whatStandsStillHoldsUpNobodyElse() throws Exception {
        pieces.await(
                () ->
                        pieces.isStanding()
                                && pieces.measured().ackedWords()
                                        == PiecesTopology.NUMBERS
                                                - pieces.sentToStanding(PiecesTopology.FIRST)
                                                - 1);
        assertThat(pieces.sentToStanding(PiecesTopology.FIRST))
                .isBetween(1, PiecesTopology.PENDING_MAX / 2);
        int sent = pieces.sentToStanding(PiecesTopology.SECOND);
        assertThat(sent).isGreaterThan(PiecesTopology.NUMBERS / 2 / PiecesTopology.TASKS);
        assertThat(pieces.measured().executed(PiecesTopology.SECOND)).containsValue(1L);
        assertThat(pieces.gauges(PiecesTopology.SECOND, "afterbay-shared-moved"))
                .hasSize(PiecesTopology.TASKS)
                .allMatch(moved -> moved >= sent - 1);
        assertThat(pieces.gauges("-afterbay-balanced-to-first:default")).containsExactly(2);
        assertThatAllAreDoneOnce(pieces);
        // By the shuffle for shared bolts, one task of the third gets all for the queue.
        assertThat(pieces.sent()).containsOnlyOnce(PiecesTopology.NUMBERS);
        assertThat(pieces.gauges(PiecesTopology.THIRD, "afterbay-shared-moved"))
                .hasSize(PiecesTopology.TASKS)
                .allMatch(moved -> moved > 0);
    }

    /** The control: what stands still has soon all that may be under way. */
    @Test
    void withoutThePiecesAllWaits() throws Exception {
        plain.await(
                () ->
                        plain.sentToStanding(PiecesTopology.FIRST)
                                                + plain.sentToStanding(PiecesTopology.SECOND)
                                        == PiecesTopology.PENDING_MAX
                                && plain.emitted() - plain.measured().ackedWords()
                                        == PiecesTopology.PENDING_MAX);
        assertThat(plain.emitted()).isLessThan(PiecesTopology.NUMBERS);
        assertThat(plain.gauges("-afterbay-shared-moved")).isEmpty();
        assertThatAllAreDoneOnce(plain);
    }

    private static void assertThatAllAreDoneOnce(Seen seen) throws Exception {
        seen.letGo();
        seen.await(() -> seen.measured().ackedWords() == PiecesTopology.NUMBERS);
        assertThat(seen.measured().twice()).isZero();
        assertThat(seen.measured().failures()).isZero();
    }

    /** {@link ReplayTest} has the control. */
    @Test
    void aReplayAtAnotherTaskEndsAStall() throws Exception {
        Await.until(
                () -> "%d acked".formatted(replayed.ackedWords()),
                () -> replayed.ackedWords() == REPLAYED.words());
        assertThat(replayed.twice()).isZero();
        assertThat(replayed.failures()).isZero();
        assertThat(replayed.replays().sum("won")).isPositive();
    }
}
