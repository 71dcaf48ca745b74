package io.afterbay.store.page;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateKey;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.tree.ChainRef;
import io.afterbay.store.tree.Chains;
import io.afterbay.store.tree.EntryKey;
import io.afterbay.store.tree.Tree;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Holds the code against {@code spec/state-log.md}: what it writes is the golden vector, byte for
 * byte, and a reader that knows only the specification finds the entries in it. {@code
 * -Dafterbay.vectors.write=true} writes the vector anew, for a new version of the format.
 */
class StateLogVectorsTest {
    private static final Path VECTOR = Path.of("../../spec/vectors/00000001.log.hex");
    private static final int LEAF = 1;
    private static final int CHAIN = 2;
    private static final int INNER = 3;
    private static final int RANDOM = 4;

    /** Less than two pages that cannot be compressed. */
    private static final int BUFFER_BYTES = 1040;

    @TempDir private Path directory;
    private PageStore pages;
    private Chains chains;

    @BeforeEach
    void open() {
        pages =
                new PageStore(
                        new StoreOptions(
                                "vectors",
                                directory.resolve("store"),
                                LocalFiles.system(),
                                new MemoryBudget(4 << 20),
                                Runnable::run,
                                Runnable::run,
                                Runnable::run,
                                0,
                                127,
                                1.5,
                                true));
        pages.safepoint();
        chains = new Chains(pages);
    }

    @AfterEach
    void close() {
        pages.close();
    }

    @Test
    void theLogIsTheVector() throws IOException {
        byte[] written = writeSegment();
        if (Boolean.getBoolean("afterbay.vectors.write")) {
            Files.writeString(VECTOR, lines(written));
        }
        assertThat(lines(written)).isEqualTo(Files.readString(VECTOR));
    }

    @Test
    void theVectorReadsAsSpecified() throws IOException {
        ByteBuffer file = vector();
        byte[] magic = new byte[8];
        file.get(magic);
        assertThat(new String(magic, UTF_8)).isEqualTo("FABSLOG1");
        assertThat(file.getInt()).as("version").isEqualTo(2);
        assertThat(file.getInt()).as("segment").isEqualTo(1);
        assertThat(file.getInt()).isEqualTo(checksum(file, 0, 16));
        Map<Integer, ByteBuffer> read = blocks(file);
        assertThat(read.keySet()).containsExactly(LEAF, CHAIN, INNER, RANDOM);
        assertThat(valuesOf(read.get(LEAF))).isEqualTo(Map.of("3/apple", "red", "5/plum", "blue"));
        assertThat(payloadOf(read.get(CHAIN))).isEqualTo("p".repeat(400).getBytes(UTF_8));
        assertThat(payloadOf(read.get(RANDOM))).isEqualTo(random());
        ByteBuffer inner = read.get(INNER);
        assertThat(inner.get(0)).isEqualTo((byte) 2);
        assertThat(inner.getShort(2)).as("children").isEqualTo((short) 2);
        assertThat(inner.getLong(16 + 20)).isGreaterThan(inner.getLong(16));
    }

    /** The negative control of the vector: a changed bit is seen. */
    @Test
    void aFlippedBitBreaksTheChecksum() throws IOException {
        ByteBuffer file = vector();
        int length = blockBytes(file, 32) - 4;
        assertThat(file.getInt(32)).isEqualTo(checksum(file, 36, length));
        file.put(60, (byte) (file.get(60) ^ 1));
        assertThat(file.getInt(32)).isNotEqualTo(checksum(file, 36, length));
    }

    private byte[] writeSegment() throws IOException {
        SegmentLog log =
                new SegmentLog(
                        new SegmentFiles(LocalFiles.system(), directory.resolve("store")),
                        Runnable::run,
                        1 << 20,
                        true);
        log.allocateBuffers(BUFFER_BYTES);
        log.lock.lock();
        append(log, LEAF, leaf());
        append(log, CHAIN, chain("p".repeat(400).getBytes(UTF_8)));
        append(log, INNER, inner());
        append(log, RANDOM, chain(random()));
        append(log, 5, chain(random())); // does not fit the buffer, which goes to the file
        log.lock.unlock();
        byte[] written = Files.readAllBytes(directory.resolve("store/00000001.log"));
        log.close();
        return written;
    }

    private void append(SegmentLog log, int pageId, int page) {
        long address = pages.address(page);
        log.append(SegmentLog.TREE_STREAM, pageId, address, PageStore.pageBytes(address));
    }

