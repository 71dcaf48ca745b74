package io.afterbay.storm;

import static io.afterbay.storm.StragglerPieces.balanced;
import static io.afterbay.storm.StragglerPieces.replayLocalOrShuffle;
import static io.afterbay.storm.StragglerPieces.replayShuffle;
import static io.afterbay.storm.StragglerPieces.replayed;
import static io.afterbay.storm.StragglerPieces.shared;
import static io.afterbay.storm.StragglerPieces.sharedLocalOrShuffle;
import static io.afterbay.storm.StragglerPieces.sharedShuffle;
import static io.afterbay.storm.StragglerPieces.timed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.storm.Config;
import org.apache.storm.daemon.StormCommon;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.grouping.CustomStreamGrouping;
import org.apache.storm.spout.CheckpointSpout;
import org.apache.storm.spout.ISpoutOutputCollector;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.state.KeyValueState;
import org.apache.storm.task.IOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.testing.TestWordCounter;
import org.apache.storm.testing.TestWordSpout;
import org.apache.storm.topology.BasicBoltExecutor;
import org.apache.storm.topology.BasicOutputCollector;
import org.apache.storm.topology.BoltDeclarer;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.StatefulBoltExecutor;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.WindowedBoltExecutor;
import org.apache.storm.topology.base.BaseBasicBolt;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.topology.base.BaseStatefulBolt;
import org.apache.storm.topology.base.BaseWindowedBolt;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.utils.Utils;
import org.apache.storm.windowing.TupleWindow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pieces that are put into a topology by hand: what they refuse, and when. */
class StragglerPiecesTest {
    private static final int TASK = 1;

    private final TopologyBuilder builder = new TopologyBuilder();

    private static class Parse extends BaseRichBolt {
        private static final long serialVersionUID = 1;

        @Override
        public void prepare(
                Map<String, Object> conf, TopologyContext context, OutputCollector collector) {}

