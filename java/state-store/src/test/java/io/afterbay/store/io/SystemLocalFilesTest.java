package io.afterbay.store.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemLocalFilesTest {
    private static final int BLOCK_BYTES = 64 << 10;
    private static final int INTERRUPTS = 100;

    @TempDir Path directory;
    private final LocalFiles files = LocalFiles.system();

    @Test
    void readsBackWhatWasWrittenAtPositions() throws IOException {
        try (LocalFile file = files.create(directory.resolve("f"))) {
            write(file, 3, (byte) 7);
            assertThat(read(file, 3)).containsOnly(7);
            assertThat(read(file, 0)).containsOnly(0);
            assertThat(file.read(ByteBuffer.allocate(1), 4L * BLOCK_BYTES)).isEqualTo(-1);
        }
    }

    @Test
    void interruptedThreadReadsAndWritesAndStaysInterrupted() throws IOException {
        try (LocalFile file = files.create(directory.resolve("f"))) {
            Thread.currentThread().interrupt();
            write(file, 0, (byte) 1);
            assertThat(read(file, 0)).containsOnly(1);
            assertThat(Thread.interrupted()).as("interrupt status").isTrue();
            write(file, 1, (byte) 2);
            assertThat(Thread.interrupted()).as("interrupt status").isFalse();
        }
    }

    /**
     * Without reopening, the first interrupt that meets a transfer closes the file for both
     * threads.
     */
    @Test
    void interruptsInTheMiddleOfTransfersBreakNobody() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (LocalFile file = files.create(directory.resolve("f"))) {
            AtomicBoolean stop = new AtomicBoolean();
            AtomicInteger arrived = new AtomicInteger();
            AtomicInteger strays = new AtomicInteger();
            CompletableFuture<Thread> victim = new CompletableFuture<>();
            CompletableFuture<Void> interrupted =
                    CompletableFuture.runAsync(
                            () -> {
                                victim.complete(Thread.currentThread());
                                writeAndRead(file, 0, stop, arrived);
                            },
                            threads);
            CompletableFuture<Void> bystander =
                    CompletableFuture.runAsync(() -> writeAndRead(file, 1, stop, strays), threads);
            while (arrived.get() < INTERRUPTS && !interrupted.isDone() && !bystander.isDone()) {
                victim.get().interrupt();
                TimeUnit.MICROSECONDS.sleep(200);
            }
            stop.set(true);
            interrupted.get();
            bystander.get();
            assertThat(strays).as("interrupts of the other thread").hasValue(0);
        } finally {
            threads.shutdownNow();
        }
    }

    /** Counts how many times the thread finds itself interrupted. */
    private static void writeAndRead(
            LocalFile file, int block, AtomicBoolean stop, AtomicInteger interrupts) {
        try {
            for (int i = 0; !stop.get(); i++) {
                write(file, block, (byte) i);
                assertThat(read(file, block)).containsOnly((byte) i);
                interrupts.addAndGet(Thread.interrupted() ? 1 : 0);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void write(LocalFile file, int block, byte content) throws IOException {
        ByteBuffer source = ByteBuffer.allocateDirect(BLOCK_BYTES);
        while (source.hasRemaining()) {
            source.put(content);
        }
        source.flip();
        while (source.hasRemaining()) {
            file.write(source, (long) block * BLOCK_BYTES + source.position());
        }
    }

    private static byte[] read(LocalFile file, int block) throws IOException {
        ByteBuffer target = ByteBuffer.allocateDirect(BLOCK_BYTES);
        while (target.hasRemaining()) {
            file.read(target, (long) block * BLOCK_BYTES + target.position());
        }
        byte[] content = new byte[BLOCK_BYTES];
        target.flip().get(content);
        return content;
    }

    @Test
    void closedFileStaysClosed() throws IOException {
        LocalFile file = files.create(directory.resolve("f"));
        file.close();
        file.close();
        assertThatThrownBy(() -> file.read(ByteBuffer.allocate(1), 0))
                .isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> file.write(ByteBuffer.allocate(1), 0))
                .isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void createRefusesAnExistingFileAndSaysWhy() throws IOException {
        Path path = Files.createFile(directory.resolve("f"));
        assertThatThrownBy(() -> files.create(path))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(path.toString())
                .hasMessageContaining("exists already");
    }

    @Test
    void createInAMissingDirectorySaysSo() {
        Path path = directory.resolve("missing").resolve("f");
        assertThatThrownBy(() -> files.create(path))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(path + ": no such file or directory");
    }

    @Test
    void directoryInTheWayOfAFileIsNamed() throws IOException {
        Path file = Files.createFile(directory.resolve("f"));
        assertThatThrownBy(() -> files.createDirectories(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file + ": exists already");
    }

    @Test
    void deletesWhatIsThereAndIgnoresWhatIsNot() throws IOException {
        Path child = directory.resolve("a").resolve("b");
        files.createDirectories(child);
        files.createDirectories(child);
        assertThat(files.list(child.getParent())).containsExactly(child);
        files.deleteDirectory(child);
        files.deleteDirectory(child);
        files.create(child).close();
        files.delete(child);
        files.delete(child);
        assertThat(files.list(child.getParent())).isEmpty();
    }

    @Test
    void aLinkedFileStaysWhenItsFirstNameIsDeleted() throws IOException {
        Path first = Files.writeString(directory.resolve("first"), "content");
        Path second = directory.resolve("second");
        files.link(first, second);
        assertThatThrownBy(() -> files.link(first, second)).hasMessageContaining("exists already");
        files.delete(first);
        assertThat(second).hasContent("content");
        assertThatThrownBy(() -> files.link(first, directory.resolve("third")))
                .hasMessageContaining("no such file");
    }

    @Test
    void directoryInUseIsNotDeletedAndItsContentIsNamed() throws IOException {
        files.create(directory.resolve("left-over")).close();
        assertThatThrownBy(() -> files.deleteDirectory(directory))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(directory.toString())
                .hasMessageContaining("left-over");
        assertThat(directory).exists();
    }

    @Test
    void listOfAMissingDirectorySaysSo() {
        assertThatThrownBy(() -> files.list(directory.resolve("missing")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no such file or directory");
    }
}
