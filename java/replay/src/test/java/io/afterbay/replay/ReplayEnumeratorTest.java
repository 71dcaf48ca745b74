package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Collection;
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
    private static final String REPLAY = "r1 of " + RANGE;
    private static final String JOB = "0123456789abcdef0123456789abcdef";
    private static final String OTHER_JOB = "ffffffffffffffffffffffffffffffff";

    @TempDir private Path directory;
    private ReplayControl control;
    private long nanos;
    private long records;
    private final NumberSequenceSource source = new NumberSequenceSource(0, 99);
    private final RecordingContext<ReplaySplit<NumberSequenceSplit>> context =
            new RecordingContext<>();
    private ReplayEnumerator<NumberSequenceSplit, Collection<NumberSequenceSplit>> enumerator;

    @BeforeEach
    void create() throws Exception {
        control = new ReplayControl(directory.toUri());
        control.setRate(70);
        enumerator = of(REPLAY, ReplayEnumeratorState.anew());
    }

    private ReplayEnumerator<NumberSequenceSplit, Collection<NumberSequenceSplit>> of(
            String replay, ReplayEnumeratorState<Collection<NumberSequenceSplit>> state) {
        return new ReplayEnumerator<>(
                source.createEnumerator(new SplitContext<>(context)),
                context,
                state,
                RANGE,
                new SourceControl(directory.toUri(), replay, JOB, 0, 1, RANGE.fromMs(), "numbers"),
                () -> nanos);
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

    /** Neither a pause nor another rate before it says how fast the replay is now. */
    @Test
    void whatComesPerSecondIsMeasuredSinceTheRateWasChanged() throws Exception {
        enumerator.start();
        register();
        for (int half = 0; half < 20; half++) {
            passHalfASecond(35);
        }
        assertThat(perSecond()).isEqualTo(70);
        control.setRate(0);
        passHalfASecond(5);
        for (int half = 0; half < 3; half++) {
            passHalfASecond(0);
            assertThat(perSecond()).isZero();
        }
        control.setRate(700);
        passHalfASecond(0);
        for (int half = 0; half < 20; half++) {
            passHalfASecond(350);
            assertThat(perSecond()).isEqualTo(700);
        }
    }

    private void passHalfASecond(int more) {
        nanos += 500_000_000;
        records += more;
        enumerator.handleSourceEvent(
                0, new CountEvent(Map.of("a", records), records / 100, true, false));
        context.periodic.run();
    }

    /** As it is told with the next look at the rate. */
    private double perSecond() throws Exception {
        context.periodic.run();
        return control.progress().orElseThrow().recordsPerSecond();
    }

    @Test
    void aJobThatComesAfterTheCancelLetsNothingPass() throws Exception {
        control.give(ReplayOrders.cancelled());
        assertThatThrownBy(() -> enumerator.start())
                .isInstanceOf(ReplayOverException.class)
                .hasMessageContaining(REPLAY)
                .hasMessageContaining("was cancelled before this job");
        register();
        assertThat(context.sent).isEmpty();
    }

    /** Whoever has cancelled it ends the job, which is no failure then. */
    @Test
    void aJobAtWorkStandsStillWhenItsReplayIsCancelled() throws Exception {
        enumerator.start();
        register();
        control.give(ReplayOrders.cancelled());
        context.periodic.run();
        assertThat(context.sent).isEqualTo(List.of(new PaceEvent(70), new PaceEvent(0)));
    }

    @Test
    void onlyTheJobThatIsNamedDoesTheReplay() throws Exception {
        control.give(new ReplayOrders(50, JOB, false));
        enumerator.start();
        register();
        assertThat(context.sent).isEqualTo(List.of(new PaceEvent(50)));

        control.give(new ReplayOrders(50, OTHER_JOB, false));
        assertThatThrownBy(() -> context.periodic.run())
                .isInstanceOf(ReplayOverException.class)
                .hasMessageContaining("is done by job " + OTHER_JOB)
                .hasMessageContaining("not by this one, " + JOB);
        enumerator = of(REPLAY, ReplayEnumeratorState.anew());
        assertThatThrownBy(() -> enumerator.start()).isInstanceOf(ReplayOverException.class);
        assertThat(context.sent).hasSize(1);
    }

    @Test
    void aCheckpointKnowsWhichReplayHasWrittenIt() throws Exception {
        var states =
                new ReplayEnumeratorStateSerializer<>(source.getEnumeratorCheckpointSerializer());
        assertThat(states.deserialize(Versions.NEWEST, states.serialize(anew())).replay()).isNull();
        enumerator.start();
        var state =
                states.deserialize(Versions.NEWEST, states.serialize(enumerator.snapshotState(1)));
        assertThat(state.replay()).isEqualTo(REPLAY);

        String other = "r2 of " + RANGE;
        enumerator = of(other, state);
        assertThatThrownBy(() -> enumerator.start())
                .isInstanceOf(ReplayImpossibleException.class)
                .hasMessageContaining("replay " + other + " begins with")
                .hasMessageContaining("one of replay " + REPLAY);
        enumerator = of(REPLAY, state);
        enumerator.start();
        register();
        assertThat(context.sent).isEqualTo(List.of(new PaceEvent(70)));
    }

    private static ReplayEnumeratorState<Collection<NumberSequenceSplit>> anew() {
        return ReplayEnumeratorState.anew();
    }
}
