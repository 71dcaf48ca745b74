package io.afterbay.storm;

import java.util.Set;
import java.util.TreeSet;
import org.apache.storm.generated.ComponentObject;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.topology.IRichSpout;
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

    private void rewrite() {
        Set<String> both = new TreeSet<>(settings.shared());
        both.retainAll(settings.balanced());
        Refusals.checkNone(both);
        Refusals refusals = new Refusals(components);
        settings.shared().forEach(refusals::checkShared);
        settings.balanced().forEach(refusals::checkBalanced);
        settings.shared().forEach(this::share);
        settings.balanced().forEach(this::balance);
    }

    private void share(String bolt) {
        SharedBolt shared = new SharedBolt(components.boltObject(bolt), settings.sharedCapacity());
        components.bolt(bolt).set_bolt_object(serialized(shared));
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
        return Grouping.custom_serialized(Utils.javaSerialize(ours));
    }

    /** Whether a component is a spout that tells of its acks, now at least. */
    private boolean attribute(String source) {
        IRichSpout spout = components.spoutObject(source);
        if (spout != null && !(spout instanceof AttributingSpout)) {
            components.spout(source).set_spout_object(serialized(new AttributingSpout(spout)));
        }
        return spout != null;
    }

    private static ComponentObject serialized(Object component) {
        return ComponentObject.serialized_java(Utils.javaSerialize(component));
    }
}
