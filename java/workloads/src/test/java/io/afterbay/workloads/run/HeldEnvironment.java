package io.afterbay.workloads.run;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.TypeExtractor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * An environment whose sources wait after so many records of each start until the test releases
 * them. The job takes checkpoints meanwhile. So it does not end while the test still wants
 * something from it, however slow the machine is. Within this process only.
 */
public final class HeldEnvironment extends StreamExecutionEnvironment {
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final Map<Long, Boolean> HELD = new ConcurrentHashMap<>();
    private static final long WAIT_MILLIS = 20;

    private final long number = NUMBERS.incrementAndGet();
    private final long recordsMax;

    /**
     * @param recordsMax of a start; after a restart they count anew
     */
    public HeldEnvironment(Configuration settings, long recordsMax) {
        super(settings);
        this.recordsMax = recordsMax;
        HELD.put(number, true);
    }

    /** From now on, sources go on to their ends. */
    public void release() {
        HELD.remove(number);
    }

    @Override
    public <T> DataStreamSource<T> fromSource(
            Source<T, ?, ?> source,
            WatermarkStrategy<T> watermarks,
            String name,
            TypeInformation<T> type) {
        return super.fromSource(
                new HeldSource<>(source, number, recordsMax),
                watermarks,
                name,
                type == null ? typeOf(source) : type);
    }

    private static <T> TypeInformation<T> typeOf(Source<T, ?, ?> source) {
        return TypeExtractor.createTypeInfo(Source.class, source.getClass(), 0, null, null);
    }

    private record HeldSource<T, S extends SourceSplit, E>(
            Source<T, S, E> source, long number, long recordsMax) implements Source<T, S, E> {
        @Override
        public Boundedness getBoundedness() {
            return source.getBoundedness();
        }

        @Override
        public SplitEnumerator<S, E> createEnumerator(SplitEnumeratorContext<S> context)
                throws Exception {
            return source.createEnumerator(context);
        }

        @Override
        public SplitEnumerator<S, E> restoreEnumerator(
                SplitEnumeratorContext<S> context, E checkpoint) throws Exception {
            return source.restoreEnumerator(context, checkpoint);
        }

        @Override
        public SimpleVersionedSerializer<S> getSplitSerializer() {
            return source.getSplitSerializer();
        }

        @Override
        public SimpleVersionedSerializer<E> getEnumeratorCheckpointSerializer() {
            return source.getEnumeratorCheckpointSerializer();
        }

        @Override
        public SourceReader<T, S> createReader(SourceReaderContext context) throws Exception {
            return new HeldReader<>(source.createReader(context), number, recordsMax);
        }
    }

    private static final class HeldReader<T, S extends SourceSplit> implements SourceReader<T, S> {
        private final SourceReader<T, S> reader;
        private final long number;
        private final long recordsMax;
        private long records;

        HeldReader(SourceReader<T, S> reader, long number, long recordsMax) {
            this.reader = reader;
            this.number = number;
            this.recordsMax = recordsMax;
        }

        private boolean isHeld() {
            return records >= recordsMax && HELD.containsKey(number);
        }

        /** A reader emits one record in a call, or none. */
        @Override
        public InputStatus pollNext(ReaderOutput<T> output) throws Exception {
            if (isHeld()) {
                return InputStatus.NOTHING_AVAILABLE;
            }
            InputStatus status = reader.pollNext(output);
            records += status == InputStatus.MORE_AVAILABLE ? 1 : 0;
            return status;
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return isHeld()
                    ? new CompletableFuture<Void>()
                            .completeOnTimeout(null, WAIT_MILLIS, TimeUnit.MILLISECONDS)
                    : reader.isAvailable();
        }

        @Override
        public void start() {
            reader.start();
        }

        @Override
        public List<S> snapshotState(long checkpoint) {
            return reader.snapshotState(checkpoint);
        }

        @Override
        public void addSplits(List<S> splits) {
            reader.addSplits(splits);
        }

        @Override
        public void notifyNoMoreSplits() {
            reader.notifyNoMoreSplits();
        }

        @Override
        public void handleSourceEvents(SourceEvent event) {
            reader.handleSourceEvents(event);
        }

        @Override
        public void notifyCheckpointComplete(long checkpoint) throws Exception {
            reader.notifyCheckpointComplete(checkpoint);
        }

        @Override
        public void notifyCheckpointAborted(long checkpoint) throws Exception {
            reader.notifyCheckpointAborted(checkpoint);
        }

        @Override
        public void pauseOrResumeSplits(Collection<String> toPause, Collection<String> toResume) {
            reader.pauseOrResumeSplits(toPause, toResume);
        }

        @Override
        public void close() throws Exception {
            reader.close();
        }
    }
}
