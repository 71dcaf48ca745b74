package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.ArrivingFile;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.testing.LongForm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whoever needs some of the key groups of an image reads about their part of its files. */
class KeyGroupsInFilesTest {
    private static final int KEY_GROUPS = 128;

    @TempDir private Path directory;
    private final Random random = new Random(7);

    /** Compactions come at once, so that files do not depend on how busy the machine is. */
    private StoreOptions options(String name, int budgetMib) {
        return TestOptions.of(
                directory.resolve(name),
                LocalFiles.system(),
                new MemoryBudget((long) budgetMib << 20),
                Runnable::run,
                0,
                KEY_GROUPS - 1);
    }

    private static StateKey key(int key) {
        return StoreFixture.key(key * 31 % KEY_GROUPS, "key-" + key);
    }

    /** Changes keys in no order, each about twice, so that pages leave memory at any time. */
    private void change(StateStore store, int keys) {
        for (int i = 0; i < 2 * keys; i++) {
            int number = random.nextInt(keys);
            StateKey key = key(number);
            StoreFixture.put(store.values("values"), key, StoreFixture.noise(i, 400));
            if (i % 4 == 0) {
                byte[] element = StoreFixture.noise(-i, 200).clone();
                store.lists("lists", ReadAlignment.UNALIGNED).append(key, element, 0, 200);
            }
            store.triggers("triggers").add(random.nextInt(1 << 20), key);
        }
    }

    private static long read(StateStore store, int first, int last) {
        long bytes = 0;
        try (EntryCursor values = store.values("values").scan(first, last);
                EntryCursor triggers = store.triggers("triggers").scan(first, last)) {
            while (values.next()) {
                bytes += values.value().length();
            }
            while (triggers.next()) {
                bytes++;
            }
        }
        return bytes + readLists(store, first, last);
    }

    private static long readLists(StateStore store, int first, int last) {
        long bytes = 0;
        try (EntryCursor lists = store.lists("lists", ReadAlignment.UNALIGNED).scan(first, last)) {
            while (lists.next()) {
                ListReader list = lists.list();
                bytes += list == null ? 0 : 1;
            }
        }
        return bytes;
    }

    /**
     * @param budgetMib 16: several times as much state as memory, so that most pages lie where
     *     evictions and compactions have put them; 64: all lie where the image has put them
     */
    @ParameterizedTest
    @CsvSource({"16, 60000, 43, 85", "64, 30000, 0, 63"})
    void aPartIsReadByAPart(int budgetMib, int keys, int first, int last) throws IOException {
        try (StateStore store = StateStores.open(options("first", budgetMib));
                ArrivingImages images = new ArrivingImages()) {
            change(store, keys);
            try (StateStore copy = images.copy(store, options("copy", 4))) {
                long all = images.missingBytes();
                long announced = bytes(copy.chunksOf(first, last));
                assertThat(read(copy, first, last)).isEqualTo(read(store, first, last));
                long share = all * (last - first + 1) / KEY_GROUPS;
                long most = share * 12 / 10 + (1 << 20);
                assertThat(images.fetchedBytes.get())
                        .as("read of %d, of which %d are needed", all, share)
                        .isLessThan(most);
                assertThat(announced).as("announced, of %d", share).isBetween(share * 8 / 10, most);
            }
        }
    }

    @LongForm
    @ParameterizedTest
    @CsvSource({"16, 60000, 0, 63", "64, 30000, 10, 19"})
    void anotherPartIsReadByAPart(int budgetMib, int keys, int first, int last) throws IOException {
        aPartIsReadByAPart(budgetMib, keys, first, last);
    }

    private static long bytes(Map<Integer, BitSet> chunks) {
        return chunks.values().stream().mapToLong(BitSet::cardinality).sum()
                * ArrivingFile.CHUNK_BYTES;
    }

    /** What is announced is what is read, but for few pages: so it is worth fetching first. */
    @Test
    void whatIsReadWasAnnounced() throws IOException {
        try (StateStore store = StateStores.open(options("first", 4));
                ArrivingImages images = new ArrivingImages()) {
            change(store, 30_000);
            try (StateStore copy = images.copy(store, options("copy", 4))) {
                images.bring(copy.chunksOf(32, 63));
                read(copy, 32, 63);
                assertThat(images.fetchedBytes.get()).isLessThan(8L * ArrivingFile.CHUNK_BYTES);
            }
        }
    }
}
