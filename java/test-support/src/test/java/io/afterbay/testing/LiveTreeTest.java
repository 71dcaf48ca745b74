package io.afterbay.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveTreeTest {
    private static final int FILES = 20;
    private static final int LISTINGS = 20;

    @TempDir Path directory;

    @Test
    void hasTheFilesOfAllFolders() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        Path inner = Files.createDirectory(directory.resolve("folder")).resolve("inner");
        Files.createFile(inner);

        assertThat(LiveTree.files(directory)).containsExactlyInAnyOrder(file, inner);
        assertThat(LiveTree.files(directory.resolve("missing"))).isEmpty();
    }

    /** Each is renamed all the time, as a part of a sink is when it is finished. */
    @Test
    void filesMayGoAwayWhileTheyAreListed() throws Exception {
        Path stays = Files.createFile(directory.resolve("stays"));
        Path live = Files.createDirectory(directory.resolve("live"));
        AtomicBoolean goesOn = new AtomicBoolean(true);
        CompletableFuture<Void> others = CompletableFuture.runAsync(() -> rename(live, goesOn));
        try {
            Await.until("Files.walk to meet a file that is gone", () -> !canWalk(live));
            for (int i = 0; i < LISTINGS; i++) {
                assertThat(LiveTree.files(directory)).contains(stays);
            }
        } finally {
            goesOn.set(false);
            others.join();
        }
    }

    private static void rename(Path live, AtomicBoolean goesOn) {
        try {
            for (long round = 0; goesOn.get(); round++) {
                for (int i = 0; i < FILES; i++) {
                    Path file = live.resolve(i + "-" + round);
                    Files.createFile(file);
                    Files.move(file, live.resolve(i + "-finished-" + round));
                    Files.delete(live.resolve(i + "-finished-" + round));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean canWalk(Path live) {
        try (Stream<Path> files = Files.walk(live)) {
            files.forEach(Files::isRegularFile);
            return true;
        } catch (IOException | UncheckedIOException e) {
            return false;
        }
    }
}
