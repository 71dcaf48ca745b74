package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.ICredentialsListener;
import org.apache.storm.daemon.StormCommon;
import org.apache.storm.generated.Bolt;
import org.apache.storm.generated.ComponentObject;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.ShellComponent;
import org.apache.storm.generated.SpoutSpec;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.spout.CheckpointSpout;
import org.apache.storm.state.KeyValueState;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.BasicOutputCollector;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.base.BaseBasicBolt;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.topology.base.BaseStatefulBolt;
import org.apache.storm.topology.base.BaseWindowedBolt;
import org.apache.storm.trident.TridentTopology;
import org.apache.storm.trident.operation.builtin.Debug;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.utils.Utils;
import org.apache.storm.windowing.TupleWindow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is wrapped at submission, and what is refused. */
class StragglersTest {
    private static final StragglerSettings NONE = StragglerSettings.none();

    private final TopologyBuilder builder = new TopologyBuilder();

    private static final class Pass extends BaseBasicBolt {
        @Override
        public void execute(Tuple input, BasicOutputCollector collector) {
            collector.emit(input.getValues());
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(new Fields("word"));
        }
    }

    private static final class Window extends BaseWindowedBolt {
        @Override
        public void execute(TupleWindow window) {}
    }

    StragglersTest() {
        builder.setSpout("word", new org.apache.storm.testing.TestWordSpout(false), 1);
        builder.setBolt("first", new Pass(), 3).shuffleGrouping("word");
        builder.setBolt("second", new Pass(), 3).localOrShuffleGrouping("first");
        builder.setBolt("count", new Pass(), 2).fieldsGrouping("second", new Fields("word"));
        builder.setBolt("both", new Pass(), 2).shuffleGrouping("first").allGrouping("second");
    }

    private static Object object(StormTopology topology, String bolt) {
        return Utils.javaDeserialize(
                topology.get_bolts().get(bolt).get_bolt_object().get_serialized_java(),
                java.io.Serializable.class);
    }

    private static Object spout(StormTopology topology) {
        return Utils.javaDeserialize(
                topology.get_spouts().get("word").get_spout_object().get_serialized_java(),
                java.io.Serializable.class);
    }

    private static Object grouping(StormTopology topology, String bolt, String source) {
        return Utils.javaDeserialize(
                input(topology, bolt, source).get_custom_serialized(), java.io.Serializable.class);
    }

    private static Grouping input(StormTopology topology, String bolt, String source) {
        Map<GlobalStreamId, Grouping> inputs =
                topology.get_bolts().get(bolt).get_common().get_inputs();
        return inputs.get(new GlobalStreamId(source, Utils.DEFAULT_STREAM_ID));
    }

    private StormTopology on(StragglerSettings settings) {
        return Stragglers.on(builder.createTopology(), settings);
    }

    @Test
    void withoutATechniqueItIsTheSame() {
        StormTopology topology = builder.createTopology();
        assertThat(Stragglers.on(topology, NONE)).isEqualTo(topology);
    }

    @Test
    void aSharedBoltIsWrappedAndItsShufflesAreReplaced() {
        StormTopology topology = builder.createTopology();
        StormTopology shared = Stragglers.on(topology, NONE.shared("first", "second"));
        assertThat(object(shared, "first")).isInstanceOf(SharedBolt.class);
        assertThat(object(shared, "second")).isInstanceOf(SharedBolt.class);
        assertThat(object(shared, "count")).isNotInstanceOf(SharedBolt.class);
        assertThat(Refusals.isSharedShuffle(input(shared, "first", "word"))).isTrue();
        assertThat(input(topology, "first", "word").is_set_shuffle())
                .as("of the given one")
                .isTrue();
        assertThat(object(topology, "first")).as("the given one").isNotInstanceOf(SharedBolt.class);
    }

