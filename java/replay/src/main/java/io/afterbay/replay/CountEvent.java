package io.afterbay.replay;

import java.util.Map;
import org.apache.flink.api.connector.source.SourceEvent;

/**
 * From a reader to the enumerator, about twice a second while something passes.
 *
 * @param records that have passed since the start of the replay, by the ids of its counts
 * @param newestMs the newest time that was read, within the range; its beginning if none was
 * @param isHeldBack whether the reader would have read more since it last told of itself
 * @param hasEnded whether the reader has read all that it had to
 */
record CountEvent(Map<String, Long> records, long newestMs, boolean isHeldBack, boolean hasEnded)
        implements SourceEvent {}
