package io.afterbay.spark.model;

import static io.afterbay.spark.model.Protocol.Gate.NONE;
import static io.afterbay.spark.model.Protocol.Gate.TAKEN;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.model.Protocol.OffsetsReturn;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Explores the protocol of docs/spark-commit.md, and what happens without each of its waits. */
class CommitProtocolTest {
    private static final EnumSet<Invariant> ALL = EnumSet.allOf(Invariant.class);

    @Test
    void strictModeHoldsAllInvariants() {
        holds(new Model(Protocol.strict(), 3, 2, 2, 2), 400_000);
    }

    @Test
    void strictModeHoldsAllInvariantsWithExecutorsThatDie() {
        holds(new Model(Protocol.strict().onExecutors(), 2, 2, 2, 2), 100_000);
    }

    @Test
    void pipelinedModeHoldsAllInvariantsWithExecutorsThatDie() {
        Protocol pipelined = Protocol.pipelined().onExecutors();
        holds(new Model(pipelined, 2, 2, 1, 1), 30_000);
        holds(new Model(pipelined, 2, 1, 2, 2), 200_000);
        holds(new Model(pipelined, 3, 1, 1, 1), 3_000);
    }

    @Test
    void pipelinedModeHoldsAllInvariantsWithASourceThatKeepsItsInput() {
        holds(new Model(Protocol.pipelined(), 2, 2, 1, 2), 50_000);
        holds(new Model(Protocol.pipelined(), 2, 1, 2, 2), 80_000);
        holds(new Model(Protocol.pipelined(), 3, 1, 1, 2), 15_000);
    }

    @Test
    void withoutTheGateACommitNamesAStateThatIsLost() {
        for (Protocol mode : List.of(Protocol.strict(), Protocol.pipelined())) {
            violates(mode.withGate(NONE), Invariant.COMMITS_HAVE_THEIR_STATE, "commits/0");
            violates(mode.withGate(NONE), Invariant.RESTART_FINDS_ITS_STATE, "not there");
        }
    }

    @Test
    void withoutAcknowledgementsABatchThatSparkBelievesDoneHasLostItsState() {
        for (Protocol mode : List.of(Protocol.strict(), Protocol.pipelined())) {
            Protocol ungated = mode.onExecutors().withGate(NONE);
            violates(ungated, Invariant.COMMITS_HAVE_THEIR_STATE, "commits/0");
            violates(ungated, Invariant.RESTART_FINDS_ITS_STATE, "not there");
        }
    }

    @Test
    void acknowledgementsOfFilesThatAreOnlyTakenAreNotEnough() {
        Protocol early = Protocol.strict().onExecutors().withGate(TAKEN);
        violates(early, Invariant.COMMITS_HAVE_THEIR_STATE, "commits/0");
        violates(early, Invariant.RESTART_FINDS_ITS_STATE, "not there");
    }

    @Test
    void ifNobodyLooksForLostFilesTheirCommitWaitsForEver() {
        for (Protocol mode : List.of(Protocol.strict(), Protocol.pipelined())) {
            violates(
                    mode.onExecutors().withoutFindingLost(),
                    Invariant.NOBODY_WAITS_FOR_EVER,
                    "waiting [commits/");
        }
    }

    @Test
    void withoutTheOrderABatchRunsAgainOnAStateThatHasNoCommit() {
        Protocol unordered = Protocol.pipelined().withoutOrder();
        violates(unordered, Invariant.LOG_IS_VANILLA, "offsets [0, 1], commits []");
        violates(unordered, Invariant.RESTART_FINDS_ITS_STATE, "no commit");
    }

    @Test
    void withoutTheBarrierTheSinkHasABatchThatTheLogDoesNotKnow() {
        violates(Protocol.pipelined().withoutBarrier(), Invariant.SINK_IS_EXACT, "in the sink");
    }

    @Test
    void withoutTheBarrierBatchesPileUp() {
        Model model = new Model(Protocol.pipelined().withoutBarrier(), 3, 1, 0, 1);
        violates(model, Invariant.BACKLOG_IS_BOUNDED, "2 batches are done");
    }

    @Test
    void ifTheFirstOffsetsAreNotAwaitedSparkDoesNotBegin() {
        violates(
                Protocol.pipelined().withoutAwaitingTheFirst(),
                Invariant.RESTART_FINDS_ITS_STATE,
                "does not begin");
    }

    @Test
    void ifOffsetsReturnWhenTheLastCommitIsPublishedTheSourceDiscardsTooEarly() {
        Protocol early = Protocol.strict().withOffsetsReturn(OffsetsReturn.AFTER_LAST_COMMIT);
        violates(early, Invariant.SOURCE_KEEPS_WHAT_IS_NEEDED, "discarded");
        violates(early, Invariant.RESTART_FINDS_ITS_STATE, "discarded");
        violates(early, Invariant.SINK_IS_EXACT, "in the sink");
    }

    @Test
    void pipelinedModeIsNotForASourceThatDiscards() {
        violates(
                Protocol.pipelined().withDiscardingSource(),
                Invariant.RESTART_FINDS_ITS_STATE,
                "discarded");
    }

    @Test
    void withoutUniqueNamesALateWriteReplacesTheStateOfTheNextRun() {
        violates(
                Protocol.strict().withoutUniqueNames(),
                Invariant.COMMITS_HAVE_THEIR_STATE,
                "commits/0");
    }

    private static void holds(Model model, int worldsMin) {
        Explorer.Result result = new Explorer(model, ALL).explore();
        System.out.println(model + ": " + result.worlds() + " worlds");
        assertThat(result.trace()).isEmpty();
        assertThat(result.worlds()).isGreaterThan(worldsMin);
        assertThat(result.finished()).isGreaterThan(100);
    }

    /**
     * The invariant alone is looked at: its violation must be reachable by itself. In pipelined
     * mode more can happen at once, so a smaller model is searched.
     */
    private static void violates(Protocol protocol, Invariant invariant, String reason) {
        boolean isPipelined = protocol.offsetsReturn() == OffsetsReturn.AT_ONCE;
        Model model =
                isPipelined ? new Model(protocol, 2, 1, 1, 2) : new Model(protocol, 2, 2, 2, 2);
        violates(model, invariant, reason);
    }

    private static void violates(Model model, Invariant invariant, String reason) {
        Explorer.Result result = new Explorer(model, EnumSet.of(invariant)).explore();
        System.out.println(model.protocol() + "\n  " + String.join("\n  ", result.trace()));
        assertThat(result.trace()).isNotEmpty();
        assertThat(result.trace().get(result.trace().size() - 1))
                .startsWith(invariant.name())
                .contains(reason);
    }
}
