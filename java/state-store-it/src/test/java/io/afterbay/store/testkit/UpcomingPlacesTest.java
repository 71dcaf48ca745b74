package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.Trigger;
import io.afterbay.store.io.ArrivingFile;
import io.afterbay.store.io.LocalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A snapshot knows where that lies which the next triggers will need. */
class UpcomingPlacesTest {
    private static final int KEY_GROUPS = 16;
    private static final int KEYS = 20_000;
    private static final int VALUE_BYTES = 500;
    private static final int NEXT = 40;
    private static final byte[] NONE = {0};

    private static final ExecutorService BACKGROUND = Executors.newFixedThreadPool(2);

    /** Filled once: no test changes it. */
    private static StateStore store;

    private final ArrivingImages images = new ArrivingImages();
    private StateStore copy;

    private record Chunk(int file, long number) {}

    @BeforeAll
    static void fill(@TempDir Path directory) {
        store = StateStores.open(options(directory));
        List<Integer> times = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            times.add(i);
        }
        Collections.shuffle(times, new Random(3));
        for (int i = 0; i < KEYS; i++) {
            StateKey inWindow = key(i).setNamespace(window(i));
            StoreFixture.put(
                    store.values("in-window"), inWindow, StoreFixture.noise(i, VALUE_BYTES));
            StoreFixture.put(
                    store.values("without"),
                    key(i).setNamespace(NONE),
                    StoreFixture.noise(i, VALUE_BYTES));
            byte[] element = StoreFixture.noise(i, VALUE_BYTES);
            StateKey inLog = key(i).setNamespace(window(times.get(i) / 1000));
            store.lists("log", ReadAlignment.ALIGNED).append(inLog, element, 0, VALUE_BYTES);
            store.triggers("timers").add(times.get(i), inWindow);
            store.triggers("of-windows").add(times.get(i), inLog);
        }
    }

    @BeforeEach
    void restore(@TempDir Path directory) throws IOException {
        copy = images.copy(store, options(directory));
    }

    @AfterEach
    void close() throws IOException {
        copy.close();
        images.close();
    }

    @AfterAll
    static void end() {
        store.close();
        BACKGROUND.shutdown();
    }

    private static StoreOptions options(Path directory) {
        return TestOptions.of(
                directory,
                LocalFiles.system(),
                new MemoryBudget(4 << 20),
                BACKGROUND,
                0,
                KEY_GROUPS - 1);
    }

    private static StateKey key(int key) {
        return new StateKey()
                .setKey(key * 7 % KEY_GROUPS, ByteBuffer.allocate(8).putInt(key).array());
    }

    private static byte[] window(int number) {
        return ByteBuffer.allocate(16).putInt(number).array();
    }

    private Set<Chunk> upcoming(int triggers) {
        Set<Chunk> chunks = new LinkedHashSet<>();
        try (StoreSnapshot snapshot = copy.snapshot()) {
            snapshot.upcoming(
                    triggers,
                    (file, at) ->
                            chunks.add(new Chunk(file, at / ArrivingFile.CHUNK_BYTES)) || true);
        }
        return chunks;
    }

    /** What the first triggers of both schedules do. */
    private void fire() {
        Slice value = new Slice();
        for (int i = 0; i < NEXT; i++) {
            Trigger trigger = new Trigger();
            assertThat(copy.triggers("timers").poll(trigger)).isTrue();
            StateKey key = trigger.key();
            assertThat(copy.values("in-window").get(key, value)).isTrue();
            StateKey without =
                    new StateKey()
                            .setKey(key.keyGroup(), key.bytes(), 0, key.keyLength())
                            .setNamespace(NONE);
            assertThat(copy.values("without").get(without, value)).isTrue();
        }
    }

    @Test
    void whatTheNextTriggersNeedIsThere() throws IOException {
        Map<Integer, BitSet> chunks = new HashMap<>();
        for (Chunk chunk : upcoming(2 * NEXT)) {
            chunks.computeIfAbsent(chunk.file, none -> new BitSet()).set((int) chunk.number);
        }
        images.bring(chunks);
        long before = images.fetchedBytes.get();
        fire();
        assertThat(images.fetchedBytes.get() - before)
                .as("fetched for %d triggers", NEXT)
                .isLessThan(8L * ArrivingFile.CHUNK_BYTES);
    }

    /** Negative control. */
    @Test
    void elseItHasToBeFetched() {
        upcoming(0);
        long before = images.fetchedBytes.get();
        fire();
        assertThat(images.fetchedBytes.get() - before)
                .isGreaterThan(40L * ArrivingFile.CHUNK_BYTES);
    }

    @Test
    void whatIsNeededFirstComesFirst() {
        List<Chunk> few = List.copyOf(upcoming(10));
        List<Chunk> many = List.copyOf(upcoming(1000));
        assertThat(few.size()).isBetween(5, 100);
        assertThat(many).hasSizeGreaterThan(2 * few.size()).startsWith(few.toArray(Chunk[]::new));
    }

    @Test
    void whoHasHeardEnoughHearsNoMore() {
        List<Integer> told = new ArrayList<>();
        try (StoreSnapshot snapshot = copy.snapshot()) {
            snapshot.upcoming(1000, (file, at) -> told.add(file) && told.size() < 3);
        }
        assertThat(told).hasSize(3);
    }
}
