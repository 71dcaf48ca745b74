package io.afterbay.store.testkit;

import io.afterbay.store.ImageFiles;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.io.ArrivingFile;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** Copies of stores by images whose files arrive behind them, as slowly as the test wants. */
final class ArrivingImages implements AutoCloseable {
    /** Also those that have arrived, or are closed. */
    final List<ArrivingFile> arriving = Collections.synchronizedList(new ArrayList<>());

    /** Fetched because a store read it. */
    final AtomicLong fetchedBytes = new AtomicLong();

    private final Map<ArrivingFile, LocalFile> sources = new HashMap<>();
    private final Map<ArrivingFile, Integer> numbers = new HashMap<>();
    private final List<LocalFile> open = new ArrayList<>();

    /** A store with the content of another one; nothing of that is read but the index. */
    StateStore copy(StateStore store, StoreOptions options) throws IOException {
        ByteArrayOutputStream index = new ByteArrayOutputStream();
        try (StoreSnapshot snapshot = store.snapshot();
                StoreImage image = snapshot.image(index)) {
            return StateStores.open(
                    options, new ByteArrayInputStream(index.toByteArray()), files(image, options));
        }
    }

    /** They stay readable when the first store has deleted them. */
    private ImageFiles files(StoreImage image, StoreOptions options) throws IOException {
        Map<Integer, ArrivingFile> files = new HashMap<>();
        for (StoreImage.File file : image.files()) {
            LocalFile source = LocalFiles.system().open(file.path());
            open.add(source);
            ArrivingFile arrivingFile =
                    new ArrivingFile(
                            options.files(),
                            options.directory().resolve(file.path().getFileName()),
                            file.bytes(),
                            (target, position) -> {
                                read(source, target, position);
                                fetchedBytes.addAndGet(target.capacity());
                            });
            sources.put(arrivingFile, source);
            arriving.add(arrivingFile);
            files.put(file.number(), arrivingFile);
            numbers.put(arrivingFile, file.number());
        }
        return files::get;
    }

    private static void read(LocalFile source, ByteBuffer target, long position)
            throws IOException {
        while (target.hasRemaining()) {
            if (source.read(target, position + target.position()) < 0) {
                throw new EOFException();
            }
        }
    }

    /** Brings some chunk of some file. */
    void bringOne(Random random) throws IOException {
        ArrivingFile file = arriving.get(random.nextInt(arriving.size()));
        long at = file.nextMissing(random.nextInt(20) * (long) ArrivingFile.CHUNK_BYTES);
        if (at >= 0 && !file.isClosed()) {
            bring(file, at);
        }
    }

    /** Brings some chunks, by the numbers of files. */
    void bring(Map<Integer, BitSet> chunks) throws IOException {
        for (Map.Entry<ArrivingFile, Integer> file : numbers.entrySet()) {
            BitSet wanted = chunks.getOrDefault(file.getValue(), new BitSet());
            for (int chunk : wanted.stream().toArray()) {
                bring(file.getKey(), chunk * (long) ArrivingFile.CHUNK_BYTES);
            }
        }
    }

    /** Brings all that is missing. */
    void bringAll() throws IOException {
        for (ArrivingFile file : List.copyOf(arriving)) {
            for (long at = file.nextMissing(0);
                    at >= 0 && !file.isClosed();
                    at = file.nextMissing(at)) {
                bring(file, at);
            }
        }
    }

    private void bring(ArrivingFile file, long at) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocate(file.chunkBytes(at));
        read(sources.get(file), chunk, at);
        try {
            file.put(chunk.flip(), at);
        } catch (IOException e) {
            if (!file.isClosed()) { // by a task of the store
                throw e;
            }
        }
    }

    long missingBytes() {
        return arriving.stream()
                .filter(file -> !file.isClosed())
                .mapToLong(ArrivingFile::missingBytes)
                .sum();
    }

    @Override
    public void close() throws IOException {
        for (LocalFile source : open) {
            source.close();
        }
    }
}
