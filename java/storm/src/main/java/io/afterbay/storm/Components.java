package io.afterbay.storm;

import java.io.Serializable;
import java.util.Map;
import java.util.Objects;
import org.apache.storm.generated.Bolt;
import org.apache.storm.generated.ComponentObject;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.SpoutSpec;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.utils.Utils;
import org.jspecify.annotations.Nullable;

/** What a topology consists of. Thrift's fields may be null; those of a built one are not. */
record Components(StormTopology topology) {

    /** A component of a stream. */
    static String source(GlobalStreamId stream) {
        return Objects.requireNonNull(stream.get_componentId());
    }

    static String name(GlobalStreamId stream) {
        return Objects.requireNonNull(stream.get_streamId());
    }

    /**
     * @throws IllegalArgumentException if there is none
     */
    Bolt bolt(String name) {
        Map<String, Bolt> bolts = Objects.requireNonNull(topology.get_bolts());
        Bolt bolt = bolts.get(name);
        if (bolt == null) {
            throw new IllegalArgumentException(
                    "there is no bolt '%s'; there are: %s"
                            .formatted(name, String.join(", ", bolts.keySet())));
        }
        return bolt;
    }

    /** What a bolt gets; to be changed. */
    Map<GlobalStreamId, Grouping> inputs(String bolt) {
        return Objects.requireNonNull(Objects.requireNonNull(bolt(bolt).get_common()).get_inputs());
    }

    /**
     * The code of a bolt.
     *
     * @throws IllegalArgumentException if it cannot be wrapped
     */
    IRichBolt boltObject(String name) {
        ComponentObject object = bolt(name).get_bolt_object();
        if (object != null && object.is_set_serialized_java()) {
            Serializable component =
                    Utils.javaDeserialize(object.get_serialized_java(), Serializable.class);
            if (component instanceof IRichBolt) {
                return (IRichBolt) component;
            }
        }
        throw new IllegalArgumentException(
                "bolt '%s' is not written in Java, or is given by the name of its class: it cannot be wrapped; leave it out"
                        .formatted(name));
    }

    /** A component that is known to be a spout. */
    SpoutSpec spout(String name) {
        return Objects.requireNonNull(Objects.requireNonNull(topology.get_spouts()).get(name));
    }

    /** The code of a spout; null if there is no such spout, or it cannot be wrapped. */
    @Nullable IRichSpout spoutObject(String name) {
        Map<String, SpoutSpec> spouts = topology.get_spouts();
        if (spouts == null || !spouts.containsKey(name)) {
            return null;
        }
        ComponentObject object = spout(name).get_spout_object();
        if (object == null || !object.is_set_serialized_java()) {
            return null;
        }
        Serializable component =
                Utils.javaDeserialize(object.get_serialized_java(), Serializable.class);
        return component instanceof IRichSpout ? (IRichSpout) component : null;
    }
}
