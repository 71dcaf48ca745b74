package io.afterbay.edge.lines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LineTailTest {
    @TempDir private Path directory;
    private Path file;
    private Path committed;

    @BeforeEach
    void name() {
        file = directory.resolve("a.ndjson");
        committed = directory.resolve("a.committed");
    }

    private void append(String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private static List<String> all(LineTail tail) throws IOException {
        List<String> lines = new ArrayList<>();
        for (byte[] line = tail.next(); line != null; line = tail.next()) {
            lines.add(new String(line, StandardCharsets.UTF_8));
        }
        return lines;
    }

    @Test
    void linesComeWhenTheyAreComplete() throws Exception {
        try (LineTail tail = new LineTail(new GrowingFile(file, null))) {
            assertThat(all(tail)).isEmpty();
            append("one\ntw");
            assertThat(all(tail)).containsExactly("one");
            append("o\n\nthree\n");
            assertThat(all(tail)).containsExactly("two", "", "three");
            assertThat(tail.isEnded()).isFalse();
            Files.createFile(GrowingFile.endOf(file));
            assertThat(all(tail)).isEmpty();
            assertThat(tail.isEnded()).isTrue();
        }
    }

    @Test
    void atTheEndTheLastLineNeedsNoEnd() throws Exception {
        append("one\ntwo");
        Files.createFile(GrowingFile.endOf(file));
        try (LineTail tail = new LineTail(new GrowingFile(file, null))) {
            assertThat(all(tail)).containsExactly("one", "two");
            assertThat(tail.isEnded()).isTrue();
        }
    }

    @Test
    void aFileThatNeverCameEndsToo() throws Exception {
        try (LineTail tail = new LineTail(new GrowingFile(file, null))) {
            Files.createFile(GrowingFile.endOf(file));
            assertThat(all(tail)).isEmpty();
            assertThat(tail.isEnded()).isTrue();
        }
    }

    /** A writer that is killed cuts off what is behind it, and writes something else there. */
    @Test
    void onlyWhatIsCommittedIsRead() throws Exception {
        try (LineTail tail = new LineTail(new GrowingFile(file, committed))) {
            append("one\ntwo\n");
            assertThat(all(tail)).isEmpty();
            Files.writeString(committed, "4\n");
            assertThat(all(tail)).containsExactly("one");
            Files.writeString(file, "one\nother\n");
            Files.writeString(committed, "10");
            assertThat(all(tail)).containsExactly("other");
            append("three\n");
            Files.createFile(GrowingFile.endOf(file));
            assertThat(all(tail)).containsExactly("three");
            assertThat(tail.isEnded()).isTrue();
        }
    }

    @Test
    void longLinesAreLines() throws Exception {
        String line = "x".repeat(1_000_000);
        append("a\n" + line + "\nb\n");
        try (LineTail tail = new LineTail(new GrowingFile(file, null))) {
            assertThat(all(tail)).containsExactly("a", line, "b");
        }
    }

    @Test
    void aNumberThatIsNoneIsNamed() throws Exception {
        append("one\n");
        Files.writeString(committed, "many");
        try (LineTail tail = new LineTail(new GrowingFile(file, committed))) {
            assertThatThrownBy(tail::next)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("a.committed: is no number of bytes");
        }
    }
}
