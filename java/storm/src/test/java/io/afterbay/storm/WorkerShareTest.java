package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.task.WorkerTopologyContext;
import org.junit.jupiter.api.Test;

class WorkerShareTest {
    private static WorkerTopologyContext context(String topology, int port) {
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
                Map.of(),
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
