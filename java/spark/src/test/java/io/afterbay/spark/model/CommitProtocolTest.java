package io.afterbay.spark.model;

import static io.afterbay.spark.model.Protocol.Gate.NONE;
import static io.afterbay.spark.model.Protocol.Gate.TAKEN;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.model.Protocol.OffsetsReturn;
import io.afterbay.spark.model.Protocol.Rule;
import io.afterbay.testing.TestForm;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Explores the protocol of docs/spark-commit.md, and what happens without each of its waits. */
class CommitProtocolTest {
    private static final List<Protocol> MODES = List.of(Protocol.strict(), Protocol.pipelined());
    private static final EnumSet<Invariant> ALL = EnumSet.allOf(Invariant.class);

    @Test
    void strictModeHoldsAllInvariants() {
        holds(new Model(Protocol.strict(), 2, 2, 1, 2), 1_000);
        holds(new Model(Protocol.strict(), 3, 2, 2, 2), 400_000);
    }

    @Test
    void strictModeHoldsAllInvariantsWithExecutorsThatDie() {
        holds(new Model(Protocol.strict().onExecutors(), 2, 1, 2, 2), 1_000);
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

    /** What the source logs is published behind the query, too, in its place. */
    @Test
    void bothModesHoldAllInvariantsWithASourceThatLogsItsInput() {
        holds(new Model(Protocol.strict().onFiles(), 2, 1, 2, 2), 1_000);
        holds(new Model(Protocol.pipelined().onFiles(), 2, 1, 1, 2), 1_000);
        holds(new Model(Protocol.strict().onFiles(), 2, 2, 2, 2), 10_000);
        holds(new Model(Protocol.strict().onFiles(), 3, 1, 2, 2), 10_000);
        holds(new Model(Protocol.pipelined().onFiles(), 2, 1, 2, 2), 50_000);
        holds(new Model(Protocol.pipelined().onFiles(), 3, 1, 1, 2), 10_000);
        holds(new Model(Protocol.pipelined().onFiles().onExecutors(), 2, 1, 1, 2), 10_000);
    }

    @Test
    void withoutItsPlaceTheOffsetsNameInputThatTheSourceDoesNotKnow() {
        for (Protocol mode : List.of(Protocol.strict(), Protocol.pipelined())) {
            Protocol unordered = mode.onFiles().without(Rule.ORDERS_SOURCE);
            violates(unordered, Invariant.SOURCE_KNOWS_ITS_INPUT, "not in sources/0");
            violates(unordered, Invariant.RESTART_FINDS_ITS_STATE, "does not know");
        }
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
                    mode.onExecutors().without(Rule.FINDS_LOST),
                    Invariant.NOBODY_WAITS_FOR_EVER,
                    "waiting [commits/");
        }
    }

    @Test
    void withoutTheOrderABatchRunsAgainOnAStateThatHasNoCommit() {
        Protocol unordered = Protocol.pipelined().without(Rule.ORDERS_LOG);
        violates(unordered, Invariant.LOG_IS_VANILLA, "offsets [0, 1], commits []");
        violates(unordered, Invariant.RESTART_FINDS_ITS_STATE, "no commit");
    }

    @Test
    void withoutTheBarrierTheSinkHasABatchThatTheLogDoesNotKnow() {
        violates(
                Protocol.pipelined().without(Rule.HOLDS_SINK),
                Invariant.SINK_IS_EXACT,
                "in the sink");
    }

    @Test
    void withoutTheBarrierBatchesPileUp() {
        Model model = new Model(Protocol.pipelined().without(Rule.HOLDS_SINK), 3, 1, 0, 1);
        violates(model, Invariant.BACKLOG_IS_BOUNDED, "2 batches are done");
    }

    @Test
    void ifTheFirstOffsetsAreNotAwaitedSparkDoesNotBegin() {
        violates(
                Protocol.pipelined().without(Rule.AWAITS_FIRST),
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
                Protocol.pipelined().with(Rule.DISCARDS_INPUT),
                Invariant.RESTART_FINDS_ITS_STATE,
                "discarded");
    }

    @Test
    void withoutUniqueNamesALateWriteReplacesTheStateOfTheNextRun() {
        violates(
                Protocol.strict().without(Rule.HAS_UNIQUE_NAMES),
                Invariant.COMMITS_HAVE_THEIR_STATE,
                "commits/0");
    }

    /** A write that is silent is begun a second time; the first arrives later, or has arrived. */
    @Test
    void bothModesHoldAllInvariantsIfWritesAreBegunASecondTime() {
        holds(new Model(Protocol.strict(), 2, 1, 2, 2, 1), 80_000);
        holds(new Model(Protocol.strict(), 2, 2, 1, 2, 1), 40_000);
        holds(new Model(Protocol.strict(), 3, 1, 1, 2, 2), 150_000);
        holds(new Model(Protocol.pipelined(), 2, 1, 2, 1, 1), 100_000);
        holds(new Model(Protocol.pipelined(), 2, 2, 1, 1, 1), 100_000);
        holds(new Model(Protocol.pipelined(), 3, 1, 1, 1, 1), 20_000);
    }

    @Test
    void bothModesHoldAllInvariantsIfWritesOfExecutorsAreBegunASecondTime() {
        holds(new Model(Protocol.strict().onExecutors(), 2, 1, 2, 1, 1), 40_000);
        holds(new Model(Protocol.strict().onExecutors(), 2, 2, 1, 1, 1), 20_000);
        holds(new Model(Protocol.pipelined().onExecutors(), 2, 1, 1, 2, 1), 50_000);
    }

    /** Log files are written under hidden names, and renamed when they have their turn. */
    @Test
    void bothModesHoldAllInvariantsIfLogFilesAreStaged() {
        holds(new Model(Protocol.strict().staging(), 2, 2, 1, 2, 1), 90_000);
        holds(new Model(Protocol.strict().staging(), 2, 2, 2, 1), 30_000);
        holds(new Model(Protocol.strict().staging().onFiles(), 2, 1, 1, 2, 1), 40_000);
        holds(new Model(Protocol.strict().staging().onExecutors(), 2, 1, 1, 1, 1), 8_000);
        holds(new Model(Protocol.pipelined().staging(), 2, 1, 1, 2, 1), 100_000);
        holds(new Model(Protocol.pipelined().staging(), 2, 1, 2, 1), 60_000);
        holds(new Model(Protocol.pipelined().staging().onFiles(), 2, 1, 1, 1, 1), 40_000);
        holds(new Model(Protocol.pipelined().staging().onExecutors(), 2, 1, 1, 1, 1), 30_000);
    }

    @Test
    void ifLogFilesCanBeReplacedALateWriteChangesABatchThatTheSinkHas() {
        for (Protocol mode : MODES) {
            Protocol replacing = mode.without(Rule.CREATES_ONLY);
            violates(new Model(replacing, 2, 1, 1, 2, 1), Invariant.SINK_IS_EXACT, "in the sink");
        }
    }

    @Test
    void aSecondWriteThatDoesNotKnowTheFirstFailsTheQuery() {
        for (Protocol mode : MODES) {
            Protocol ignorant = mode.without(Rule.KNOWS_ITS_OWN);
            violates(
                    new Model(ignorant, 2, 1, 0, 1, 1),
                    Invariant.FAILS_FOR_A_REASON,
                    "no process has died");
        }
    }

    @Test
    void withoutUniqueNamesALateSecondWriteReplacesTheStateOfALaterAttempt() {
        Protocol same = Protocol.strict().onExecutors().without(Rule.HAS_UNIQUE_NAMES);
        violates(new Model(same, 1, 1, 1, 1, 1), Invariant.COMMITS_HAVE_THEIR_STATE, "commits/0");
    }

    @Test
    void ifStagedFilesAreSeenTheLogIsAheadOfItsState() {
        for (Protocol mode : MODES) {
            Protocol seen = mode.staging().without(Rule.HIDES_STAGED);
            violates(seen, Invariant.COMMITS_HAVE_THEIR_STATE, "commits/0");
            violates(seen, Invariant.RESTART_FINDS_ITS_STATE, "not there");
        }
    }

    @Test
    void ifHiddenNamesAreSharedTheFileOfADeadRunIsRenamed() {
        for (Protocol mode : MODES) {
            Protocol shared = mode.staging().without(Rule.HAS_UNIQUE_HIDDEN_NAMES);
            violates(new Model(shared, 2, 1, 1, 2, 1), Invariant.SINK_IS_EXACT, "in the sink");
            violates(
                    new Model(shared, 2, 1, 1, 1, 1),
                    Invariant.COMMITS_HAVE_THEIR_STATE,
                    "commits/");
        }
    }

    /** In the normal form, only for models that are small. */
    private static void holds(Model model, int worldsMin) {
        if (worldsMin > TestForm.MODEL_WORLDS_MAX) {
            return;
        }
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
