package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store that closes must not free what a snapshot's reader is about to use. */
class CloseWaitsForReadersTest {
    private static final int PAGES = 2000;
    private static final int PAGE_BYTES = 4096;

    @TempDir private Path directory;
    private final CountDownLatch inRead = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile long read;

    @Test
    void closeWaitsForARunningRead() throws InterruptedException {
        long allocatedBefore = Memory.allocatedBytes();
        PageStore pages = new PageStore(options());
        int first = fill(pages);
        PageSnapshot snapshot = pages.freeze();
        Thread reader = new Thread(() -> readGuarded(snapshot, first), "reader");
        reader.start();
        inRead.await();
        Thread closer = new Thread(pages::close, "closer");
        closer.start();
        while (closer.getState() != Thread.State.WAITING && closer.isAlive()) {
            Thread.onSpinWait();
        }
        assertThat(closer.isAlive()).as("close waits").isTrue();
        goOn.countDown();
        reader.join();
        closer.join();
        assertThat(read).as("what the reader saw while the store was closing").isEqualTo(first);
        snapshot.close();
        assertThat(Memory.allocatedBytes()).isEqualTo(allocatedBefore);
    }

    private StoreOptions options() {
        return new StoreOptions(
                "closing",
                directory.resolve("store"),
                new BlockingFiles(),
                new MemoryBudget(2 << 20),
                Runnable::run,
                Runnable::run,
                Runnable::run,
                0,
                0,
                1.5,
                true);
    }

    /** Four times the budget, so that the first page is in a file. */
    private static int fill(PageStore pages) {
        int first = 0;
        for (int i = 0; i < PAGES; i++) {
            pages.safepoint();
            int page = pages.allocate(PAGE_BYTES, PageStore.TREE_STREAM, 0);
            Memory.putLong(pages.address(page), page);
            first = first == 0 ? page : first;
        }
        return first;
    }

    private void readGuarded(PageSnapshot snapshot, int page) {
        snapshot.reading.lock();
        try {
            read = Memory.getLong(snapshot.address(page, 0));
        } finally {
            snapshot.reading.unlock();
        }
    }

    /** Reads stop until {@link #goOn}. */
    private final class BlockingFiles implements LocalFiles {
        private final LocalFiles system = LocalFiles.system();

        @Override
        public void createDirectories(Path path) throws IOException {
            system.createDirectories(path);
        }

        @Override
        public LocalFile create(Path path) throws IOException {
            return new BlockingFile(system.create(path));
        }

        @Override
        public LocalFile open(Path path) throws IOException {
            return system.open(path);
        }

        @Override
        public void link(Path existing, Path link) throws IOException {
            system.link(existing, link);
        }

        @Override
        public void delete(Path path) throws IOException {
            system.delete(path);
        }

        @Override
        public void deleteDirectory(Path path) throws IOException {
            system.deleteDirectory(path);
        }

        @Override
        public List<Path> list(Path path) throws IOException {
            return system.list(path);
        }
    }

    private final class BlockingFile implements LocalFile {
        private final LocalFile file;

        BlockingFile(LocalFile file) {
            this.file = file;
        }

        @Override
        public int write(ByteBuffer source, long position) throws IOException {
            return file.write(source, position);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            inRead.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            return file.read(target, position);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
