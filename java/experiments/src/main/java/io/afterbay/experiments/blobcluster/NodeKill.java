package io.afterbay.experiments.blobcluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node is killed with -9 while clients put and get at the other ones, and comes back. When
 * nothing is missing any more, every object is read where only the copies of that node are, and
 * once more when another node has lost its disk and has filled it again.
 *
 * @param load of the run
 */
record NodeKill(ClusterPlan plan, ClusterNodes nodes, ClusterLoad load) {
    /** Clients are at these nodes. */
    private static final List<Integer> FRONTENDS = List.of(1, 2);

    private static final int VICTIM = 3;

    /** Loses its disk afterwards. */
    private static final int LOSER = 1;

    private static final String CALM = "calm";
    private static final String AWAY = "away";
    private static final String BACK = "back";

    private record Loaded(JsonNode figures, ClusterStatus status, double wholeAfterMs) {}

    /** Carries it out. */
    ClusterTrial run() throws CommandFailure, IOException, InterruptedException {
        Loaded loaded = loaded();
        // Where each node has a copy, what it has itself is looked at; else all of them together.
        boolean isEachWhole = plan.variant().copies() == ClusterNodes.COUNT;
        if (isEachWhole) {
            nodes.killOthers(VICTIM);
        }
        ClusterLoad.Verified verified = load.verify();
        long onLostDiskOnly = load.in(nodes.onlyOn(LOSER));
        nodes.kill(LOSER);
        nodes.loseDisk(LOSER);
        nodes.startOthers();
        ClusterStatus filled = nodes.awaitWhole();
        if (isEachWhole) {
            nodes.killOthers(LOSER);
        }
        verified = verified.plus(load.verify());
        return trial(loaded, filled, verified, onLostDiskOnly);
    }

    private Loaded loaded() throws CommandFailure, IOException, InterruptedException {
        Duration phase = Duration.ofMillis(plan.setting().phaseMs());
        long requests = plan.times().phaseRequests();
        try (OpenLoad open = load.open(FRONTENDS)) {
            open.await(Duration.ofMillis(plan.times().warmUpMs()), requests);
            open.phase(CALM);
            open.await(phase, requests);
            open.phase(AWAY);
            nodes.kill(VICTIM);
            open.await(phase, requests);
            if (plan.variant().isControl()) {
                open.awaitErrors();
            }
            open.phase(BACK);
            nodes.start(VICTIM);
            long ready = System.nanoTime();
            open.await(phase, requests);
            JsonNode figures = open.end();
            ClusterStatus status = nodes.awaitWhole();
            return new Loaded(figures, status, (System.nanoTime() - ready) / 1e6);
        }
    }

    private ClusterTrial trial(
            Loaded loaded,
            ClusterStatus filled,
            ClusterLoad.Verified verified,
            long onLostDiskOnly) {
        JsonNode figures = loaded.figures;
        ClusterTrial.Outcome outcome =
                new ClusterTrial.Outcome(
                        null,
                        figures.get("errors").asLong(),
                        verified.right(),
                        verified.wrong() + figures.get("wrong").asLong(),
                        verified.lost());
        JsonNode calm = phase(figures, CALM);
        JsonNode away = phase(figures, AWAY);
        JsonNode back = phase(figures, BACK);
        return plan.trial()
                .with(
                        outcome,
                        new ClusterTrial.Kill(
                                calm.get("requests").asLong(),
                                away.get("requests").asLong(),
                                back.get("requests").asLong(),
                                ClusterWorker.millis(calm, "p50_us"),
                                ClusterWorker.millis(calm, "p99_us"),
                                ClusterWorker.millis(away, "p99_us"),
                                ClusterWorker.millis(away, "max_us"),
                                ClusterWorker.millis(back, "p99_us"),
                                ClusterWorker.millis(back, "max_us"),
                                loaded.status.whole() ? loaded.wholeAfterMs : null,
                                loaded.status.whole() && filled.whole(),
                                mostLag(loaded.status, filled),
                                Math.max(
                                        loaded.status.underReplicatedBytes(),
                                        filled.underReplicatedBytes()),
                                onLostDiskOnly));
    }

    private static JsonNode phase(JsonNode figures, String name) {
        for (JsonNode phase : figures.get("phases")) {
            if (phase.get("name").asText().equals(name)) {
                return phase;
            }
        }
        throw new IllegalStateException("the load has no figures of the phase " + name);
    }

    private static @Nullable Long mostLag(ClusterStatus one, ClusterStatus other) {
        Long lag = one.lag();
        Long otherLag = other.lag();
        return lag == null || otherLag == null ? null : Long.valueOf(Math.max(lag, otherLag));
    }
}