    @Test
    void ofABalancedBoltShufflesAreReplacedAndNothingElse() {
        StormTopology balanced = on(NONE.balanced("second", "both"));
        assertThat(object(balanced, "second")).isInstanceOf(MeasuredBolt.class);
        assertThat(input(balanced, "second", "first").is_set_custom_serialized()).isTrue();
        assertThat(input(balanced, "both", "first").is_set_custom_serialized()).isTrue();
        assertThat(input(balanced, "both", "second").is_set_all()).isTrue();
        assertThat(input(balanced, "first", "word").is_set_shuffle()).isTrue();
        // What other tasks see of the component stays.
        Bolt before = builder.createTopology().get_bolts().get("second");
        assertThat(balanced.get_bolts().get("second").get_common().get_streams())
                .isEqualTo(before.get_common().get_streams());
    }

    /** Whose acks tell of a bolt's tasks in other workers. */
    @Test
    void aSpoutOfABalancedBoltIsWrappedOnceAndNoOther() {
        builder.setSpout("other", new org.apache.storm.testing.TestWordSpout(false), 1);
        builder.setBolt("more", new Pass(), 3).shuffleGrouping("word").allGrouping("other");
        StormTopology balanced = on(NONE.balanced("first", "more"));
        assertThat(spout(balanced, "word")).isInstanceOf(AttributingSpout.class);
        assertThat(spout(balanced, "other")).isNotInstanceOf(AttributingSpout.class);
        assertThat(balanced.get_spouts().get("word").get_common())
                .isEqualTo(builder.createTopology().get_spouts().get("word").get_common());
        StormTopology again = Stragglers.on(on(NONE.balanced("first")), NONE.balanced("more"));
        assertThat(again.get_spouts()).isEqualTo(balanced.get_spouts());
        assertThat(spout(on(NONE.balanced("second")), "word"))
                .isNotInstanceOf(AttributingSpout.class);
    }

    private static Object spout(StormTopology topology, String spout) {
        return Utils.javaDeserialize(
                topology.get_spouts().get(spout).get_spout_object().get_serialized_java(),
                java.io.Serializable.class);
    }

    /** One call knows which wraps which. */
    @Test
    void whatOneCallHasWrappedNoOtherWraps() {
        StormTopology shared = on(NONE.shared("first"));
        StormTopology balanced = on(NONE.balanced("first"));
        for (StragglerSettings more :
                List.of(NONE.shared("first"), NONE.balanced("first"), NONE.replayed("word"))) {
            assertThatThrownBy(() -> Stragglers.on(shared, more))
                    .hasMessageContaining("bolt 'first' is shared already");
            assertThatThrownBy(() -> Stragglers.on(balanced, more))
                    .hasMessageContaining("bolt 'first' is balanced already");
        }
        assertThat(object(Stragglers.on(balanced, NONE.shared("second")), "second"))
                .isInstanceOf(SharedBolt.class);
    }

    /** Storm asks the outermost object only. */
    @Test
    void credentialsComeThrough() {
        builder.setBolt("secret", new Secret(), 2).shuffleGrouping("word");
        for (StragglerSettings settings :
                List.of(
                        NONE.shared("secret"),
                        NONE.balanced("secret"),
                        NONE.replayed("word"),
                        NONE.shared("secret").replayed("word"))) {
            Secret.told = Map.of();
            ((ICredentialsListener) object(on(settings), "secret"))
                    .setCredentials(Map.of("key", "value"));
            assertThat(Secret.told).containsEntry("key", "value");
        }
    }

    private static final class Secret extends BaseRichBolt implements ICredentialsListener {
        private static final long serialVersionUID = 1;

        private static Map<String, String> told = Map.of();

        @Override
        public void setCredentials(Map<String, String> credentials) {
            told = credentials;
        }

        @Override
        public void prepare(
                Map<String, Object> conf, TopologyContext context, OutputCollector collector) {}

        @Override
        public void execute(Tuple input) {}

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {}
    }

