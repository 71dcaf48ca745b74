package io.afterbay.replay;

import org.apache.flink.api.common.eventtime.TimestampAssigner;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets pass what is in the range, and counts it. Watermarks are not touched: what does not pass has
 * never been seen by the generator.
 *
 * <p>One object for all polls: readers keep the outputs of their splits.
 */
final class RangeOutput<T> implements ReaderOutput<T> {
    /** What passes, and what is noted of it. */
    static final class Gate<T> {
        private static final Logger LOG = LoggerFactory.getLogger(RangeOutput.class);

        private static final String ADVICE =
                "neither the source gives them one nor its watermark strategy; call withTimestampAssigner on the strategy"
                        + " of fromSource, or assignTimestampsAndWatermarks right behind the source";

        private static final String ADVICE_FOR_SQL =
                "let the WATERMARK FOR of the table be that of a column of type TIMESTAMP(3) or TIMESTAMP_LTZ(3)"
                        + " which is in what it reads, not NULL, and not computed (AS), or which the connector fills"
                        + " (METADATA)";

        private final ReplayRange range;
        private final TimestampAssigner<T> time;
        private final boolean hasFilter;
        private final boolean needsTimes;
        private final String source;
        private boolean hasWarned;
        private int passed;
        private long newestMs;

        /**
         * @param hasFilter false if the source itself yields the range by positions in its log
         * @param source its name, for messages
         */
        Gate(ReplayRange range, TimestampAssigner<T> time, boolean hasFilter, String source) {
            this(range, time, hasFilter, true, source);
        }

        /**
         * @param hasFilter false if the source itself yields the range by positions in its log
         * @param needsTimes whether the filter fails the job at a record without a time; otherwise
         *     it passes
         * @param source its name, for messages
         */
        Gate(
                ReplayRange range,
                TimestampAssigner<T> time,
                boolean hasFilter,
                boolean needsTimes,
                String source) {
            this.range = range;
            this.time = time;
            this.hasFilter = hasFilter;
            this.needsTimes = needsTimes;
            this.source = source;
            this.newestMs = range.fromMs();
        }

        private boolean admits(T record, long ownMs) {
            long ms = hasFilter ? time.extractTimestamp(record, ownMs) : ownMs;
            if (ms == TimestampAssigner.NO_TIMESTAMP) {
                return !hasFilter || admitsWithoutTime(record);
            }
            newestMs = Math.max(newestMs, range.nearest(ms));
            return !hasFilter || range.contains(ms);
        }

        private boolean admitsWithoutTime(T record) {
            if (needsTimes) {
                throw new ReplayImpossibleException(
                        ("the records of source '%s' have no time, so nothing tells which are in %s: "
                                        + (RowTime.isRow(record) ? ADVICE_FOR_SQL : ADVICE))
                                .formatted(source, range));
            }
            if (!hasWarned) {
                hasWarned = true;
                LOG.warn(
                        "the records of source '{}' have no time: all of it is replayed, not what is in {}",
                        source,
                        range);
                // It does not go through the range, so the progress of others is that of the job.
                newestMs = range.toMs();
            }
            return true;
        }

        private void collect(SourceOutput<T> output, T record) {
            if (admits(record, TimestampAssigner.NO_TIMESTAMP)) {
                passed++;
                output.collect(record);
            }
        }

        private void collect(SourceOutput<T> output, T record, long ms) {
            if (admits(record, ms)) {
                passed++;
                output.collect(record, ms);
            }
        }

        /** How many have passed since this was asked last. */
        int takePassed() {
            int taken = passed;
            passed = 0;
            return taken;
        }

        /** Within the range. */
        long newestMs() {
            return newestMs;
        }

        /** What was read before a failure. */
        void hasRead(long ms) {
            newestMs = Math.max(newestMs, range.nearest(ms));
        }
    }

    private final Gate<T> gate;
    private final ReaderOutput<T> output;

    RangeOutput(Gate<T> gate, ReaderOutput<T> output) {
        this.gate = gate;
        this.output = output;
    }

    /** Whether this is the one around it. */
    boolean isAround(ReaderOutput<T> other) {
        return output == other;
    }

    @Override
    public void collect(T record) {
        gate.collect(output, record);
    }

    @Override
    public void collect(T record, long timestamp) {
        gate.collect(output, record, timestamp);
    }

    @Override
    public void emitWatermark(Watermark watermark) {
        output.emitWatermark(watermark);
    }

    @Override
    public void markIdle() {
        output.markIdle();
    }

    @Override
    public void markActive() {
        output.markActive();
    }

    @Override
    public SourceOutput<T> createOutputForSplit(String splitId) {
        return new OfSplit<>(gate, output.createOutputForSplit(splitId));
    }

    @Override
    public void releaseOutputForSplit(String splitId) {
        output.releaseOutputForSplit(splitId);
    }

    private record OfSplit<T>(Gate<T> gate, SourceOutput<T> output) implements SourceOutput<T> {
        @Override
        public void collect(T record) {
            gate.collect(output, record);
        }

        @Override
        public void collect(T record, long timestamp) {
            gate.collect(output, record, timestamp);
        }

        @Override
        public void emitWatermark(Watermark watermark) {
            output.emitWatermark(watermark);
        }

        @Override
        public void markIdle() {
            output.markIdle();
        }

        @Override
        public void markActive() {
            output.markActive();
        }
    }
}