    private int leaf() {
        Tree tree = new Tree(pages, chains, false);
        put(tree, 3, "apple", "red");
        put(tree, 5, "plum", "blue");
        return tree.root();
    }

    private int chain(byte[] payload) {
        ChainRef chain = new ChainRef();
        chains.append(chain, payload, 0, payload.length);
        return chain.head;
    }

    private static byte[] random() {
        byte[] bytes = new byte[400];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    private int inner() {
        Tree tree = new Tree(pages, chains, false);
        for (int i = 0; i < 12; i++) {
            put(tree, i, "key", "v".repeat(500));
        }
        return tree.root();
    }

    private static void put(Tree tree, int keyGroup, String key, String value) {
        StateKey stateKey = new StateKey().setKey(keyGroup, key.getBytes(UTF_8));
        tree.put(new EntryKey().value(stateKey), value.getBytes(UTF_8), 0, value.length());
    }

    private static String lines(byte[] bytes) {
        StringBuilder lines = new StringBuilder();
        for (int at = 0; at < bytes.length; at += 32) {
            lines.append(HexFormat.of().formatHex(bytes, at, Math.min(bytes.length, at + 32)));
            lines.append('\n');
        }
        return lines.toString();
    }

    private static ByteBuffer vector() throws IOException {
        String hex = Files.readString(VECTOR).replace("\n", "");
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static int checksum(ByteBuffer file, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(file.array(), from, length);
        return (int) crc.getValue();
    }

    private static Map<Integer, ByteBuffer> blocks(ByteBuffer file) {
        Map<Integer, ByteBuffer> pages = new TreeMap<>();
        int at = 32;
        while (at < file.capacity()) {
            int bytes = blockBytes(file, at);
            assertThat(file.getInt(at)).isEqualTo(checksum(file, at + 4, bytes - 4));
            ByteBuffer stored = file.slice(at + 16, file.getInt(at + 12));
            int size = file.getInt(at + 8);
            ByteBuffer page = stored.remaining() < size ? decompressed(stored, size) : stored;
            pages.put(file.getInt(at + 4), page.order(ByteOrder.LITTLE_ENDIAN));
            at += bytes;
        }
        return pages;
    }

    private static int blockBytes(ByteBuffer file, int at) {
        int unit = file.getInt(at + 8) / 16;
        return 16 + (file.getInt(at + 12) + unit - 1) / unit * unit;
    }

    /** The LZ4 block format. */
    private static ByteBuffer decompressed(ByteBuffer stored, int size) {
        ByteBuffer page = ByteBuffer.allocate(size);
        while (page.hasRemaining()) {
            int token = stored.get() & 0xff;
            for (int left = length(stored, token >> 4); left > 0; left--) {
                page.put(stored.get());
            }
            if (page.hasRemaining()) {
                int distance = stored.get() & 0xff | (stored.get() & 0xff) << 8;
                for (int left = length(stored, token & 15) + 4; left > 0; left--) {
                    page.put(page.get(page.position() - distance));
                }
            }
        }
        assertThat(stored.remaining()).isZero();
        return page.flip();
    }

    private static int length(ByteBuffer stored, int start) {
        int length = start;
        if (start == 15) {
            int more;
            do {
                more = stored.get() & 0xff;
                length += more;
            } while (more == 255);
        }
        return length;
    }

    /** Key group and key to value, of a leaf without chains. */
    private static Map<String, String> valuesOf(ByteBuffer leaf) {
        assertThat(leaf.get(0)).isEqualTo((byte) 1);
        Map<String, String> values = new TreeMap<>();
        for (int slot = 0; slot < leaf.getShort(2); slot++) {
            long high = leaf.getLong(16 + slot * 10);
            int record = leaf.getShort(16 + slot * 10 + 8);
            int keyLength = leaf.getShort(record + 1);
            int valueLength = leaf.getShort(record + 7);
            String key = text(leaf, record + 11, keyLength);
            values.put((high >>> 48) + "/" + key, text(leaf, record + 11 + keyLength, valueLength));
        }
        return values;
    }

    private static byte[] payloadOf(ByteBuffer chain) {
        assertThat(chain.getInt(0)).as("next page").isZero();
        byte[] payload = new byte[chain.getInt(4)];
        chain.get(8, payload);
        return payload;
    }

    private static String text(ByteBuffer page, int offset, int length) {
        byte[] bytes = new byte[length];
        page.get(offset, bytes);
        return new String(bytes, UTF_8);
    }
}
