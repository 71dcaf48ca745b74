package io.afterbay.storm;

import com.codahale.metrics.Gauge;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.metrics2.StormMetricRegistry;
import org.apache.storm.task.TopologyContext;

/** What Storm tells a task of a bolt named {@value #COMPONENT}. It keeps the gauges. */
final class FakeTask extends TopologyContext {
    static final String COMPONENT = "first";

    private final Map<String, Gauge<?>> gauges = new HashMap<>();

    /**
     * @param topology whose tasks of this process are in one worker
     */
    FakeTask(String topology, int task) {
        super(
                new StormTopology(),
                Map.of(),
                Map.of(task, COMPONENT),
                Map.of(COMPONENT, List.of(task)),
                Map.of(),
                Map.of(),
                topology,
                "",
                "",
                task,
                1,
                List.of(task),
                Map.of(),
                Map.of(),
                Map.of(),
                Map.of(),
                new AtomicBoolean(false),
                new StormMetricRegistry());
    }

    @Override
    public <T> Gauge<T> registerGauge(String name, Gauge<T> gauge) {
        gauges.put(name, gauge);
        return gauge;
    }

    /** What a gauge says now. */
    Object gauge(String name) {
        return Objects.requireNonNull(gauges.get(name)).getValue();
    }
}
