package io.afterbay.storm;

import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
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
        if (java(bolt(name).get_bolt_object()) instanceof IRichBolt bolt) {
            return bolt;
        }
        throw notJava("bolt", name);
    }

    private static @Nullable Serializable java(@Nullable ComponentObject object) {
        return object != null && object.is_set_serialized_java()
                ? Utils.javaDeserialize(object.get_serialized_java(), Serializable.class)
                : null;
    }

    private static IllegalArgumentException notJava(String kind, String name) {
        return new IllegalArgumentException(
                "%s '%s' is not written in Java, or is given by the name of its class: it cannot be wrapped; leave it out"
                        .formatted(kind, name));
    }

    /**
     * @throws IllegalArgumentException if there is none
     */
    SpoutSpec spout(String name) {
        Map<String, SpoutSpec> spouts = Objects.requireNonNull(topology.get_spouts());
        SpoutSpec spout = spouts.get(name);
        if (spout == null) {
            throw new IllegalArgumentException(
                    "there is no spout '%s'%s; there are: %s"
                            .formatted(
                                    name,
                                    bolts().contains(name) ? ", it is a bolt" : "",
                                    String.join(", ", spouts.keySet())));
        }
        return spout;
    }

    /**
     * The code of a spout.
     *
     * @throws IllegalArgumentException if it cannot be wrapped
     */
    IRichSpout spoutObject(String name) {
        if (java(spout(name).get_spout_object()) instanceof IRichSpout spout) {
            return spout;
        }
        throw notJava("spout", name);
    }

    Set<String> bolts() {
        return Objects.requireNonNull(topology.get_bolts()).keySet();
    }

    boolean hasSpout(String name) {
        Map<String, SpoutSpec> spouts = topology.get_spouts();
        return spouts != null && spouts.containsKey(name);
    }

    /** The bolts that tuples of these spouts may come to; not Storm's own, as a worker has them. */
    Set<String> boltsBehind(Collection<String> spouts) {
        Set<String> found = new LinkedHashSet<>();
        Queue<String> sources = new ArrayDeque<>(spouts);
        while (!sources.isEmpty()) {
            String source = sources.remove();
            for (String bolt : bolts()) {
                if (!Utils.isSystemId(bolt) && isFed(bolt, source) && found.add(bolt)) {
                    sources.add(bolt);
                }
            }
        }
        return found;
    }

    private boolean isFed(String bolt, String source) {
        return inputs(bolt).keySet().stream().anyMatch(stream -> source(stream).equals(source));
    }

    /** The code of a spout; null if there is no such spout, or it cannot be wrapped. */
    @Nullable IRichSpout spoutIfAny(String name) {
        Map<String, SpoutSpec> spouts = topology.get_spouts();
        SpoutSpec spout = spouts == null ? null : spouts.get(name);
        return spout != null && java(spout.get_spout_object()) instanceof IRichSpout found
                ? found
                : null;
    }
}
