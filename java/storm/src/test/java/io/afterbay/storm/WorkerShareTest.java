package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.task.WorkerTopologyContext;
import org.junit.jupiter.api.Test;

class WorkerShareTest {
    private static WorkerTopologyContext context(String topology, int port) {
        return context(topology, port, Map.of());
    }

    private static WorkerTopologyContext context(
            String topology, int port, Map<String, Object> resources) {
        return new WorkerTopologyContext(
                new StormTopology(),
                Map.of(),
                Map.of(),
                Map.of(),
                Map.of(),
                topology,
                "",
                "",
                port,
                List.of(),
                resources,
                Map.of());
    }

    @Test
    void aWorkerHasOneOfEachTopology() {
        WorkerShare share = WorkerShare.of(context("a", 1));
        assertThat(WorkerShare.of(context("a", 1))).isSameAs(share);
        assertThat(WorkerShare.of(context("a", 2))).isNotSameAs(share);
        assertThat(WorkerShare.of(context("b", 1))).isNotSameAs(share);
    }

    @Test
    void itIsForgottenWithTheLastTask() {
        WorkerTopologyContext worker = context("forgotten", 1);
        WorkerShare share = WorkerShare.of(worker);
        assertThat(WorkerShare.enter(worker)).isSameAs(share);
        assertThat(WorkerShare.enter(worker)).isSameAs(share);
        share.leave();
        assertThat(WorkerShare.of(worker)).isSameAs(share);
        share.leave();
        assertThat(WorkerShare.of(worker)).isNotSameAs(share);
    }

    /** Its groupings know tasks that are elsewhere now, and nobody has left what only they made. */
    @Test
    void aWorkerThatIsStartedAgainHasNothingOfTheOldOne() {
        ExecutorService pool = Executors.newCachedThreadPool();
        ExecutorService poolAgain = Executors.newCachedThreadPool();
        try {
            WorkerTopologyContext worker = context("started", 1, resources(pool));
            GlobalStreamId stream = new GlobalStreamId("words", "default");
            WorkerShare.of(worker)
                    .edge(stream, "parse", () -> FakeWorker.edge(Set.of(), List.of(1), false, 0.5));
            assertThat(WorkerShare.of(worker).edge("words", "default", "parse")).isNotNull();
            pool.shutdownNow();
            WorkerTopologyContext again = context("started", 1, resources(poolAgain));
            assertThat(WorkerShare.of(again).edge("words", "default", "parse")).isNull();
            assertThat(WorkerShare.isKnown(again)).isTrue();
            assertThat(WorkerShare.isKnown(worker)).as("the old one is forgotten").isFalse();
        } finally {
            pool.shutdownNow();
            poolAgain.shutdownNow();
        }
    }

    private static Map<String, Object> resources(ExecutorService pool) {
        return Map.of(WorkerTopologyContext.SHARED_EXECUTOR, pool);
    }

    /** Of a topology that is there again, under the same name and port. */
    @Test
    void whoLeavesAnOlderOneLeavesTheNewOneAlone() {
        WorkerTopologyContext worker = context("again", 1);
        WorkerShare before = WorkerShare.enter(worker);
        before.leave();
        WorkerShare share = WorkerShare.enter(worker);
        before.leave();
        assertThat(WorkerShare.of(worker)).isSameAs(share);
    }
}
