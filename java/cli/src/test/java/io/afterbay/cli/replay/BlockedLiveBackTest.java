package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.replay.SimulatedCluster.Ending;
import io.afterbay.cli.replay.SimulatedCluster.When;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.junit.jupiter.api.Test;

/** A live job that was started again after its replay, and with which state backend. */
class BlockedLiveBackTest extends BlockedReplay {
    /** What it did before the replay knew that it is back is not done twice. */
    @Test
    void aNewLiveJobThatHasFailedIsStartedAgainOnlyIfItIsStillAtTheSavepoint() throws Exception {
        for (int checkpoints : List.of(0, 3)) {
            String id = beginUntilTheLiveJobIsBack(checkpoints, true);
            cluster.jobs.get(id).state = "FAILED";
            assertStartedAgainOnlyWithoutCheckpoints(checkpoints, "is FAILED now", id);
        }
    }

    @Test
    void soItIsWithOneThatItsClusterHasForgotten() throws Exception {
        for (int checkpoints : List.of(0, 3)) {
            for (boolean saysTheirPlace : List.of(true, false)) {
                String id = beginUntilTheLiveJobIsBack(checkpoints, saysTheirPlace);
                cluster.restart();
                assertStartedAgainOnlyWithoutCheckpoints(
                        checkpoints, "is not known there any more", id);
            }
        }
    }

    /**
     * Nobody has noted it.
     *
     * @param saysTheirPlace whether the first live job has made a checkpoint before it was stopped,
     *     and not only the cluster says where they are
     * @return its identifier
     */
    private String beginUntilTheLiveJobIsBack(int checkpoints, boolean saysTheirPlace)
            throws Exception {
        int request = 1;
        do {
            begin(Ending.GOOD);
            if (saysTheirPlace) {
                cluster.checkpoint(SimulatedCluster.LIVE);
            }
            assertThat(dies(new Kill(request++, When.AFTER, 0), this::begins)).isTrue();
        } while (cluster.live().size() < 2);
        cluster.killAt(Integer.MAX_VALUE, When.BEFORE, 0);
        String id = opened().liveStop().orElseThrow().newJobId();
        for (int i = 0; i < checkpoints; i++) {
            cluster.checkpoint(id);
        }
        return id;
    }

    private void assertStartedAgainOnlyWithoutCheckpoints(int checkpoints, String is, String id)
            throws Exception {
        int before = cluster.live().size();
        if (checkpoints == 0) {
            resume();
            assertThat(cluster.liveAtWork()).hasSize(1);
            assertThat(cluster.live()).hasSize(before + 1);
            return;
        }
        assertThatThrownBy(() -> command((replay, live) -> live.bringBack()))
                .hasMessageContaining("has made checkpoints since then, and " + is)
                .hasMessageContaining(id + "/chk-4");
        assertThat(cluster.live()).hasSize(before);
        assertThat(opened().isLiveStopped()).isFalse();
    }

    @Test
    void everyBackendThatARunCanHaveIsKnownByWhatTheClusterCallsIt() throws Exception {
        for (Backend backend : Backend.KNOWN) {
            Configuration settings = new Configuration();
            backend.configure(settings);
            StateBackend made =
                    StateBackendLoader.loadStateBackendFromConfig(
                            settings, BlockedLiveBackTest.class.getClassLoader(), null);
            assertThat(Backend.named(BlockedLive.backend(made.getName())).type())
                    .isEqualTo(backend.type());
        }
        assertThat(BlockedLive.backend("null")).isNull();
        assertThatThrownBy(() -> BlockedLive.backend("OtherStateBackend"))
                .hasMessageContaining("OtherStateBackend")
                .hasMessageContaining("it was not stopped");
    }
}
