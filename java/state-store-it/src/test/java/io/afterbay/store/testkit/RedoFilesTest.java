package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.StateStoreException;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.redo.RedoFiles;
import io.afterbay.store.redo.RedoReader;
import io.afterbay.store.redo.RedoSegment;
import io.afterbay.store.testkit.FaultyLocalFiles.Fault;
import io.afterbay.store.testkit.FaultyLocalFiles.Operation;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Segment files of a redo log: written in the background, read back, and never read wrongly. */
class RedoFilesTest {
    @TempDir private Path directory;
    private final ExecutorService background = Executors.newFixedThreadPool(2);

    @AfterEach
    void shutDown() {
        background.shutdown();
    }

    private RedoFiles open(LocalFiles files) {
        return open(files, background);
    }

    private RedoFiles open(LocalFiles files, Executor executor) {
        return new RedoFiles(files, directory, executor);
    }

    private static byte[] chunk(int seed) {
        return StoreFixture.noise(seed, 1 + seed * 37 % 3000);
    }

    private static void write(RedoFiles log, int firstSeed, int lastSeed) {
        byte[] reused = new byte[4000];
        for (int seed = firstSeed; seed <= lastSeed; seed++) {
            byte[] chunk = chunk(seed);
            System.arraycopy(chunk, 0, reused, 0, chunk.length);
            log.chunk(reused, chunk.length);
            Arrays.fill(reused, (byte) -1);
        }
    }

    private static RedoSegment seal(RedoFiles log) {
        RedoSegment segment = log.seal();
        assertThat(segment).isNotNull();
        return segment;
    }

    private static void await(RedoSegment segment) {
        segment.written().toCompletableFuture().join();
    }

    private static List<Bytes> read(byte[] file, UUID log, long number) throws IOException {
        RedoReader reader = new RedoReader("it", new ByteArrayInputStream(file), log, number);
        List<Bytes> chunks = new ArrayList<>();
        while (reader.next()) {
            chunks.add(new Bytes(Arrays.copyOf(reader.chunk(), reader.length())));
        }
        assertThat(reader.next()).isFalse();
        return chunks;
    }

    private static List<Bytes> read(RedoSegment segment) throws IOException {
        byte[] file = Files.readAllBytes(segment.path());
        assertThat(file).hasSize((int) segment.bytes());
        return read(file, segment.log(), segment.number());
    }

    private static List<Bytes> chunks(int firstSeed, int lastSeed) {
        return Stream.iterate(firstSeed, seed -> seed <= lastSeed, seed -> seed + 1)
                .map(seed -> new Bytes(chunk(seed)))
                .toList();
    }

    @Test
    void segmentsReadAsTheyWereWritten() throws IOException {
        try (RedoFiles log = open(LocalFiles.system())) {
            write(log, 1, 100);
            RedoSegment first = seal(log);
            assertThat(log.seal()).as("a segment of nothing").isNull();
            write(log, 101, 103);
            RedoSegment second = seal(log);
            await(first);
            await(second);
            assertThat(read(first)).isEqualTo(chunks(1, 100));
            assertThat(read(second)).isEqualTo(chunks(101, 103));
            assertThat(first.number()).isEqualTo(1);
            assertThat(second.number()).isEqualTo(2);
        }
    }

    @Test
    void aLongChunkReadsAsItWasWritten() throws IOException {
        byte[] chunk = StoreFixture.noise(1, 5 << 20);
        try (RedoFiles log = open(LocalFiles.system())) {
            log.chunk(chunk, chunk.length);
            RedoSegment segment = seal(log);
            await(segment);
            assertThat(read(segment)).containsExactly(new Bytes(chunk));
        }
    }

    @Test
    void everyDamagedByteIsNoticed() throws IOException {
        RedoSegment segment = smallSegment();
        byte[] file = Files.readAllBytes(segment.path());
        for (int at = 0; at < file.length; at++) {
            byte[] damaged = file.clone();
            damaged[at] ^= 0x10;
            assertThatThrownBy(() -> read(damaged, segment.log(), segment.number()))
                    .as("byte %d", at)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("it");
        }
        assertThat(read(segment)).isEqualTo(chunks(1, 3));
    }

    @Test
    void everyShorterFileIsRefused() throws IOException {
        RedoSegment segment = smallSegment();
        byte[] file = Files.readAllBytes(segment.path());
        for (int length = 0; length < file.length; length++) {
            byte[] cut = Arrays.copyOf(file, length);
            assertThatThrownBy(() -> read(cut, segment.log(), segment.number()))
                    .as("%d bytes", length)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("ends");
        }
    }

    private RedoSegment smallSegment() {
        try (RedoFiles log = open(LocalFiles.system())) {
            write(log, 1, 3);
            RedoSegment segment = seal(log);
            await(segment);
            return segment;
        }
    }

