package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(OS.WINDOWS)
class WatchedWorkerTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    private final List<WorkerStatus> seen = new ArrayList<>();

    private WatchedWorker.Outcome watch(String script, Duration patience, boolean stop)
            throws Exception {
        return WatchedWorker.watch(
                new ProcessBuilder("sh", "-c", script), patience, () -> stop, seen::add);
    }

    @Test
    void aWorkerThatEndsHasItsExitCode() throws Exception {
        WatchedWorker.Outcome outcome = watch("exit 3", LONG, false);
        assertThat(outcome.end()).isEqualTo(WatchedWorker.End.ENDED);
        assertThat(outcome.exitCode()).isEqualTo(3);
    }

    @Test
    void aWorkerThatDoesNotMoveIsKilled() throws Exception {
        String script = "while :; do printf 'closed loop\\t7\\t9\\t1\\n'; sleep 0.1; done";
        WatchedWorker.Outcome outcome = watch(script, Duration.ofSeconds(4), false);
        assertThat(outcome.end()).isEqualTo(WatchedWorker.End.HUNG);
        assertThat(seen).last().isEqualTo(new WorkerStatus("closed loop", 7, 9, 1));
    }

    @Test
    void aWorkerThatMovesIsNotKilledHoweverSlowItIs() throws Exception {
        String script =
                "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf \"a\\t$i\\t9\\t0\\n\"; sleep 0.6; done";
        WatchedWorker.Outcome outcome = watch(script, Duration.ofSeconds(5), false);
        assertThat(outcome.end()).isEqualTo(WatchedWorker.End.ENDED);
    }

    @Test
    void aWorkerThatIsNotWantedIsKilled() throws Exception {
        assertThat(watch("exec sleep 100", LONG, true).end()).isEqualTo(WatchedWorker.End.STOPPED);
    }
}
