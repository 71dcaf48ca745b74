package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.io.LocalFiles;
import io.afterbay.testing.Await;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The end of a task whose checkpoint storage does not answer, not even to closes and deletes. */
class EarlyFilesTest {
    /** More than any pool has threads that is as large as the machine. */
    private static final int TASKS = 2 + Runtime.getRuntime().availableProcessors();

    @TempDir private Path directory;

    private final CountDownLatch answered = new CountDownLatch(1);

    private final EarlyFiles early = new EarlyFiles(new CheckpointFigures());

    @AfterEach
    void answer() {
        answered.countDown();
        early.close();
    }

    /** Waits like a socket for an answer: an interrupt does not help. */
    private void hang() {
        boolean interrupted = false;
        while (answered.getCount() > 0) {
            try {
                answered.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** In a thread of its own, and in time. */
    private static void inTime(Runnable action) throws Exception {
        CompletableFuture.runAsync(action, own -> new Thread(own).start())
                .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void theEndWaitsForNoDeletion() throws Exception {
        List<HangingFile> files = List.of(new HangingFile(), new HangingFile());
        early.add(Map.of("one", files.get(0), "other", files.get(1)));
        inTime(early::close);
        answered.countDown();
        for (HangingFile file : files) {
            file.deleted.await();
        }
    }

    /** Which a checkpoint gives back that has failed, under the lock that the end needs. */
    @Test
    void nobodyWaitsForTheDeletionOfAFileThatComesAfterTheEnd() throws Exception {
        early.close();
        HangingFile file = new HangingFile();
        inTime(() -> early.add(Map.of("late", file)));
        answered.countDown();
        file.deleted.await();
    }

    /**
     * For which the end of a task waits. On one or two processors the common pool would have a
     * thread for each.
     */
    @Test
    void localFilesAreDeletedWhileStreamsCannotBeClosed() throws Exception {
        for (int task = 0; task < TASKS; task++) {
            endWithAStreamThatCannotBeClosed();
        }
        Path file = Files.createFile(directory.resolve("file"));
        CompletableFuture<String> thread = new CompletableFuture<>();
        Deletions deletions = new Deletions(sayingWhoDeletes(thread));
        deletions.begin(file);
        inTime(deletions::await);
        assertThat(file).doesNotExist();
        assertThat(thread.join())
                .as("no thread that others wait in")
                .startsWith("afterbay-delete-");
    }

    private void endWithAStreamThatCannotBeClosed() throws Exception {
        EarlyFiles other = new EarlyFiles(new CheckpointFigures());
        HangingStorage storage = new HangingStorage();
        other.begin("file", storage, out -> storage.write());
        storage.reached.await();
        inTime(other::close);
        storage.closing.await();
    }

    private static LocalFiles sayingWhoDeletes(CompletableFuture<String> thread) {
        return (LocalFiles)
                Proxy.newProxyInstance(
                        EarlyFilesTest.class.getClassLoader(),
                        new Class<?>[] {LocalFiles.class},
                        (proxy, method, arguments) -> {
                            thread.complete(Thread.currentThread().getName());
                            try {
                                return method.invoke(LocalFiles.system(), arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    @SuppressWarnings("serial") // it is not serialised
    private final class HangingFile implements StreamStateHandle {
        private final CountDownLatch deleted = new CountDownLatch(1);

        @Override
        public void discardState() {
            hang();
            deleted.countDown();
        }

        @Override
        public FSDataInputStream openInputStream() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<byte[]> asBytesIfInMemory() {
            return Optional.empty();
        }

        @Override
        public PhysicalStateHandleID getStreamStateHandleID() {
            return new PhysicalStateHandleID("file");
        }

        @Override
        public long getStateSize() {
            return 0;
        }
    }

    /** Has one stream. */
    private final class HangingStorage extends CheckpointStateOutputStream implements NoDuplicates {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch closing = new CountDownLatch(1);

        @Override
        public CheckpointStateOutputStream createCheckpointStateOutputStream(
                CheckpointedStateScope scope) {
            return this;
        }

        void write() {
            reached.countDown();
            hang();
        }

        @Override
        public void write(int b) {
            write();
        }

        @Override
        public void close() {
            closing.countDown();
            hang();
        }

        @Override
        public StreamStateHandle closeAndGetHandle() {
            close();
            return new HangingFile();
        }

        @Override
        public long getPos() {
            return 0;
        }

        @Override
        public void flush() {}

        @Override
        public void sync() {}
    }
}
