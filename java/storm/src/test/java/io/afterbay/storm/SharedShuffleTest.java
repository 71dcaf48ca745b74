package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.grouping.Load;
import org.apache.storm.grouping.LoadMapping;
import org.apache.storm.testing.TestWordCounter;
import org.apache.storm.testing.TestWordSpout;
import org.apache.storm.topology.BasicBoltExecutor;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.utils.Utils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which task of a shared bolt gets a tuple, of tasks 3 to 6. */
class SharedShuffleTest {
    private static final List<Integer> TASKS = List.of(3, 4, 5, 6);
    private static final List<Integer> HERE = List.of(3, 4);
    private static final int CHOICES = 4_000;

    /** Storm asks for loads this often before it has left a worker, or is back. */
    private static final int REFRESHES = 100;

    private final Map<String, Object> conf = Utils.readDefaultConfig();

    private static IRichBolt shared() {
        return StragglerPieces.shared(new BasicBoltExecutor(new TestWordCounter()));
    }

    private static StormTopology topology() {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setBolt(FakeWorker.BOLT, shared(), 4)
                .customGrouping("events", StragglerPieces.sharedShuffle());
        return builder.createTopology();
    }

    private FakeWorker worker() {
        FakeWorker worker = new FakeWorker(topology(), conf, TASKS);
        worker.place(HERE);
        return worker;
    }

    private static Map<Integer, Integer> choices(SharedShuffle shuffle, int... avoided) {
        return FakeWorker.choices(shuffle, CHOICES, avoided);
    }

    /** By turns, as Storm does it without load. */
    private SharedShuffle byTurns(FakeWorker worker, List<Integer> here) {
        conf.put(Config.TOPOLOGY_DISABLE_LOADAWARE_MESSAGING, true);
        return worker.prepared(new SharedShuffle(false, true), here);
    }

    @Test
    void theFirstTaskOfAWorkerGetsWhatItsTasksWouldGet() {
        FakeWorker worker = worker();
        SharedShuffle shuffle = byTurns(worker, HERE);
        assertThat(choices(shuffle)).isEqualTo(Map.of(3, CHOICES / 2, 5, CHOICES / 2));
        worker.place(List.of(5));
        assertThat(choices(shuffle))
                .as("placed anew")
                .isEqualTo(Map.of(3, CHOICES * 3 / 4, 5, CHOICES / 4));
    }

    @Test
    void aTaskOfWhichNobodyKnowsThePlaceGetsItsOwn() {
        SharedShuffle shuffle = byTurns(new FakeWorker(topology(), conf, TASKS), HERE);
        assertThat(choices(shuffle)).containsOnlyKeys(TASKS);
    }

    @Test
    void aLocalStreamStaysInTheWorker() {
        assertThat(choices(worker().prepared(new SharedShuffle(true, true), HERE)))
                .containsOnlyKeys(3);
    }

    @Test
    void aReplayGoesToAnotherTaskThanTheOriginal() {
        SharedShuffle shuffle = byTurns(worker(), HERE);
        assertThat(choices(shuffle, 3)).containsOnlyKeys(4, 5);
        assertThat(choices(shuffle, 5)).containsOnlyKeys(3, 6);
        SharedShuffle local = worker().prepared(new SharedShuffle(true, true), HERE);
        assertThat(choices(local, 3)).containsOnlyKeys(4);
    }

    /** Its queue is that of all, of which Storm sees the first one's only. */
    @Test
    void itLeavesTheWorkerWhenTheFirstTasksQueueIsFull() {
        SharedShuffle shuffle = worker().prepared(new SharedShuffle(false, true), HERE);
        refresh(shuffle, 0.1);
        assertThat(choices(shuffle)).containsOnlyKeys(3);
        refresh(shuffle, 0.9);
        assertThat(choices(shuffle)).containsOnlyKeys(5);
        refresh(shuffle, 0.1);
        assertThat(choices(shuffle)).containsOnlyKeys(3);
    }

    private static void refresh(SharedShuffle shuffle, double first) {
        LoadMapping loads = new LoadMapping();
        loads.setLocal(Map.of(3, first, 4, 0.0));
        loads.setRemote(Map.of(5, new Load(true, 0.1, 0), 6, new Load(true, 0, 0)));
        for (int i = 0; i < REFRESHES; i++) {
            shuffle.refreshLoad(loads);
        }
    }

    /** The wrapped bolt has no mark then, since the topology is built. */
    @Test
    void whoSeesTheWholeTopologyNeedNotCheck() {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("events", new TestWordSpout());
        builder.setBolt(FakeWorker.BOLT, new TestWordCounter(), 4).shuffleGrouping("events");
        StormTopology shared =
                Stragglers.on(
                        builder.createTopology(), StragglerSettings.none().shared(FakeWorker.BOLT));
        Grouping grouping =
                new Components(shared)
                        .inputs(FakeWorker.BOLT)
                        .get(new GlobalStreamId("events", Utils.DEFAULT_STREAM_ID));
        SharedShuffle shuffle =
                Utils.javaDeserialize(grouping.get_custom_serialized(), SharedShuffle.class);
        FakeWorker worker = new FakeWorker(shared, conf, TASKS);
        worker.place(HERE);
        assertThat(choices(worker.prepared(shuffle, HERE))).containsOnlyKeys(3);
    }

    @ParameterizedTest
    @CsvSource({"3, false", "4, true", "5, false", "6, true"})
    void allButTheFirstTaskOfAWorkerAreSpared(int task, boolean isSpared) {
        List<Integer> here = HERE.contains(task) ? HERE : List.of(5, 6);
        assertThat(SharedShuffle.isSpared(among(topology(), here, task))).isEqualTo(isSpared);
    }

    @Test
    void nobodyIsSparedWhereAStreamComesByStormsShuffle() {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setBolt(FakeWorker.BOLT, shared(), 4)
                .customGrouping("events", StragglerPieces.sharedShuffle())
                .shuffleGrouping("others");
        StormTopology topology = builder.createTopology();
        assertThat(SharedShuffle.isSpared(among(topology, HERE, 4))).isFalse();
    }

    private static FakeTask among(StormTopology topology, List<Integer> here, int task) {
        return FakeTask.among(topology, FakeWorker.BOLT, TASKS, here, task);
    }
}
