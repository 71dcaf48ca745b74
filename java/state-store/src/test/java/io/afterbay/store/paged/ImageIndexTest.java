package io.afterbay.store.paged;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.io.VerifiedInputStream;
import io.afterbay.store.io.VerifiedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Holds the code against {@code spec/image-index.md}: what it writes is the golden vector, and what
 * was written before slices were is read. {@code -Dafterbay.vectors.write=true} writes the vector
 * anew, for a new version of the format.
 */
class ImageIndexTest {
    private static final Path VECTOR = Path.of("../../spec/vectors/image-index.hex");
    private static final int FIRST = 1000;
    private static final int LAST = 1599; // so that a slice is three key groups
    private static final int HEADER_BYTES = 12;

    @TempDir private Path directory;

    private StoreOptions options(String name) {
        return new StoreOptions(
                name,
                directory.resolve(name),
                LocalFiles.system(),
                new MemoryBudget(4 << 20),
                Runnable::run,
                Runnable::run,
                Runnable::run,
                FIRST,
                LAST,
                1.5,
                false);
    }

    private static byte[] bytes(int number) {
        return ByteBuffer.allocate(8).putInt(number).array();
    }

    private static StateKey key(int keyGroup) {
        return new StateKey().setKey(keyGroup, bytes(keyGroup)).setNamespace(bytes(1));
    }

    private static void fill(StateStore store) {
        for (int keyGroup = FIRST; keyGroup <= LAST; keyGroup += 50) {
            StateKey key = key(keyGroup);
            store.values("values").put(key, new byte[5000], 0, 5000);
            store.lists("aligned", ReadAlignment.ALIGNED).append(key, bytes(2), 0, 8);
            store.lists("unaligned", ReadAlignment.UNALIGNED).append(key, bytes(3), 0, 8);
            store.maps("maps").put(key, bytes(4), 8, bytes(5), 0, 8);
            store.triggers("triggers").add(keyGroup, key);
        }
        store.values("values").remove(key(FIRST)); // so that there are ids without a page
    }

    private static String content(StateStore store, int first, int last) {
        StringBuilder content = new StringBuilder();
        try (EntryCursor values = store.values("values").scan(first, last);
                EntryCursor triggers = store.triggers("triggers").scan(first, last)) {
            while (values.next()) {
                content.append(values.key().keyGroup()).append(values.value().length());
            }
            while (triggers.next()) {
                content.append(triggers.timestamp());
            }
        }
        return content.toString();
    }

    /** A store, the index of its image, and a store that was opened from what became of it. */
    private interface Check {
        void check(byte[] index, List<StoreImage.File> files, String content) throws IOException;
    }

    private void withImage(Check check) throws IOException {
        ByteArrayOutputStream index = new ByteArrayOutputStream();
        try (StateStore store = StateStores.open(options("first"))) {
            fill(store);
            try (StoreSnapshot snapshot = store.snapshot();
                    StoreImage image = snapshot.image(index)) {
                check.check(index.toByteArray(), image.files(), content(store, FIRST, LAST));
            }
        }
    }

    private StateStore open(byte[] index, List<StoreImage.File> files) {
        StoreOptions options = options("copy");
        Map<Integer, Path> paths =
                files.stream()
                        .collect(Collectors.toMap(StoreImage.File::number, StoreImage.File::path));
        return StateStores.open(
                options,
                new ByteArrayInputStream(index),
                number -> {
                    Path link = options.directory().resolve(paths.get(number).getFileName());
                    options.files().link(paths.get(number), link);
                    return options.files().open(link);
                });
    }

    @Test
    void theIndexIsTheVector() throws IOException {
        withImage(
                (index, files, content) -> {
                    if (Boolean.getBoolean("afterbay.vectors.write")) {
                        Files.writeString(VECTOR, lines(index));
                    }
                    assertThat(lines(index)).isEqualTo(Files.readString(VECTOR));
                });
    }

    private static String lines(byte[] bytes) {
        return HexFormat.of().formatHex(bytes).replaceAll("(.{64})", "$1\n") + "\n";
    }

    @Test
    void versionTwoIsRead() throws IOException {
        withImage(
                (index, files, content) -> {
                    try (StateStore store = open(withoutSlices(index), files)) {
                        assertThat(store.chunksOf(FIRST, FIRST))
                                .as("may be of any key group")
                                .isEqualTo(store.chunksOf(FIRST, LAST));
                        assertThat(content(store, FIRST, LAST)).isEqualTo(content);
                    }
                    try (StateStore store = open(index, files)) {
                        assertThat(store.chunksOf(FIRST, FIRST))
                                .isNotEqualTo(store.chunksOf(FIRST, LAST));
                        assertThat(content(store, FIRST, LAST)).isEqualTo(content);
                    }
                });
    }

    /** By the specification. */
    private static byte[] withoutSlices(byte[] index) throws IOException {
        ByteArrayOutputStream before = new ByteArrayOutputStream();
        before.write(index, 0, 8);
        before.write(new byte[] {0, 0, 0, 2});
        ByteArrayInputStream content =
                new ByteArrayInputStream(index, HEADER_BYTES, index.length - HEADER_BYTES);
        try (DataInputStream in = new DataInputStream(new VerifiedInputStream(content));
                DataOutputStream out = new DataOutputStream(new VerifiedOutputStream(before))) {
            out.writeLong(in.readLong()); // key groups
            int pages = in.readInt();
            out.writeInt(pages);
            for (int i = 0; i < pages; i++) {
                out.writeLong(in.readLong());
                in.readByte();
            }
            in.transferTo(out);
        }
        return before.toByteArray();
    }
}
