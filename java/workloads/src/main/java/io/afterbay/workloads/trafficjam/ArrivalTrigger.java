package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.EpochClock;
import org.apache.flink.streaming.api.windowing.triggers.EventTimeTrigger;
import org.apache.flink.streaming.api.windowing.triggers.Trigger;
import org.apache.flink.streaming.api.windowing.triggers.TriggerResult;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.jspecify.annotations.Nullable;

/**
 * Fires at the end of the window, as is usual, and tells how long each report took to get into it:
 * windows add an element to their state first and ask the trigger then. So a latency for each event
 * through both keyed stages, where rankings come once in ten seconds of event time only.
 */
final class ArrivalTrigger extends Trigger<Object, TimeWindow> {
    private static final long serialVersionUID = 1;

    private final EventTimeTrigger usual = EventTimeTrigger.create();
    private final String run;
    private transient @Nullable TrafficJamStatistics statistics;

    ArrivalTrigger(String run) {
        this.run = run;
    }

    @Override
    public TriggerResult onElement(
            Object element, long timestamp, TimeWindow window, TriggerContext context)
            throws Exception {
        if (element instanceof Report report) {
            statistics().arrived(EpochClock.micros() - report.stampMicros());
        }
        return usual.onElement(element, timestamp, window, context);
    }

    private TrafficJamStatistics statistics() {
        TrafficJamStatistics known = statistics;
        if (known == null) {
            known = TrafficJamStatistics.of(run);
            statistics = known;
        }
        return known;
    }

    @Override
    public TriggerResult onProcessingTime(long time, TimeWindow window, TriggerContext context)
            throws Exception {
        return usual.onProcessingTime(time, window, context);
    }

    @Override
    public TriggerResult onEventTime(long time, TimeWindow window, TriggerContext context)
            throws Exception {
        return usual.onEventTime(time, window, context);
    }

    @Override
    public void clear(TimeWindow window, TriggerContext context) throws Exception {
        usual.clear(window, context);
    }
}
