package io.afterbay.store.paged;

import io.afterbay.store.ImageFiles;
import io.afterbay.store.StateKind;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.VerifiedInputStream;
import io.afterbay.store.io.VerifiedOutputStream;
import io.afterbay.store.page.PageImage;
import io.afterbay.store.page.PageSnapshot;
import io.afterbay.store.page.PageStore;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * What opens an image: where each page lies, and where the pages of each state begin. Format:
 * {@code spec/image-index.md}.
 */
final class ImageIndex {
    private static final byte[] MAGIC = "AFTRIMAG".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION = 3;

    /** Did not tell which key groups pages are of. */
    private static final int VERSION_WITHOUT_SLICES = 2;

    private final int firstKeyGroup;
    private final int lastKeyGroup;

    /** Of a store with the key groups of these options. */
    ImageIndex(StoreOptions options) {
        firstKeyGroup = options.firstKeyGroup();
        lastKeyGroup = options.lastKeyGroup();
    }

    // ---------------------------------------------------------------- writing

    /** Writes the files of an image and its index; the stream stays open. */
    StoreImage write(PageSnapshot pages, Map<String, FrozenState> states, OutputStream index)
            throws IOException {
        DataOutputStream header = new DataOutputStream(index);
        header.write(MAGIC);
        header.writeInt(VERSION);
        DataOutputStream out = new DataOutputStream(new VerifiedOutputStream(index));
        out.writeInt(firstKeyGroup);
        out.writeInt(lastKeyGroup);
        StoreImage image = PageImage.write(pages, out);
        boolean written = false;
        try {
            writeStates(states, out);
            out.close(); // not the stream below
            written = true;
            return image;
        } finally {
            if (!written) {
                image.close();
            }
        }
    }

    private static void writeStates(Map<String, FrozenState> states, DataOutputStream out)
            throws IOException {
        out.writeInt(states.size());
        for (Map.Entry<String, FrozenState> state : states.entrySet()) {
            byte[] name = state.getKey().getBytes(StandardCharsets.UTF_8);
            out.writeInt(name.length);
            out.write(name);
            out.writeByte(state.getValue().kind().code());
            state.getValue().writeRoot(out);
        }
    }

    // ---------------------------------------------------------------- reading

    /**
     * Reads into a store that is empty.
     *
     * @param open opens a state
     */
    void read(
            InputStream index,
            PageStore pages,
            ImageFiles files,
            BiFunction<String, StateKind, State> open)
            throws IOException {
        BufferedInputStream buffered = new BufferedInputStream(index);
        try {
            int version = readHeader(new DataInputStream(buffered));
            DataInputStream in = new DataInputStream(new VerifiedInputStream(buffered));
            checkKeyGroups(in.readInt(), in.readInt());
            pages.load(in, version > VERSION_WITHOUT_SLICES, files);
            for (int left = in.readInt(); left > 0; left--) {
                readState(in, open);
            }
            if (in.read() >= 0) {
                throw new IOException("its index goes on behind the end");
            }
        } catch (EOFException e) {
            throw new IOException("its index ends too early", e);
        }
    }

    private static int readHeader(DataInputStream in) throws IOException {
        if (!Arrays.equals(in.readNBytes(MAGIC.length), MAGIC)) {
            throw new IOException("this is no index of an image");
        }
        int version = in.readInt();
        if (version < VERSION_WITHOUT_SLICES || version > VERSION) {
            throw new IOException(
                    "its index has version %d; this program reads versions %d and %d"
                            .formatted(version, VERSION_WITHOUT_SLICES, VERSION));
        }
        return version;
    }

    private void checkKeyGroups(int first, int last) throws IOException {
        if (first != firstKeyGroup || last != lastKeyGroup) {
            throw new IOException(
                    "it has key groups %d to %d, and the store %d to %d"
                            .formatted(first, last, firstKeyGroup, lastKeyGroup));
        }
    }

    private static void readState(DataInputStream in, BiFunction<String, StateKind, State> open)
            throws IOException {
        String name = new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
        byte code = in.readByte();
        StateKind kind = StateKind.ofCode(code);
        if (kind == null) {
            throw new IOException("its state %s is of the unknown kind %d".formatted(name, code));
        }
        open.apply(name, kind).load(in);
    }
}
