package io.afterbay.workloads.trafficjam;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineReaderTest {
    private static final String TEXT = "one\n\nthree\r\nvi\u00e9r\nlast without end";

    @Test
    void readsLinesWithAnyEnd() throws IOException {
        assertThat(lines(reader(TEXT.getBytes(StandardCharsets.UTF_8), 0)))
                .containsExactly("one", "", "three", "vi\u00e9r", "last without end");
        assertThat(lines(reader(new byte[0], 0))).isEmpty();
        assertThat(lines(reader("\n".getBytes(StandardCharsets.UTF_8), 0))).containsExactly("");
    }

    @Test
    void everyOffsetIsAPlaceToResume() throws IOException {
        byte[] bytes = TEXT.getBytes(StandardCharsets.UTF_8);
        LineReader reader = reader(bytes, 0);
        List<String> all = lines(reader(bytes, 0));
        for (int read = 1; read <= all.size(); read++) {
            assertThat(reader.next()).isEqualTo(all.get(read - 1));
            int offset = (int) reader.offset();
            byte[] rest = Arrays.copyOfRange(bytes, offset, bytes.length);
            LineReader resumed = reader(rest, offset);
            assertThat(lines(resumed)).isEqualTo(all.subList(read, all.size()));
            assertThat(resumed.offset()).isEqualTo(bytes.length);
        }
    }

    @Test
    void cutsLinesWithoutEndButKeepsTheOffset() throws IOException {
        byte[] bytes = new byte[1_000_003];
        Arrays.fill(bytes, (byte) 'x');
        bytes[bytes.length - 2] = '\n';
        LineReader reader = reader(bytes, 0);
        assertThat(reader.next()).hasSize(LineReader.MAX_LINE_BYTES);
        assertThat(reader.offset()).isEqualTo(bytes.length - 1);
        assertThat(reader.next()).isEqualTo("x");
        assertThat(reader.next()).isNull();
    }

    private static LineReader reader(byte[] bytes, long offset) {
        return new LineReader(new Trickle(bytes), offset);
    }

    private static List<String> lines(LineReader reader) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line = reader.next(); line != null; line = reader.next()) {
            lines.add(line);
        }
        return lines;
    }

    /** Gives a few bytes at a time, as a pipe may, so that lines cross the reads. */
    private static final class Trickle extends InputStream {
        private final ByteArrayInputStream in;

        private Trickle(byte[] bytes) {
            this.in = new ByteArrayInputStream(bytes);
        }

        @Override
        public int read() {
            return in.read();
        }

        @Override
        public int read(byte[] buffer, int offset, int length) {
            return in.read(buffer, offset, Math.min(length, 4));
        }
    }
}
