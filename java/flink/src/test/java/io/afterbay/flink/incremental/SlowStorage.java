package io.afterbay.flink.incremental;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/** Checkpoint storage whose segments are read as a test wants; they stay the same files. */
final class SlowStorage {
    /** Read of segments. */
    final AtomicLong readBytes = new AtomicLong();

    /** Streams of segments that are open. */
    final AtomicLong openStreams = new AtomicLong();

    /** Places of reads ahead of need, in their order. */
    final List<String> downloads = Collections.synchronizedList(new ArrayList<>());

    private volatile Reading reading = (name, in) -> {};

    /** Called before each read of a segment, by the thread that reads. */
    interface Reading {
        /**
         * @param closed is counted down when the stream is closed
         */
        void before(String name, CountDownLatch closed) throws IOException;
    }

    void beforeReads(Reading before) {
        reading = before;
    }

    /** Holds downloads ahead of need until the gate opens or their stream is closed. */
    Gate holdDownloads() {
        Gate gate = new Gate();
        reading =
                (name, closed) -> {
                    if (isDownload()) {
                        gate.pass(closed);
                    }
                };
        return gate;
    }

    /** Whether this thread reads what nobody has asked for yet. */
    static boolean isDownload() {
        return Thread.currentThread().getName().startsWith("afterbay-transfer-");
    }

    static boolean isOfRestore(String thread) {
        return thread.startsWith("afterbay-transfer-") || thread.startsWith("afterbay-read-");
    }

    /** What threads wait at. */
    static final class Gate {
        /** Somebody waits. */
        final CountDownLatch reached = new CountDownLatch(1);

        private final CountDownLatch opened = new CountDownLatch(1);

        void open() {
            opened.countDown();
        }

        boolean isOpen() {
            return opened.getCount() == 0;
        }

        /** Waits like a socket: an interrupt does not help. */
        void pass(CountDownLatch closed) throws IOException {
            reached.countDown();
            boolean interrupted = false;
            while (opened.getCount() > 0 && closed.getCount() > 0) {
                try {
                    Thread.sleep(2);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            if (closed.getCount() == 0) {
                throw new IOException("the stream is closed");
            }
        }
    }

    /** Checkpoints whose segments are read through this. */
    List<KeyedStateHandle> behind(List<KeyedStateHandle> handles) {
        return handles.stream().map(this::behind).toList();
    }

    private KeyedStateHandle behind(KeyedStateHandle handle) {
        IncrementalRemoteKeyedStateHandle checkpoint = (IncrementalRemoteKeyedStateHandle) handle;
        List<HandleAndLocalPath> files = new ArrayList<>();
        for (HandleAndLocalPath file : checkpoint.getSharedState()) {
            String name = file.getLocalPath();
            files.add(
                    name.endsWith(".log")
                            ? HandleAndLocalPath.of(new Slow(file.getHandle(), name), name)
                            : file);
        }
        return new IncrementalRemoteKeyedStateHandle(
                checkpoint.getBackendIdentifier(),
                checkpoint.getKeyGroupRange(),
                checkpoint.getCheckpointId(),
                files,
                List.of(),
                checkpoint.getMetaDataStateHandle());
    }

    /** Names of all segments of a checkpoint. */
    static List<String> segments(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .map(HandleAndLocalPath::getLocalPath)
                        .filter(name -> name.endsWith(".log"))
                        .toList();
    }

    /** Size of all segments of a checkpoint. */
    static long segmentBytes(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .filter(file -> file.getLocalPath().endsWith(".log"))
                        .mapToLong(file -> file.getHandle().getStateSize())
                        .sum();
    }

    @SuppressWarnings("serial") // it is not serialised
    private final class Slow implements StreamStateHandle {
        private final StreamStateHandle handle;
        private final String name;

        Slow(StreamStateHandle handle, String name) {
            this.handle = handle;
            this.name = name;
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            openStreams.incrementAndGet();
            try {
                return new SlowStream(name, handle.openInputStream());
            } catch (IOException e) {
                openStreams.decrementAndGet();
                throw e;
            }
        }

        @Override
        public Optional<byte[]> asBytesIfInMemory() {
            return Optional.empty();
        }

        @Override
        public PhysicalStateHandleID getStreamStateHandleID() {
            return handle.getStreamStateHandleID();
        }

        @Override
        public void discardState() throws Exception {
            handle.discardState();
        }

        @Override
        public long getStateSize() {
            return handle.getStateSize();
        }

        @Override
        public String toString() {
            return "slow " + handle;
        }
    }

    private final class SlowStream extends FSDataInputStream {
        private final String name;
        private final FSDataInputStream in;
        private final CountDownLatch closed = new CountDownLatch(1);

        SlowStream(String name, FSDataInputStream in) {
            this.name = name;
            this.in = in;
        }

        @Override
        public void seek(long position) throws IOException {
            in.seek(position);
        }

        @Override
        public long getPos() throws IOException {
            return in.getPos();
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            reading.before(name, closed);
            if (isDownload()) {
                downloads.add(name + "@" + in.getPos());
            }
            int read = in.read(bytes, offset, Math.min(length, 10_000));
            readBytes.addAndGet(Math.max(0, read));
            return read;
        }

        @Override
        public void close() throws IOException {
            if (closed.getCount() > 0) {
                openStreams.decrementAndGet();
            }
            closed.countDown();
            in.close();
        }
    }
}