    @ParameterizedTest
    @ValueSource(strings = {"count", "both"})
    void aBoltWhoseStreamNamesTheTaskIsNotShared(String bolt) {
        assertThatThrownBy(() -> on(NONE.shared(bolt)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bolt '" + bolt + "'")
                .hasMessageContaining("stream 'default' of 'second'")
                .hasMessageContaining("do not share it");
    }

    @Test
    void directGlobalAndCustomGroupingsAreRefusedToo() {
        builder.setBolt("direct", new Pass(), 2).directGrouping("first");
        builder.setBolt("global", new Pass(), 2).globalGrouping("first");
        builder.setBolt("keys", new Pass(), 2).partialKeyGrouping("first", new Fields("word"));
        assertThatThrownBy(() -> on(NONE.shared("direct"))).hasMessageContaining("direct grouping");
        assertThatThrownBy(() -> on(NONE.shared("global"))).hasMessageContaining("names the task");
        assertThatThrownBy(() -> on(NONE.shared("keys")))
                .hasMessageContaining("bolt 'keys' gets stream 'default' of 'first' by custom");
    }

    @Test
    void aWindowedBoltIsNotShared() {
        builder.setBolt("window", new Window().withTumblingWindow(BaseWindowedBolt.Count.of(3)), 2)
                .shuffleGrouping("word");
        assertThatThrownBy(() -> on(NONE.shared("window")))
                .hasMessageContaining("bolt 'window' is windowed");
        StormTopology timed = on(NONE.replayed("word"));
        assertThatThrownBy(() -> Stragglers.on(timed, NONE.shared("window")))
                .hasMessageContaining("bolt 'window' is windowed");
    }

    @Test
    void aStatefulBoltIsNotShared() {
        builder.setBolt("state", new Counts(), 2).shuffleGrouping("word");
        assertThatThrownBy(() -> on(NONE.shared("state")))
                .hasMessageContaining("bolt 'state' is stateful")
                .hasMessageContaining("do not share it");
    }

    private static final class Counts extends BaseStatefulBolt<KeyValueState<String, Long>> {
        @Override
        public void initState(KeyValueState<String, Long> state) {}

        @Override
        public void execute(Tuple input) {}
    }

    @Test
    void aBoltOfTridentIsNotShared() {
        TridentTopology trident = new TridentTopology();
        trident.newStream("t", new org.apache.storm.testing.TestWordSpout(false))
                .shuffle()
                .each(new Fields("word"), new Debug());
        StormTopology topology = trident.build();
        for (String bolt : List.of("b-0", "spout-t")) {
            assertThatThrownBy(() -> Stragglers.on(topology, NONE.shared(bolt)))
                    .hasMessageContaining("bolt '" + bolt + "' is Trident's");
        }
    }

    @Test
    void aBoltWhoseTuplesWouldWaitInBatchesIsNotShared() {
        Map<String, Object> conf = Map.of(Config.TOPOLOGY_PRODUCER_BATCH_SIZE, 10);
        StormTopology topology = builder.createTopology();
        assertThatThrownBy(() -> Stragglers.on(topology, NONE.shared("first"), conf))
                .hasMessageContaining("bolt 'first': topology.producer.batch.size is 10");
        Stragglers.on(topology, NONE.balanced("first"), conf);
    }

    @Test
    void boltsAreLookedAtInOurWayUnlessTheUserHasChosenOne() {
        StormTopology topology = builder.createTopology();
        Map<String, Object> conf = new HashMap<>();
        Stragglers.on(topology, NONE.balanced("first"), conf);
        assertThat(conf).isEmpty();
        Map<String, Object> ours =
                Map.of(Config.TOPOLOGY_BOLT_WAIT_STRATEGY, PacedWait.class.getName());
        for (StragglerSettings settings : List.of(NONE.shared("first"), NONE.replayed("word"))) {
            conf.clear();
            Stragglers.on(topology, settings, conf);
            assertThat(conf).isEqualTo(ours);
        }
        Map<String, Object> chosen = Map.of(Config.TOPOLOGY_BOLT_WAIT_STRATEGY, "my.Wait");
        conf.putAll(chosen);
        Stragglers.on(topology, NONE.shared("first"), conf);
        assertThat(conf).isEqualTo(chosen);
    }

    @Test
    void aConfigurationThatCannotBeAddedToIsRefused() {
        assertThatThrownBy(
                        () ->
                                Stragglers.on(
                                        builder.createTopology(), NONE.shared("first"), Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the configuration cannot be added to");
    }

    @Test
    void aBoltWithoutAChoiceIsNotBalanced() {
        assertThatThrownBy(() -> on(NONE.balanced("count")))
                .hasMessageContaining("bolt 'count' gets nothing by shuffle grouping");
    }

    @Test
    void unknownBoltsAndTwoTechniquesForOneAreRefused() {
        assertThatThrownBy(() -> on(NONE.shared("frist")))
                .hasMessageContaining("there is no bolt 'frist'; there are: ")
                .hasMessageContaining("first");
        assertThatThrownBy(() -> on(NONE.shared("first").balanced("first")))
                .hasMessageContaining("first: shared and balanced at once");
        assertThatThrownBy(() -> NONE.sharedCapacity(0)).hasMessageContaining("from 1 to");
    }

    @Test
    void aReplayedSpoutIsWrappedAndSoAreTheBoltsBehindIt() {
        StormTopology replayed = on(NONE.replayed("word").shared("first").balanced("second"));
        assertThat(spout(replayed)).isInstanceOf(ReplayedSpout.class);
        assertThat(object(replayed, "first")).isInstanceOf(SharedBolt.class);
        assertThat(object(replayed, "second")).isInstanceOf(MeasuredBolt.class);
        assertThat(object(replayed, "count")).isInstanceOf(TimedBolt.class);
        assertThat(grouping(replayed, "first", "word")).isInstanceOf(SharedShuffle.class);
        assertThat(grouping(on(NONE.replayed("word")), "first", "word"))
                .isInstanceOf(AvoidingShuffle.class);
        assertThat(grouping(replayed, "second", "first")).isInstanceOf(BalancedGrouping.class);
        assertThat(input(replayed, "both", "first").is_set_shuffle()).isTrue();
        assertThat(input(replayed, "count", "second").is_set_fields()).isTrue();
    }

    @Test
    void aBalancedBoltBehindAReplayedSpoutKeepsItsGrouping() {
        StormTopology both = on(NONE.replayed("word").balanced("first"));
        assertThat(grouping(both, "first", "word")).isInstanceOf(BalancedGrouping.class);
        builder.setBolt("keyed", new Pass(), 2).fieldsGrouping("word", new Fields("word"));
        assertThat(input(on(NONE.replayed("word")), "keyed", "word").is_set_fields()).isTrue();
    }

    /** Storm would not ask for replays there. */
    @Test
    void stormsLimitOfPendingTuplesIsOffAndAllElseStays() {
        builder.setSpout("limited", new org.apache.storm.testing.TestWordSpout(false), 1)
                .setMaxSpoutPending(50)
                .setMemoryLoad(64)
                .addConfiguration("mine", "kept");
        builder.setBolt("last", new Pass(), 1).shuffleGrouping("limited");
        SpoutSpec before = builder.createTopology().get_spouts().get("limited");
        SpoutSpec after = on(NONE.replayed("limited")).get_spouts().get("limited");
        Map<String, Object> expected = new HashMap<>(StormCommon.componentConf(before));
        assertThat(expected).containsEntry(Config.TOPOLOGY_MAX_SPOUT_PENDING, 50);
        expected.put(Config.TOPOLOGY_MAX_SPOUT_PENDING, 0);
        assertThat(StormCommon.componentConf(after)).isEqualTo(expected);
        assertThat(after.get_common().get_streams()).isEqualTo(before.get_common().get_streams());
    }

    @Test
    void whatIsNoSpoutOfTheUsersIsNotReplayed() {
        assertThatThrownBy(() -> on(NONE.replayed("first")))
                .hasMessageContaining("no spout 'first', it is a bolt; there are: word");
        assertThatThrownBy(() -> on(NONE.replayed("wrod")))
                .hasMessageContaining("no spout 'wrod'; there are: word");
        StormTopology replayed = on(NONE.replayed("word"));
        assertThatThrownBy(() -> Stragglers.on(replayed, NONE.replayed("word")))
                .hasMessageContaining("spout 'word' is replayed already");
    }

    @Test
    void spoutsOfTridentAndOfCheckpointsAreNotReplayed() {
        TridentTopology trident = new TridentTopology();
        trident.newStream("t", new org.apache.storm.testing.TestWordSpout(false));
        StormTopology topology = trident.build();
        assertThat(topology.get_spouts().keySet())
                .isNotEmpty()
                .allSatisfy(
                        spout ->
                                assertThatThrownBy(
                                                () -> Stragglers.on(topology, NONE.replayed(spout)))
                                        .hasMessageContaining("spout '" + spout + "' is Trident's")
                                        .hasMessageContaining("leave it out of replayed()"));
        builder.setSpout("checkpoints", new CheckpointSpout(), 1);
        assertThatThrownBy(() -> on(NONE.replayed("checkpoints")))
                .hasMessageContaining("for checkpoints");
    }

    @Test
    void aSpoutBeforeABoltThatCannotBeMeasuredIsNotReplayed() {
        StormTopology topology = builder.createTopology();
        topology.get_bolts()
                .get("second")
                .set_bolt_object(ComponentObject.shell(new ShellComponent("python", "second.py")));
        assertThatThrownBy(() -> Stragglers.on(topology, NONE.replayed("word")))
                .hasMessageContaining("spout 'word' goes to bolt 'second'")
                .hasMessageContaining("leave the spout out of replayed()");
    }

    @Test
    void withoutAckersNothingCanBeReplayed() {
        StormTopology topology = builder.createTopology();
        Map<String, Object> conf = Map.of(Config.TOPOLOGY_ACKER_EXECUTORS, 0);
        StragglerSettings settings = NONE.replayed("word");
        assertThatThrownBy(() -> Stragglers.on(topology, settings, conf))
                .hasMessageContaining("spout 'word': topology.acker.executors is 0")
                .hasMessageContaining("set it to 1 or more");
        assertThat(Stragglers.on(topology, settings, new HashMap<>())).isNotEqualTo(topology);
        assertThat(Stragglers.on(topology, NONE, conf)).isEqualTo(topology);
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 0.21, Double.NaN, 2})
    void aShareOfReplaysOutOfItsRangeIsRefused(double share) {
        assertThatThrownBy(() -> NONE.replayShare(share))
                .hasMessageContaining("must be from 0 to 0.2, not " + share);
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 1.01, 58, Double.NaN})
    void limitsOfUtilisationOutOfTheirRangeAreRefused(double limit) {
        assertThatThrownBy(() -> NONE.replayUpTo(limit, 0.5))
                .hasMessageContaining("of the queues")
                .hasMessageContaining("must be from 0 to 1, not " + limit);
        assertThatThrownBy(() -> NONE.replayUpTo(0.5, limit))
                .hasMessageContaining("of the processors")
                .hasMessageContaining("must be from 0 to 1, not " + limit);
    }

    @Test
    void shareAndLimitsOfReplaysAreSetOneByOne() {
        assertThat(NONE.replayLimits()).isEqualTo(new ReplayLimits(0.02, 0.58, 0.49));
        assertThat(NONE.replayUpTo(0.7, 1).replayShare(0.1).replayed("word").replayLimits())
                .isEqualTo(new ReplayLimits(0.1, 0.7, 1));
        assertThat(NONE.replayShare(0.1).replayUpTo(0.7, 1).balanced("bolt").replayLimits())
                .isEqualTo(new ReplayLimits(0.1, 0.7, 1));
    }

    @Test
    void otherVersionsOfStormAreRefused() {
        Refusals.checkVersion("2.8.3");
        Refusals.checkVersion("3.2.0");
        for (String other : new String[] {"2.7.1", "1.2.4", "Unknown", "28.1"}) {
            assertThatThrownBy(() -> Refusals.checkVersion(other)).hasMessageContaining(other);
        }
    }
}
