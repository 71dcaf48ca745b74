package io.afterbay.store.paged;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.afterbay.store.ListReader;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreTuning;
import io.afterbay.store.Varint;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.tree.Chains;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the elements of a window go when it fires; what is read then, the contract suites say. */
class AppendLogsTest {
    private static final int KEYS = 20;

    /** For each key; all together fit into the logs that are gathered. */
    private static final int ELEMENTS = 40;

    private static final int BATCH_BYTES = 4 << 10;

    @TempDir private Path directory;
    private PageStore pages;
    private Readers readers;
    private AppendLogs logs;

    /** What went to the tree: of windows, of keys, in order. */
    private final Map<Integer, Map<Integer, List<Integer>>> tree = new HashMap<>();

    @BeforeEach
    void open() {
        StoreOptions options =
                new StoreOptions(
                        "logs",
                        directory.resolve("store"),
                        LocalFiles.system(),
                        new MemoryBudget(4 << 20),
                        Runnable::run,
                        Runnable::run,
                        Runnable::run,
                        0,
                        0,
                        1.5,
                        true,
                        null,
                        new StoreTuning(BATCH_BYTES, StoreTuning.DEFAULT.hotTierPart()));
        pages = new PageStore(options);
        pages.safepoint();
        Chains chains = new Chains(pages);
        readers = new Readers(pages, chains);
        logs = new AppendLogs(pages, chains, readers, options);
    }

    @AfterEach
    void close() {
        pages.close();
    }

    @Test
    void aWindowThatIsReadAndClearedNeverReachesTheTree() {
        for (int window = 0; window < 3; window++) {
            fill(window, ELEMENTS);
            for (int key = 0; key < KEYS; key++) {
                assertThat(elements(fire(window, key))).isEqualTo(upTo(ELEMENTS));
            }
            logs.settle(this::toTree);
        }
        assertThat(tree).isEmpty();
        assertThat(logs.freeze()).isEmpty();
    }

    @Test
    void whatIsLeftOfAWindowGoesToTheTreeWhenTheNextOneIsRead() {
        fill(1, ELEMENTS);
        fill(2, ELEMENTS);
        for (int key = 0; key < KEYS; key += 2) {
            fire(1, key);
        }
        assertThat(tree).isEmpty();
        fire(2, 0);
        assertThat(tree).containsOnlyKeys(1);
        assertThat(tree.get(1))
                .hasSize(KEYS / 2)
                .allSatisfy(
                        (key, elements) -> {
                            assertThat(key).isOdd();
                            assertThat(elements).isEqualTo(upTo(ELEMENTS));
                        });
    }

    @Test
    void whatIsNotReadGoesToTheTreeWhenItIsSettled() {
        fill(1, ELEMENTS);
        fire(1, 3);
        logs.settle(this::toTree);
        assertThat(tree.get(1)).hasSize(KEYS - 1).doesNotContainKey(3);
        assertThat(logs.findGathered(at(1, 4))).isEqualTo(GatheredLists.ABSENT);
    }

    @Test
    void oneListGoesToTheTreeAlone() {
        fill(1, ELEMENTS);
        logs.regroup(at(1, 5), this::toTree);
        logs.settleGathered(logs.findGathered(at(1, 5)), this::toTree);
        assertThat(tree.get(1)).containsOnlyKeys(5).containsEntry(5, upTo(ELEMENTS));
        assertThat(logs.findGathered(at(1, 5))).isEqualTo(GatheredLists.ABSENT);
        assertThat(elements(fire(1, 6))).isEqualTo(upTo(ELEMENTS));
    }

    @Test
    void aLogThatIsTooLongGoesToTheTreeAtOnce() {
        int elements = 1 + 16 * BATCH_BYTES / KEYS / 64;
        fill(1, elements);
        logs.regroup(at(1, 0), this::toTree);
        assertThat(logs.findGathered(at(1, 0))).isEqualTo(GatheredLists.ABSENT);
        assertThat(tree.get(1))
                .hasSize(KEYS)
                .allSatisfy((key, list) -> assertThat(list).isEqualTo(upTo(elements)));
    }

    @Test
    void aReaderOutlivesTheNextWindowsUntilReadersAreReleased() {
        fill(1, ELEMENTS);
        fill(2, ELEMENTS * 2 / 3);
        fill(3, ELEMENTS / 3);
        ListReader reader = fire(1, 0);
        fire(2, 1);
        fire(3, 2);
        assertThat(elements(reader)).isEqualTo(upTo(ELEMENTS));
        readers.release();
        assertThatIllegalStateException().isThrownBy(() -> elements(reader));
    }

    private static List<Integer> upTo(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    private static StateKey at(int window, int key) {
        return new StateKey()
                .setKey(0, ByteBuffer.allocate(8).putLong(key).array())
                .setNamespace(ByteBuffer.allocate(4).putInt(window).array());
    }

    private void fill(int window, int elements) {
        for (int element = 0; element < elements; element++) {
            for (int key = 0; key < KEYS; key++) {
                pages.safepoint();
                byte[] bytes = ByteBuffer.allocate(4).putInt(element).array();
                assertThat(logs.append(at(window, key), bytes, 0, bytes.length)).isTrue();
            }
        }
    }

    /** Reads a gathered list and clears it. */
    private ListReader fire(int window, int key) {
        logs.regroup(at(window, key), this::toTree);
        int list = logs.findGathered(at(window, key));
        assertThat(list).isNotEqualTo(GatheredLists.ABSENT);
        ListReader reader = logs.readGathered(list);
        logs.removeGathered(list);
        assertThat(logs.findGathered(at(window, key))).isEqualTo(GatheredLists.ABSENT);
        return reader;
    }

    private static List<Integer> elements(ListReader reader) {
        List<Integer> elements = new ArrayList<>();
        Slice element = new Slice();
        ListReader.Elements pass = reader.elements();
        while (pass.next(element)) {
            elements.add(ByteBuffer.wrap(element.array()).getInt());
        }
        assertThat(reader.size()).isEqualTo(elements.size());
        assertThat(reader.bytes()).isEqualTo(4L * elements.size());
        return elements;
    }

    private void toTree(StateKey key, byte[] framed, int length) {
        ByteBuffer bytes = ByteBuffer.wrap(key.bytes());
        List<Integer> list =
                tree.computeIfAbsent(bytes.getInt(key.keyLength()), window -> new HashMap<>())
                        .computeIfAbsent((int) bytes.getLong(0), id -> new ArrayList<>());
        for (int at = 0; at < length; at += 5) {
            assertThat(Varint.read(framed, at)).isEqualTo(4);
            list.add(ByteBuffer.wrap(framed).getInt(at + 1));
        }
    }
}