        @Override
        public void execute(Tuple input) {}

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(new Fields("word"));
            declarer.declareStream("direct", true, new Fields("word"));
        }
    }

    private static final class Store extends Parse {}

    private static final class Events extends TestWordSpout {
        /** What was told last. */
        private static Object limit;

        private final Integer pendingMax;

        Events() {
            this(null);
        }

        Events(Integer pendingMax) {
            super(false);
            this.pendingMax = pendingMax;
        }

        @Override
        public void open(
                Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
            limit = conf.get(Config.TOPOLOGY_MAX_SPOUT_PENDING);
        }

        @Override
        public Map<String, Object> getComponentConfiguration() {
            return pendingMax == null
                    ? null
                    : Map.of(Config.TOPOLOGY_MAX_SPOUT_PENDING, pendingMax);
        }
    }

    private static final class Counts extends BaseStatefulBolt<KeyValueState<String, Long>> {
        @Override
        public void initState(KeyValueState<String, Long> state) {}

        @Override
        public void execute(Tuple input) {}
    }

    private static final class Window extends BaseWindowedBolt {
        @Override
        public void execute(TupleWindow window) {}
    }

    /** Of the one topology, what Storm would hand to a worker with one task of the component. */
    private static FakeTask task(StormTopology topology, String component) {
        Map<Integer, String> components = new HashMap<>();
        components.put(TASK, component);
        Stream.concat(
                        topology.get_bolts().keySet().stream(),
                        topology.get_spouts().keySet().stream())
                .filter(other -> !other.equals(component))
                .forEach(other -> components.put(components.size() + TASK, other));
        return new FakeTask(topology, "pieces-" + System.nanoTime(), components, TASK);
    }

    private static Serializable deserialized(byte[] bytes) {
        return Utils.javaDeserialize(bytes, Serializable.class);
    }

    /** Storm starts a task of a bolt, and ends it. */
    private void start(String bolt) {
        StormTopology topology = builder.createTopology();
        IRichBolt object =
                (IRichBolt)
                        deserialized(
                                topology.get_bolts()
                                        .get(bolt)
                                        .get_bolt_object()
                                        .get_serialized_java());
        try {
            object.prepare(Map.of(), task(topology, bolt), new OutputCollector(nobody()));
        } finally {
            object.cleanup();
        }
    }

    private static IOutputCollector nobody() {
        return (IOutputCollector)
                Proxy.newProxyInstance(
                        StragglerPiecesTest.class.getClassLoader(),
                        new Class<?>[] {IOutputCollector.class},
                        (proxy, method, arguments) -> null);
    }

    /** The same of a spout. */
    private FakeTask open(String spout) {
        StormTopology topology = builder.createTopology();
        IRichSpout object =
                (IRichSpout)
                        deserialized(
                                topology.get_spouts()
                                        .get(spout)
                                        .get_spout_object()
                                        .get_serialized_java());
        FakeTask task = task(topology, spout);
        ISpoutOutputCollector storm = new FakeStorm();
        try {
            object.open(
                    StormCommon.componentConf(topology.get_spouts().get(spout)),
                    task,
                    new SpoutOutputCollector(storm));
        } finally {
            object.close();
        }
        return task;
    }

    /** Storm prepares the grouping of a stream, in a worker of a task of its source. */
    private BalanceKind prepareGrouping(String source, String bolt) {
        StormTopology topology = builder.createTopology();
        GlobalStreamId stream = new GlobalStreamId(source, Utils.DEFAULT_STREAM_ID);
        CustomStreamGrouping grouping =
                (CustomStreamGrouping)
                        deserialized(
                                topology.get_bolts()
                                        .get(bolt)
                                        .get_common()
                                        .get_inputs()
                                        .get(stream)
                                        .get_custom_serialized());
        FakeTask task = task(topology, source);
        grouping.prepare(task, stream, task.getComponentTasks(bolt));
        Edge edge = WorkerShare.of(task).edge(source, Utils.DEFAULT_STREAM_ID, bolt);
        edge.acked(task.getComponentTasks(bolt).get(0), 1);
        return edge.kind();
    }

    /** The code in docs/stragglers.md. */
    private void example() {
        // begin
        builder.setSpout("events", balanced(replayed(new Events())));
        builder.setBolt("parse", balanced(timed(new Parse())), 5)
                .customGrouping("events", new BalancedGrouping());
        builder.setBolt("store", shared(timed(new Store())), 5)
                .customGrouping("parse", sharedShuffle());
        // end
    }

    @Test
    void theGuidesExampleIsThisOneAndStarts() throws Exception {
        String source =
                Files.readString(
                        Path.of("src/test/java/io/afterbay/storm/StragglerPiecesTest.java"));
        String code = source.substring(source.indexOf("// begin\n") + 9, source.indexOf("// end"));
        assertThat(Files.readString(Path.of("../../docs/stragglers.md")))
                .contains("```java\n" + code.stripIndent().strip() + "\n```");
        example();
        open("events");
        start("parse");
        start("store");
        assertThat(prepareGrouping("events", "parse")).isEqualTo(BalanceKind.ACKS);
    }

    @Test
    void aBoltHasOneTechniqueAndIsTimedWithinIt() {
        for (IRichBolt wrapped : List.of(shared(new Parse()), balanced(timed(new Parse())))) {
            String technique = wrapped instanceof SharedBolt ? "shared" : "balanced";
            for (Runnable again :
                    List.<Runnable>of(
                            () -> shared(wrapped), () -> balanced(wrapped), () -> timed(wrapped))) {
                assertThatThrownBy(again::run)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("$Parse is " + technique + " already");
            }
        }
        assertThatThrownBy(() -> timed(timed(new Parse()))).hasMessageContaining("timed already");
        builder.setSpout("events", new Events());
        builder.setBolt("parse", shared(new Parse())).shuffleGrouping("events");
        assertThatThrownBy(
                        () ->
                                Stragglers.on(
                                        builder.createTopology(),
                                        StragglerSettings.none().shared("parse")))
                .hasMessageContaining("bolt 'parse' is shared already");
    }

    @Test
    void whatHasStateIsNotShared() {
        IRichBolt stateful = new StatefulBoltExecutor<>(new Counts());
        IRichBolt windowed = new WindowedBoltExecutor(new Window());
        assertThatThrownBy(() -> shared(stateful)).hasMessageContaining("Executor is stateful");
        assertThatThrownBy(() -> shared(timed(windowed)))
                .hasMessageContaining("WindowedBoltExecutor is windowed")
                .hasMessageContaining("do not share it");
        // Storm would take it for stateless.
        assertThatThrownBy(() -> balanced(stateful)).hasMessageContaining("to Stragglers.on");
        assertThatThrownBy(() -> timed(stateful)).hasMessageContaining("to Stragglers.on");
        assertThatThrownBy(() -> shared(new Parse(), 0)).hasMessageContaining("from 1 to");
    }

    @Test
    void aSpoutIsReplayedOnceAndBalancedAfterThat() {
        assertThatThrownBy(() -> replayed(replayed(new Events())))
                .hasMessageContaining("$Events is replayed already");
        for (Runnable again :
                List.<Runnable>of(
                        () -> replayed(balanced(new Events())),
                        () -> balanced(balanced(new Events())))) {
            assertThatThrownBy(again::run).hasMessageContaining("balanced(replayed(spout))");
        }
        assertThatThrownBy(() -> replayed(new CheckpointSpout()))
                .hasMessageContaining("CheckpointSpout is Storm's own");
        assertThatThrownBy(() -> replayed(new Events(), StragglerSettings.none().shared("parse")))
                .hasMessageContaining("name no components");
    }

    private BoltDeclarer storeBehindParse(IRichBolt bolt) {
        builder.setSpout("events", new Events());
        builder.setBolt("parse", new Parse()).shuffleGrouping("events");
        return builder.setBolt("store", bolt);
    }

    @ParameterizedTest
    @ValueSource(strings = {"fields", "all", "direct", "custom"})
    void aSharedBoltWhoseStreamNamesTheTaskDoesNotStart(String grouping) {
        BoltDeclarer store = storeBehindParse(shared(new Store()));
        store.shuffleGrouping("events");
        switch (grouping) {
            case "fields" -> store.fieldsGrouping("parse", new Fields("word"));
            case "all" -> store.allGrouping("parse");
            case "direct" -> store.directGrouping("parse", "direct");
            default -> store.partialKeyGrouping("parse", new Fields("word"));
        }
        assertThatThrownBy(() -> start("store"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bolt 'store' gets stream '")
                .hasMessageContaining("of 'parse' by " + grouping);
    }

    /** Thrift has it as a fields grouping without fields. */
    @Test
    void neitherDoesOneWithAGlobalGrouping() {
        storeBehindParse(shared(new Store())).globalGrouping("parse");
        assertThatThrownBy(() -> start("store")).hasMessageContaining("names the task");
    }

    @Test
    void aSharedBoltStartsBehindShufflesOfAllKinds() {
        storeBehindParse(shared(new BasicBoltExecutor(new TestBasic())))
                .localOrShuffleGrouping("parse")
                .customGrouping("events", replayShuffle());
        start("store");
    }

    @Test
    void aShuffleForSharedBoltsNeedsOne() {
        storeBehindParse(new Store()).customGrouping("parse", sharedLocalOrShuffle());
        assertThatThrownBy(() -> prepareGrouping("parse", "store"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bolt 'store' gets stream 'default' of 'parse'")
                .hasMessageContaining("wrap it by StragglerPieces.shared");
    }

    private static final class TestBasic extends BaseBasicBolt {
        @Override
        public void execute(Tuple input, BasicOutputCollector collector) {}

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {}
    }

    /** Storm puts a bolt of its own around each one then, which acks. */
    @Test
    void aSharedBoltInATopologyWithAStatefulOneDoesNotStart() {
        storeBehindParse(shared(new Store())).shuffleGrouping("parse");
        builder.setBolt("counts", new Counts()).shuffleGrouping("parse");
        assertThatThrownBy(() -> start("store"))
                .hasMessageContaining("bolt 'store' is in a topology with a stateful bolt");
    }

    @Test
    void aBalancedBoltNeedsTheGrouping() {
        storeBehindParse(balanced(new Store())).shuffleGrouping("parse");
        assertThatThrownBy(() -> start("store"))
                .hasMessageContaining("bolt 'store' is balanced, but gets nothing by Balanced")
                .hasMessageContaining("new BalancedGrouping()");
    }

    @Test
    void aBalancedSpoutNeedsTheGroupingToo() {
        builder.setSpout("events", balanced(new Events()));
        builder.setBolt("parse", new Parse()).shuffleGrouping("events");
        assertThatThrownBy(() -> open("events"))
                .hasMessageContaining("spout 'events' is balanced, but nobody gets its tuples");
    }

    @Test
    void theGroupingNeedsABalancedBolt() {
        storeBehindParse(new Store())
                .customGrouping("parse", BalancedGrouping.local())
                .customGrouping("events", new BalancedGrouping());
        for (String source : List.of("parse", "events")) {
            assertThatThrownBy(() -> prepareGrouping(source, "store"))
                    .hasMessageContaining("bolt 'store' gets stream 'default' of '" + source + "'")
                    .hasMessageContaining("wrap it by StragglerPieces.balanced");
        }
    }

    /** The tasks are in another worker. */
    @Test
    void aSpoutThatDoesNotTellOfAcksSendsAsStormDoes() {
        storeBehindParse(balanced(new Store()))
                .customGrouping("parse", new BalancedGrouping())
                .customGrouping("events", new BalancedGrouping());
        start("store");
        assertThat(prepareGrouping("events", "store")).isEqualTo(BalanceKind.STORM);
        assertThat(prepareGrouping("parse", "store")).isEqualTo(BalanceKind.STORM);
    }

    @Test
    void acksTellWhateverStormPutsAroundTheBolt() {
        builder.setSpout("events", balanced(new Events()));
        builder.setBolt("parse", balanced(new Parse()))
                .customGrouping("events", new BalancedGrouping());
        builder.setBolt("counts", new Counts()).shuffleGrouping("parse");
        assertThat(prepareGrouping("events", "parse")).isEqualTo(BalanceKind.ACKS);
    }

    /** It would take the grouping for a wish that names the task, and balance the rest. */
    @Test
    void whatIsBalancedByHandIsNotBalancedAgain() {
        storeBehindParse(new Store())
                .shuffleGrouping("parse")
                .customGrouping("events", new BalancedGrouping());
        assertThatThrownBy(
                        () ->
                                Stragglers.on(
                                        builder.createTopology(),
                                        StragglerSettings.none().balanced("store")))
                .hasMessageContaining("stream 'default' of 'events' by BalancedGrouping already");
    }

    @Test
    void whatIsSharedByHandIsNotSharedAgain() {
        storeBehindParse(new Store())
                .shuffleGrouping("parse")
                .customGrouping("events", sharedShuffle());
        assertThatThrownBy(
                        () ->
                                Stragglers.on(
                                        builder.createTopology(),
                                        StragglerSettings.none().shared("store")))
                .hasMessageContaining("bolt 'store' gets stream 'default' of 'events' by a shuffle")
                .hasMessageContaining("leave it out of shared()");
    }

    @Test
    void aReplayedSpoutNeedsTimedBoltsOnTheWholeWay() {
        builder.setSpout("events", replayed(new Events()));
        builder.setBolt("parse", timed(new Parse())).customGrouping("events", replayShuffle());
        builder.setBolt("store", new Store()).shuffleGrouping("parse");
        assertThatThrownBy(() -> open("events"))
                .hasMessageContaining("spout 'events' is replayed, but bolt 'store'")
                .hasMessageContaining("wrap it by StragglerPieces.timed");
    }

    @Test
    void itNeedsAShuffleThatGoesAroundTheOriginal() {
        builder.setSpout("events", replayed(new Events()));
        builder.setBolt("parse", timed(new Parse())).shuffleGrouping("events");
        assertThatThrownBy(() -> open("events"))
                .hasMessageContaining("bolt 'parse' gets stream 'default' of 'events' by shuffle")
                .hasMessageContaining("StragglerPieces.replayShuffle()");
    }

    @Test
    void stormMustNotLimitItsTuples() {
        builder.setSpout("events", replayed(new Events(70))).setMaxSpoutPending(50);
        replayedWay();
        assertThatThrownBy(() -> open("events"))
                .hasMessageContaining("spout 'events': topology.max.spout.pending is 50")
                .hasMessageContaining("do not call setMaxSpoutPending");
    }

    private void replayedWay() {
        builder.setBolt("parse", timed(new Parse()))
                .customGrouping("events", replayLocalOrShuffle());
        builder.setBolt("store", shared(timed(new Store()))).shuffleGrouping("parse");
        builder.setBolt("keys", timed(new Store())).fieldsGrouping("events", new Fields("word"));
    }

    /** With the way as it should be; a worker sees Storm's own bolts, too. */
    @Test
    void aReplayedSpoutStartsAndKeepsItsOwnLimit() {
        builder.setSpout("events", replayed(new Events(70)));
        replayedWay();
        builder.setBolt("__metrics", new TestWordCounter()).shuffleGrouping("events");
        FakeTask task = open("events");
        assertThat(task.gauge("afterbay-replay-sent")).isEqualTo(0L);
        Map<String, Object> conf =
                StormCommon.componentConf(builder.createTopology().get_spouts().get("events"));
        assertThat(conf).containsEntry(Config.TOPOLOGY_MAX_SPOUT_PENDING, 0);
        assertThat(Events.limit).isEqualTo(70);
    }
}
