package io.afterbay.workloads.nexmark;

import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;

/**
 * Every so many events, a watermark; where they stand depends on the event number only. It stays
 * two milliseconds behind: then all events of the millisecond before its own have passed, and two
 * events that are exactly a session gap apart are always in one session.
 */
final class Watermarks implements WatermarkGenerator<Event> {
    static final int EVERY_EVENTS = 128;

    private static final long BEHIND_MILLIS = 2;

    /** Which watermark the event brings, or the last one before it did. */
    static long indexOf(long number) {
        return number / EVERY_EVENTS;
    }

    static boolean isDueAt(long number) {
        return number % EVERY_EVENTS == 0;
    }

    /** The first watermark that is at or after a time. */
    static long indexThatReaches(long millis, Generator generator) {
        if (millis > Long.MAX_VALUE / 2_000) {
            return Long.MAX_VALUE;
        }
        long first = generator.firstAtOrAfter(millis + BEHIND_MILLIS);
        return (first + EVERY_EVENTS - 1) / EVERY_EVENTS;
    }

    @Override
    public void onEvent(Event event, long millis, WatermarkOutput output) {
        if (isDueAt(event.number())) {
            output.emitWatermark(new Watermark(millis - BEHIND_MILLIS));
        }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
        // Everything was said with the events.
    }
}
