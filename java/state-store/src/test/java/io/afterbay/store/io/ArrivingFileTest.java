package io.afterbay.store.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArrivingFileTest {
    private static final int CHUNK = ArrivingFile.CHUNK_BYTES;
    private static final int BYTES = 5 * CHUNK + 100;

    @TempDir private Path directory;

    private final byte[] content = new byte[BYTES];

    /** Positions that were fetched on demand. */
    private final List<Long> fetched = new ArrayList<>();

    private Path path;
    private ArrivingFile file;

    @BeforeEach
    void create() {
        new Random(1).nextBytes(content);
        path = directory.resolve("file");
        file = new ArrivingFile(LocalFiles.system(), path, BYTES, this::fetch);
    }

    @AfterEach
    void close() throws IOException {
        file.close();
    }

    private void fetch(ByteBuffer target, long position) {
        fetched.add(position);
        target.put(content, (int) position, target.remaining());
    }

    private void put(long position) throws IOException {
        file.put(
                ByteBuffer.wrap(content, (int) position, file.chunkBytes(position)).slice(),
                position);
    }

    private void assertReads(int position, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        while (target.hasRemaining()) {
            int read = file.read(target, position + target.position());
            assertThat(read).isPositive();
        }
        assertThat(target.array())
                .isEqualTo(Arrays.copyOfRange(content, position, position + length));
    }

    @Test
    void aReadFetchesTheChunksThatAreMissing() throws IOException {
        assertReads(10, 20);
        assertThat(fetched).containsExactly(0L);
        assertReads(CHUNK - 10, 20);
        assertThat(fetched).containsExactly(0L, (long) CHUNK);
        assertReads(0, 2 * CHUNK);
        assertThat(fetched).as("is here by now").hasSize(2);
        assertThat(file.missingBytes()).isEqualTo(BYTES - 2 * CHUNK);
        assertReads(5 * CHUNK, 100);
        assertThat(file.missingBytes()).isEqualTo(3 * CHUNK);
    }

    @Test
    void aReadOfSeveralChunksFetchesThemAtOnce() throws IOException {
        assertReads(CHUNK + 1, 2 * CHUNK);
        assertThat(fetched).containsExactly((long) CHUNK);
        assertThat(file.nextMissing(0)).isZero();
        assertThat(file.nextMissing(CHUNK)).isEqualTo(4 * CHUNK);
    }

    @Test
    void whatIsPutIsNotFetched() throws IOException {
        for (long at = file.nextMissing(0); at >= 0; at = file.nextMissing(at)) {
            assertThat(file.arrival()).isNotDone();
            put(at);
        }
        assertThat(file.arrival()).isCompleted();
        assertThat(file.missingBytes()).isZero();
        assertReads(0, BYTES);
        assertThat(fetched).isEmpty();
        assertThat(path).hasBinaryContent(content);
        assertThat(file.read(ByteBuffer.allocate(1), BYTES)).isEqualTo(-1);
    }

    @Test
    void aChunkMayComeTwice() throws IOException {
        put(CHUNK);
        put(CHUNK);
        assertThat(file.missingBytes()).isEqualTo(BYTES - CHUNK);
        assertReads(0, BYTES);
        assertThat(file.arrival()).isCompleted();
        put(CHUNK);
        assertReads(0, BYTES);
    }

    @Test
    void aFailureIsThatOfEveryReadOfWhatIsMissing() throws IOException {
        put(0);
        file.fail(new IOException("it is gone"));
        assertThat(file.arrival()).isCompletedExceptionally();
        assertThatThrownBy(() -> assertReads(CHUNK, 1)).hasMessage("it is gone");
        assertThat(fetched).isEmpty();
    }

    /** The source fails this reader, and meanwhile somebody else brings it. */
    @Test
    void aReaderTakesWhatOthersBring() throws IOException {
        file =
                new ArrivingFile(
                        LocalFiles.system(),
                        path,
                        BYTES,
                        (target, position) -> {
                            put(position);
                            throw new IOException("too late");
                        });
        assertReads(CHUNK, 10);
    }

    @Test
    void closingWaitsForNoSource() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        file =
                new ArrivingFile(
                        LocalFiles.system(),
                        path,
                        BYTES,
                        (target, position) -> {
                            asked.countDown();
                            await(answer);
                            fetch(target, position);
                        });
        CompletableFuture<Void> reading =
                CompletableFuture.runAsync(
                        () -> {
                            try {
                                assertReads(0, 1);
                            } catch (IOException e) {
                                throw new IllegalStateException(e.getMessage());
                            }
                        });
        await(asked);
        file.close();
        assertThatThrownBy(() -> file.arrival().join()).isInstanceOf(CancellationException.class);
        answer.countDown();
        assertThatThrownBy(reading::join).hasStackTraceContaining("it is closed");
        assertThat(path).doesNotExist();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
