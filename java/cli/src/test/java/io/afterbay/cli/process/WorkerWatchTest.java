package io.afterbay.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.handover.WorkerStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(OS.WINDOWS)
class WorkerWatchTest {
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private final List<WorkerStatus> seen = new ArrayList<>();

    /** It goes on only while the worker is looked at. */
    private final AtomicLong now = new AtomicLong();

    private WorkerWatch.Outcome watch(String script, boolean stop) throws Exception {
        return WorkerWatch.watch(
                new ProcessBuilder("sh", "-c", script), PATIENCE, () -> stop, seen::add);
    }

    private WorkerWatch.Outcome watch(String script, Consumer<WorkerStatus> listener)
            throws Exception {
        return WorkerWatch.watch(
                new ProcessBuilder("sh", "-c", script),
                PATIENCE,
                () -> false,
                listener.andThen(seen::add),
                now::get);
    }

    private boolean isNew(WorkerStatus status) {
        return seen.isEmpty() || !seen.get(seen.size() - 1).equals(status);
    }

    @Test
    void aWorkerThatEndsHasItsExitCode() throws Exception {
        WorkerWatch.Outcome outcome = watch("exit 3", false);
        assertThat(outcome.end()).isEqualTo(WorkerWatch.End.ENDED);
        assertThat(outcome.exitCode()).isEqualTo(3);
    }

    @Test
    void aWorkerThatDoesNotMoveIsKilled() throws Exception {
        String script = "while :; do printf 'closed loop\\t7\\t9\\t1\\n'; sleep 0.1; done";
        WorkerWatch.Outcome outcome =
                watch(
                        script,
                        status -> now.addAndGet(status.events() == 7 ? PATIENCE.toNanos() : 0));
        assertThat(outcome.end()).isEqualTo(WorkerWatch.End.HUNG);
        assertThat(seen).last().isEqualTo(new WorkerStatus("closed loop", 7, 9, 1));
    }

    @Test
    void aWorkerThatMovesIsNotKilledHoweverSlowItIs() throws Exception {
        String script = "for i in 1 2 3 4 5; do printf \"a\\t$i\\t9\\t0\\n\"; sleep 0.4; done";
        WorkerWatch.Outcome outcome =
                watch(
                        script,
                        status -> now.addAndGet(isNew(status) ? PATIENCE.toNanos() * 2 / 3 : 0));
        assertThat(outcome.end()).isEqualTo(WorkerWatch.End.ENDED);
    }

    @Test
    void aWorkerThatIsNotWantedIsKilled() throws Exception {
        assertThat(watch("exec sleep 100", true).end()).isEqualTo(WorkerWatch.End.STOPPED);
    }
}
