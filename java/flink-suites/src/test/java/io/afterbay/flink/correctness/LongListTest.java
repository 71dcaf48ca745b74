package io.afterbay.flink.correctness;

import static io.afterbay.flink.correctness.Backends.windowed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.LongForm;
import java.nio.file.Path;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real list of more than 2 GB under one key and window: written, read, checkpointed, saved in
 * native format, restored. Takes some 7 GB of disk.
 */
@LongForm
class LongListTest {
    private static final int ELEMENT_BYTES = 1 << 20;
    private static final int ELEMENTS = 2100;

    @TempDir private Path directory;
    private final Backends backends = new Backends();

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private static InternalListState<String, TimeWindow, byte[]> list(
            AbstractKeyedStateBackend<String> keyed) throws Exception {
        InternalListState<String, TimeWindow, byte[]> list =
                windowed(
                        keyed,
                        new ListStateDescriptor<>("list", BytePrimitiveArraySerializer.INSTANCE));
        keyed.setCurrentKey("a");
        list.setCurrentNamespace(new TimeWindow(0, 10));
        return list;
    }

    @Test
    void isStateLikeAnyOther() throws Exception {
        AbstractKeyedStateBackend<String> keyed = backends.ours();
        InternalListState<String, TimeWindow, byte[]> list = list(keyed);
        for (int i = 0; i < ELEMENTS; i++) {
            list.add(element(i));
        }
        assertComplete(list.get());
        KeyedStateHandle savepoint =
                Backends.finish(
                        keyed.snapshot(
                                1, 1, files(), Backends.savepoint(SavepointFormatType.NATIVE)));
        assertThat(savepoint.getStateSize()).isGreaterThan(Integer.MAX_VALUE);
        assertThatThrownBy(() -> new CountingStreams().canonicalSavepoint(keyed))
                .rootCause()
                .hasMessageContaining("state 'list'");
        backends.dispose(keyed);
        assertComplete(list(backends.ours(savepoint)).get());
    }

    private static byte[] element(int i) {
        byte[] element = new byte[ELEMENT_BYTES];
        element[i % ELEMENT_BYTES] = (byte) i;
        return element;
    }

    private static void assertComplete(Iterable<byte[]> elements) {
        int count = 0;
        for (byte[] element : elements) {
            assertThat(element).hasSize(ELEMENT_BYTES);
            assertThat(element[count]).isEqualTo((byte) count);
            count++;
        }
        assertThat(count).isEqualTo(ELEMENTS);
    }

    private FsCheckpointStreamFactory files() {
        org.apache.flink.core.fs.Path path = new org.apache.flink.core.fs.Path(directory.toUri());
        return new FsCheckpointStreamFactory(
                LocalFileSystem.getSharedInstance(), path, path, 0, 1 << 20);
    }
}
