package io.afterbay.store.paged;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.Varint;
import io.afterbay.store.paged.AppendLogs.Window;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegroupBatchTest {
    private static final int KEYS = 37;
    private static final int ELEMENTS = 20_000;

    private final Window window = new Window(new byte[] {1}, 0, 1);
    private final Map<Integer, List<Integer>> lists = new HashMap<>();
    private int batches;

    @ParameterizedTest
    @ValueSource(ints = {4 << 10, 256 << 10, 1 << 20})
    void elementsOfAKeyKeepTheirOrderWhateverTheSizeOfABatch(int bytes) {
        RegroupBatch batch = new RegroupBatch(bytes);
        for (int element = 0; element < ELEMENTS; element++) {
            add(batch, element);
        }
        drain(batch);
        assertThat(lists).hasSize(KEYS);
        lists.forEach(
                (key, elements) ->
                        assertThat(elements)
                                .isSorted()
                                .allMatch(element -> element % KEYS == key)
                                .doesNotHaveDuplicates());
        assertThat(lists.values().stream().mapToInt(List::size).sum()).isEqualTo(ELEMENTS);
        assertThat(batches).isGreaterThanOrEqualTo(ELEMENTS * 20 / bytes);
    }

    private void add(RegroupBatch batch, int element) {
        byte[] bytes = ByteBuffer.allocate(4).putInt(element).array();
        if (!batch.fits(bytes.length)) {
            drain(batch);
        }
        StateKey key = new StateKey();
        key.setKey(0, ByteBuffer.allocate(4).putInt(element % KEYS).array(), 0, 4);
        Slice slice = new Slice();
        System.arraycopy(bytes, 0, slice.reset(bytes.length), 0, bytes.length);
        batch.add(key, slice);
    }

    private void drain(RegroupBatch batch) {
        batches++;
        batch.drainTo(
                window,
                (key, framed, length) -> {
                    List<Integer> list =
                            lists.computeIfAbsent(
                                    ByteBuffer.wrap(key.bytes()).getInt(),
                                    absent -> new ArrayList<>());
                    int framedBytes = Varint.bytes(4) + 4;
                    for (int at = Varint.bytes(4); at < length; at += framedBytes) {
                        list.add(ByteBuffer.wrap(framed).getInt(at));
                    }
                });
    }
}
