package io.afterbay.flink.incremental;

import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.io.DiskAdvice;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.jspecify.annotations.Nullable;

/** Writes bases of a store to checkpoint storage. Thread-safe. */
final class BaseWriter {
    private final Path directory;
    private final int transferThreads;
    private final @Nullable LocalCopies localCopies;

    /**
     * @param directory of the store, which writes the files of its images there
     * @param transferThreads files that are uploaded at a time
     */
    BaseWriter(Path directory, int transferThreads, @Nullable LocalCopies localCopies) {
        this.directory = directory;
        this.transferThreads = transferThreads;
        this.localCopies = localCopies;
    }

    /** Hears of a base whose index is written, so that its local files are retained. */
    interface Listener {
        /**
         * @param reused names of files that the base has in common with others
         */
        void indexed(Base base, List<String> reused);
    }

    /**
     * Writes the image of a frozen store, and uploads what of it is not there.
     *
     * @param reusable files that may be referred to, by name
     * @param downloads what arrives behind the store; null if nothing does
     */
    Base write(
            StoreSnapshot frozen,
            Map<String, StreamStateHandle> reusable,
            @Nullable LazyDownloads downloads,
            Uploads uploads,
            Listener listener)
            throws IOException {
        try (Image image = new Image(frozen)) {
            Base base = writeIndex(image, reusable, downloads, uploads, listener);
            uploadSegments(image.get().files(), reusable, downloads, uploads);
            return base;
        }
    }

    /** From then on the base may be referred to. */
    private Base writeIndex(
            Image image,
            Map<String, StreamStateHandle> reusable,
            @Nullable LazyDownloads downloads,
            Uploads uploads,
            Listener listener)
            throws IOException {
        UUID id = UUID.randomUUID();
        String name = id + Base.INDEX_SUFFIX;
        try {
            uploads.share(name, localCopies == null ? image : out -> writeTwice(name, image, out));
            Base base = Base.of(id, image.get());
            listener.indexed(base, base.names().filter(reusable::containsKey).toList());
            if (localCopies != null) {
                localCopies.keepWritten(name);
                keepAllButMissing(image.get(), downloads, localCopies);
            }
            return base;
        } finally {
            if (localCopies != null) {
                localCopies.dropWritten(name); // unless it is kept
            }
        }
    }

    private void writeTwice(String name, Image image, OutputStream out) throws IOException {
        try (OutputStream both = Objects.requireNonNull(localCopies).tee(name, out)) {
            image.writeTo(both);
        }
    }

    /** What is not here yet is kept when it is. */
    private static void keepAllButMissing(
            StoreImage image, @Nullable LazyDownloads downloads, LocalCopies copies) {
        for (StoreImage.File file : image.files()) {
            String name = Base.Segment.of(file).name();
            if (downloads == null || !downloads.isMissing(name)) {
                copies.keep(name, file.path());
            }
        }
    }

    private void uploadSegments(
            List<StoreImage.File> files,
            Map<String, StreamStateHandle> reusable,
            @Nullable LazyDownloads downloads,
            Uploads uploads)
            throws IOException {
        Map<String, StoreImage.File> missing = new LinkedHashMap<>();
        for (StoreImage.File file : files) {
            String name = Base.Segment.of(file).name();
            StreamStateHandle present = reusable.get(name);
            if (present != null) {
                uploads.refer(name, present);
            } else {
                missing.put(name, file);
            }
        }
        if (downloads != null) {
            // The one that was restored may be deleted as soon as this one is complete.
            downloads.awaitAllBut(uploads.names(), uploads::isCancelled);
        }
        uploads.share(missing, transferThreads);
    }

    /** The image of a snapshot, from when its index is written until its files are uploaded. */
    private final class Image implements Uploads.Content, AutoCloseable {
        private final StoreSnapshot snapshot;
        private @Nullable StoreImage image;

        Image(StoreSnapshot snapshot) {
            this.snapshot = snapshot;
        }

        @Override
        public void writeTo(OutputStream index) throws IOException {
            try {
                image = snapshot.image(index);
            } catch (IOException e) {
                throw new IOException(
                        ("cannot write a base to %s, or its index to checkpoint storage: %s; the next"
                                        + " checkpoint tries again. Check the free space of both %s")
                                .formatted(directory, e.getMessage(), DiskAdvice.of(directory)),
                        e);
            }
        }

        StoreImage get() {
            return Objects.requireNonNull(image);
        }

        @Override
        public void close() {
            if (image != null) {
                image.close();
            }
        }
    }
}
