package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.StateStore;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.redo.RedoSink;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RedoChainTest {
    private static final int BYTES_MAX = 16_000;
    private static final int CHUNK_BYTES = 100;

    @TempDir private Path parent;
    private final List<LogSegment> early = new ArrayList<>();
    private final List<Boolean> expected = new ArrayList<>();
    private @Nullable RedoSink sink;
    private RedoChain chain;

    private void open() {
        open(Runnable::run);
    }

    private void open(Executor background) {
        chain =
                new RedoChain(
                        storeThatKeepsItsSink(),
                        LocalFiles.system(),
                        parent.resolve("redo"),
                        background,
                        BYTES_MAX,
                        early::add);
        chain.begin();
    }

    @AfterEach
    void close() throws IOException {
        chain.close();
        assertThat(parent).isEmptyDirectory();
    }

    private StateStore storeThatKeepsItsSink() {
        return (StateStore)
                Proxy.newProxyInstance(
                        RedoChainTest.class.getClassLoader(),
                        new Class<?>[] {StateStore.class},
                        (proxy, method, arguments) -> {
                            switch (method.getName()) {
                                case "startRedo" -> sink = (RedoSink) arguments[0];
                                case "expectSnapshot" -> expected.add((Boolean) arguments[0]);
                                default -> {}
                            }
                            return null;
                        });
    }

    private void change(int bytes) {
        for (int left = bytes; left > 0; left -= CHUNK_BYTES) {
            Objects.requireNonNull(sink).chunk(new byte[CHUNK_BYTES], CHUNK_BYTES);
        }
    }

    /** Those of dropped segments may still be among them: they are deleted in the background. */
    private Set<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(parent.resolve("redo"))) {
            return files.collect(Collectors.toSet());
        }
    }

    /** What a checkpoint does that cannot go on from the last one. */
    private void beginAnew() {
        chain.seal();
        assertThat(chain.isBroken()).isTrue();
        chain.begin();
        chain.dropBefore(chain.end());
        early.clear();
    }

    private void changeTooMuch() {
        change(2 * BYTES_MAX);
        assertThat(chain.isBroken()).isTrue();
    }

    @Test
    void writesNothingWhileEveryLogWouldBeGivenUp() throws IOException {
        open();
        changeTooMuch();
        assertThat(early).isNotEmpty();
        beginAnew();
        changeTooMuch();
        assertThat(early).as("once may be an exception").isNotEmpty();
        beginAnew();
        Set<Path> before = files();
        for (int i = 0; i < 3; i++) {
            changeTooMuch();
            assertThat(early).isEmpty();
            assertThat(before).as("nothing is written").containsAll(files());
            beginAnew();
        }
        change(BYTES_MAX / 2);
        assertThat(before).as("nothing is written").containsAll(files());
        beginAnew();
        long position = chain.end();
        change(BYTES_MAX / 2);
        chain.seal();
        assertThat(chain.isBroken()).isFalse();
        assertThat(chain.reachesBackTo(position)).isTrue();
        assertThat(chain.bytesFrom(position)).isGreaterThanOrEqualTo(BYTES_MAX / 2);
    }

    @Test
    void theStoreHearsThatTheNextCheckpointHasABase() {
        open();
        change(BYTES_MAX / 2);
        chain.seal();
        change(BYTES_MAX);
        assertThat(expected).isEmpty();
        changeTooMuch();
        assertThat(expected).as("once, and not for each chunk").containsExactly(true);
    }

    @Test
    void oneLogThatIsTooLongIsNoReasonToWriteNoOther() {
        open();
        for (int i = 0; i < 3; i++) {
            changeTooMuch();
            beginAnew();
            change(BYTES_MAX / 2);
            chain.seal();
            assertThat(chain.isBroken()).isFalse();
            assertThat(early).as("this one is written").isNotEmpty();
        }
    }

    /** A job may give them up for weeks. */
    @Test
    void logsThatAreWrittenAreForgotten() {
        open();
        for (int i = 0; i < 5; i++) {
            changeTooMuch();
            beginAnew();
            assertThat(chain.logs()).isEqualTo(1);
        }
    }

    @Test
    void aLogIsKeptAsLongAsItIsWritten() {
        Queue<Runnable> background = new ArrayDeque<>();
        open(background::add);
        changeTooMuch(); // more than may wait
        long stalls = chain.stalls();
        assertThat(stalls).isPositive();
        beginAnew();
        assertThat(chain.logs()).isEqualTo(2);
        background.forEach(Runnable::run);
        chain.begin();
        assertThat(chain.logs()).isEqualTo(1);
        assertThat(chain.stalls()).isEqualTo(stalls);
    }
}
