package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.grouping.CustomStreamGrouping;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.utils.Utils;
import org.junit.jupiter.api.Test;

/** Storm's shuffle, around the task that has the original. */
class AvoidingShuffleTest {
    private static final List<Integer> TASKS = List.of(3, 4, 5, 6);
    private static final int CHOICES = 4_000;

    private final Map<String, Object> conf = Utils.readDefaultConfig();

    /** In a worker with these tasks. */
    private <T extends CustomStreamGrouping> T prepared(T grouping, Integer... here) {
        FakeWorker worker = new FakeWorker(new TopologyBuilder().createTopology(), conf, TASKS);
        worker.place(List.of(here));
        return worker.prepared(grouping, List.of(here));
    }

    private static Map<Integer, Integer> choices(CustomStreamGrouping grouping, int... avoided) {
        return FakeWorker.choices(grouping, CHOICES, avoided);
    }

    @Test
    void withoutAnOriginalAllTasksHaveTheirShare() {
        AvoidingShuffle grouping = prepared(new AvoidingShuffle(false), 3, 4, 5, 6);
        assertThat(choices(grouping)).containsOnlyKeys(TASKS);
        assertThat(choices(grouping, 99).values()).allMatch(count -> count > CHOICES / 8);
    }

    @Test
    void aReplayGoesToAnyOtherTask() {
        AvoidingShuffle grouping = prepared(new AvoidingShuffle(false), 3, 4, 5, 6);
        assertThat(choices(grouping, 99, 4)).containsOnlyKeys(3, 5, 6);
        assertThat(choices(grouping)).as("and the next ones to all").containsOnlyKeys(TASKS);
    }

    @Test
    void localTuplesStayInTheWorkerButForAReplayWithoutAnotherTask() {
        AvoidingShuffle two = prepared(new AvoidingShuffle(true), 3, 4);
        assertThat(choices(two)).containsOnlyKeys(3, 4);
        assertThat(choices(two, 4)).containsOnlyKeys(3);
        AvoidingShuffle one = prepared(new AvoidingShuffle(true), 3);
        assertThat(choices(one)).containsOnlyKeys(3);
        assertThat(choices(one, 3)).containsOnlyKeys(4, 5, 6);
        AvoidingShuffle none = prepared(new AvoidingShuffle(true));
        assertThat(choices(none).keySet()).isEqualTo(new HashSet<>(TASKS));
    }

    @Test
    void stormsPlainShuffleStaysPlain() {
        conf.put(Config.TOPOLOGY_DISABLE_LOADAWARE_MESSAGING, true);
        AvoidingShuffle grouping = prepared(new AvoidingShuffle(false), 3);
        assertThat(choices(grouping).values()).allMatch(count -> count == CHOICES / TASKS.size());
        assertThat(choices(grouping, 5)).containsOnlyKeys(3, 4, 6);
        AvoidingShuffle local = prepared(new AvoidingShuffle(true), 3, 4);
        assertThat(choices(local)).containsOnlyKeys(3, 4);
        assertThat(choices(local, 3)).containsOnlyKeys(4);
    }

    @Test
    void aBalancedStreamGoesAroundTheTaskToo() {
        assertThat(choices(prepared(new BalancedGrouping(false, false), 3, 4, 5, 6), 5))
                .containsOnlyKeys(3, 4, 6);
        assertThat(choices(prepared(new BalancedGrouping(false, false), 3), 5))
                .as("as shuffle, of several workers")
                .doesNotContainKey(5);
        assertThat(choices(prepared(new BalancedGrouping(true, false), 3), 3))
                .as("so is that of a local one")
                .containsOnlyKeys(4, 5, 6);
        assertThat(choices(prepared(new BalancedGrouping(false, false), 3), 3))
                .as("to another worker, since the only task here has the original")
                .doesNotContainKey(3);
    }

    /** Storm tells nobody then how full queues are. */
    @Test
    void aBalancedStreamWithoutLoadIsStormsPlainShuffleAcrossWorkers() {
        conf.put(Config.TOPOLOGY_DISABLE_LOADAWARE_MESSAGING, true);
        assertThat(choices(prepared(new BalancedGrouping(false, false), 3)).values())
                .hasSize(TASKS.size())
                .allMatch(count -> count == CHOICES / TASKS.size());
        assertThat(choices(prepared(new BalancedGrouping(false, false), 3, 4, 5, 6)))
                .containsOnlyKeys(3, 4, 5, 6);
    }
}