    @Test
    void aFileOfAnotherLogOrSegmentIsNamed() throws IOException {
        RedoSegment segment = smallSegment();
        byte[] file = Files.readAllBytes(segment.path());
        assertThatThrownBy(() -> read(file, segment.log(), 2))
                .hasMessageContaining("it is segment 1 of log " + segment.log());
        assertThatThrownBy(() -> read(file, UUID.randomUUID(), 1))
                .hasMessageContaining("it is segment 1 of log " + segment.log());
        assertThatThrownBy(() -> read(new byte[100], segment.log(), 1))
                .hasMessageContaining("it is no redo log");
    }

    @Test
    void aFullDiskEndsTheLogAndNothingElse() throws IOException {
        FaultyLocalFiles files =
                new FaultyLocalFiles(LocalFiles.system()).on(Operation.WRITE, 8, Fault.diskFull());
        try (RedoFiles log = open(files)) {
            write(log, 1, 1);
            RedoSegment good = seal(log);
            await(good);
            write(log, 2, 100);
            RedoSegment bad = seal(log);
            assertThatThrownBy(() -> await(bad))
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(StateStoreException.class)
                    .hasMessageContaining("-00000002.redo: cannot write at byte")
                    .hasMessageContaining("No space left on device");
            write(log, 101, 200);
            RedoSegment later = seal(log);
            assertThatThrownBy(() -> await(later)).hasMessageContaining("No space left on device");
            assertThat(read(good)).isEqualTo(chunks(1, 1));
            assertThat(list()).containsExactly(good.path());
        }
    }

    private List<Path> list() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    /** What waits is bounded, so the owner has to wait for a slow disk; nothing is lost. */
    @Test
    void aSlowDiskStallsTheOwner() throws IOException {
        AtomicReference<RedoFiles> slow = new AtomicReference<>();
        FaultyLocalFiles files = slowUntilItStalls(slow);
        try (RedoFiles log = open(files)) {
            slow.set(log);
            write(log, 1, 200);
            RedoSegment segment = seal(log);
            await(segment);
            assertThat(read(segment)).isEqualTo(chunks(1, 200));
            assertThat(log.stalls()).isPositive();
        }
    }

    /** The first write behind the header takes until the owner of the log has had to wait. */
    private static FaultyLocalFiles slowUntilItStalls(AtomicReference<RedoFiles> log) {
        return new FaultyLocalFiles(LocalFiles.system())
                .on(Operation.WRITE, 2, new Fault.Until(() -> log.get().stalls() > 0));
    }

    /** Each change of more than a chunk is a chunk: few of them are much. */
    @Test
    void largeChunksThatWaitAreFew() throws IOException {
        AtomicReference<RedoFiles> slow = new AtomicReference<>();
        FaultyLocalFiles files = slowUntilItStalls(slow);
        byte[] large = StoreFixture.noise(1, 5 << 20);
        try (RedoFiles log = open(files)) {
            slow.set(log);
            for (int i = 0; i < 4; i++) {
                log.chunk(large, large.length);
            }
            RedoSegment segment = seal(log);
            await(segment);
            assertThat(read(segment)).hasSize(4).containsOnly(new Bytes(large));
            assertThat(log.stalls()).as("ten megabytes waited behind the first").isPositive();
        }
    }

    @Test
    void anExecutorThatTakesNoMoreIsDoneWithout() throws IOException {
        Executor none =
                task -> {
                    throw new RejectedExecutionException("it is shut down");
                };
        try (RedoFiles log = open(LocalFiles.system(), none)) {
            write(log, 1, 50);
            RedoSegment segment = seal(log);
            await(segment);
            assertThat(read(segment)).isEqualTo(chunks(1, 50));
        }
    }

    @Test
    void closeKeepsWhatIsSealedAndDeletesTheRest() throws IOException {
        RedoFiles log = open(LocalFiles.system());
        write(log, 1, 10);
        RedoSegment sealed = seal(log);
        await(sealed);
        write(log, 11, 50);
        log.close();
        log.close();
        assertThat(list()).containsExactly(sealed.path());
        assertThat(read(sealed)).isEqualTo(chunks(1, 10));
    }

    /** Nobody waits for ever. */
    @Test
    void whatCloseDiscardsSaysSo() {
        List<Runnable> tasks = new ArrayList<>();
        RedoFiles log = open(LocalFiles.system(), tasks::add);
        write(log, 1, 3);
        RedoSegment segment = seal(log);
        log.close();
        tasks.forEach(Runnable::run);
        assertThatThrownBy(() -> await(segment)).hasMessageContaining("the redo log was closed");
    }
}
