package io.afterbay.storm;

import java.util.HashMap;
import java.util.Map;
import org.apache.storm.daemon.StormCommon;
import org.jspecify.annotations.Nullable;

/**
 * What a component is wrapped in, as others see it in any worker: a value of its configuration,
 * which stays whatever Storm or its user wraps around the piece.
 */
enum Mark {
    /** A {@link SharedBolt}. */
    SHARED("afterbay.stragglers.shared"),
    /** A {@link MeasuredBolt}. */
    MEASURED("afterbay.stragglers.measured"),
    /** A {@link TimedBolt}. */
    TIMED("afterbay.stragglers.timed"),
    /** An {@link AttributingSpout}. */
    ATTRIBUTING("afterbay.stragglers.attributing");

    private final String key;

    Mark(String key) {
        this.key = key;
    }

    /**
     * A component's configuration with this.
     *
     * @param conf as Storm's components give it
     */
    Map<String, Object> in(@Nullable Map<String, Object> conf) {
        Map<String, Object> marked = conf == null ? new HashMap<>() : new HashMap<>(conf);
        marked.put(key, true);
        return marked;
    }

    /**
     * @param component Thrift's, a bolt or a spout
     */
    boolean isOn(Object component) {
        return Boolean.TRUE.equals(StormCommon.componentConf(component).get(key));
    }
}
