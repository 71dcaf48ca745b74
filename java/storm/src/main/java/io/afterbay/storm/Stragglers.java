package io.afterbay.storm;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.apache.storm.Config;
import org.apache.storm.daemon.StormCommon;
import org.apache.storm.generated.ComponentObject;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.SpoutSpec;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.grouping.CustomStreamGrouping;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.utils.ObjectReader;
import org.apache.storm.utils.Utils;
import org.apache.storm.utils.VersionInfo;

/**
 * One line for a topology in which a slow task no longer holds everybody up:
 *
 * <pre>{@code
 * StormTopology topology = Stragglers.on(builder.createTopology(), settings);
 * }</pre>
 *
 * What cannot be done is refused here, before anything is submitted, with the component, the stream
 * and the way out.
 */
public final class Stragglers {
    private final Components components;
    private final StragglerSettings settings;

    private Stragglers(Components components, StragglerSettings settings) {
        this.components = components;
        this.settings = settings;
    }

    /**
     * A topology that does the same with these techniques; the given one is left as it is.
     *
     * @throws IllegalArgumentException if a technique cannot be used where the settings want it
     */
    public static StormTopology on(StormTopology topology, StragglerSettings settings) {
        Refusals.checkVersion(VersionInfo.getVersion());
        StormTopology rewritten = topology.deepCopy();
        new Stragglers(new Components(rewritten), settings).rewrite();
        return rewritten;
    }

    /**
     * As {@link #on(StormTopology, StragglerSettings)}, and what the topology's configuration does
     * not allow is refused here, too. Without it, a worker refuses it at its start.
     *
     * @param conf what is submitted with the topology. If a bolt is shared or a spout replayed, and
     *     it has no {@code topology.bolt.wait.strategy}, {@link PacedWait} is added: without it,
     *     bolts use more processor time
     * @throws IllegalArgumentException also if it cannot be added to
     */
    public static StormTopology on(
            StormTopology topology, StragglerSettings settings, Map<String, Object> conf) {
        settings.replayed().forEach(spout -> Refusals.checkAckers(spout, conf));
        settings.shared().forEach(bolt -> Refusals.checkBatches(bolt, conf));
        StormTopology rewritten = on(topology, settings);
        if (!settings.shared().isEmpty() || !settings.replayed().isEmpty()) {
            pace(conf);
        }
        return rewritten;
    }

    private static void pace(Map<String, Object> conf) {
        try {
            conf.putIfAbsent(Config.TOPOLOGY_BOLT_WAIT_STRATEGY, PacedWait.class.getName());
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException(
                    "the configuration cannot be added to: give a Config, which is then submitted",
                    e);
        }
    }

    private void rewrite() {
        Set<String> both = new TreeSet<>(settings.shared());
        both.retainAll(settings.balanced());
        Refusals.checkNone(both);
        Refusals refusals = new Refusals(components);
        settings.shared().forEach(refusals::checkShared);
        settings.balanced().forEach(refusals::checkBalanced);
        settings.replayed().forEach(refusals::checkReplayed);
        // Within what the techniques make of a bolt: its own time.
        components.boltsBehind(settings.replayed()).forEach(this::time);
        settings.shared().forEach(this::share);
        settings.balanced().forEach(this::balance);
        settings.replayed().forEach(this::replay);
    }

    private void time(String bolt) {
        components
                .bolt(bolt)
                .set_bolt_object(serialized(new TimedBolt(components.boltObject(bolt))));
    }

    private void share(String bolt) {
        SharedBolt shared = new SharedBolt(components.boltObject(bolt), settings.sharedCapacity());
        components.bolt(bolt).set_bolt_object(serialized(shared));
        components.inputs(bolt).replaceAll((stream, grouping) -> sharing(grouping));
    }

    private static Grouping sharing(Grouping grouping) {
        return Refusals.isShuffle(grouping)
                ? custom(new SharedShuffle(grouping.is_set_local_or_shuffle(), false))
                : grouping;
    }

    private void balance(String bolt) {
        MeasuredBolt measured = new MeasuredBolt(components.boltObject(bolt));
        components.bolt(bolt).set_bolt_object(serialized(measured));
        components.inputs(bolt).replaceAll(this::balanced);
    }

    private Grouping balanced(GlobalStreamId stream, Grouping grouping) {
        if (!Refusals.isShuffle(grouping)) {
            return grouping;
        }
        boolean hasAcks = attribute(Components.source(stream));
        BalancedGrouping ours = new BalancedGrouping(grouping.is_set_local_or_shuffle(), hasAcks);
        return custom(ours);
    }

    /** Whether a component is a spout that tells of its acks, now at least. */
    private boolean attribute(String source) {
        IRichSpout spout = components.spoutIfAny(source);
        if (spout != null && !(spout instanceof AttributingSpout)) {
            components.spout(source).set_spout_object(serialized(new AttributingSpout(spout)));
        }
        return spout != null;
    }

    private void replay(String name) {
        SpoutSpec spout = components.spout(name);
        Map<String, Object> conf = new HashMap<>(StormCommon.componentConf(spout));
        Object pendingMax = conf.put(Config.TOPOLOGY_MAX_SPOUT_PENDING, ReplayedSpout.NO_LIMIT);
        List<String> bolts = List.copyOf(components.boltsBehind(Set.of(name)));
        ReplayPlan plan =
                new ReplayPlan(
                        settings.replayLimits(),
                        pendingMax == null ? null : ObjectReader.getInt(pendingMax),
                        bolts,
                        settings.processors());
        IRichSpout known = components.spoutObject(name);
        ReplayedSpout replayed;
        if (known instanceof AttributingSpout attributing) {
            // Each incarnation tells of the task that it went to.
            replayed = new ReplayedSpout(attributing.spout(), plan);
            spout.set_spout_object(serialized(new AttributingSpout(replayed)));
        } else {
            replayed = new ReplayedSpout(known, plan);
            spout.set_spout_object(serialized(replayed));
        }
        Objects.requireNonNull(spout.get_common()).set_json_conf(json(replayed, conf));
        bolts.forEach(bolt -> components.inputs(bolt).replaceAll((s, g) -> avoiding(name, s, g)));
    }

    /** As Storm writes it: it has no public method for that alone. */
    private static String json(ReplayedSpout spout, Map<String, Object> conf) {
        conf.remove(Config.TOPOLOGY_KRYO_REGISTER); // comes by the spout itself
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("spout", spout).addConfigurations(conf);
        SpoutSpec built =
                Objects.requireNonNull(
                        Objects.requireNonNull(builder.createTopology().get_spouts()).get("spout"));
        return Objects.requireNonNull(Objects.requireNonNull(built.get_common()).get_json_conf());
    }

    private static Grouping avoiding(String spout, GlobalStreamId stream, Grouping grouping) {
        return Components.source(stream).equals(spout) && Refusals.isShuffle(grouping)
                ? custom(new AvoidingShuffle(grouping.is_set_local_or_shuffle()))
                : grouping;
    }

    private static Grouping custom(CustomStreamGrouping grouping) {
        return Grouping.custom_serialized(Utils.javaSerialize(grouping));
    }

    private static ComponentObject serialized(Object component) {
        return ComponentObject.serialized_java(Utils.javaSerialize(component));
    }
}
