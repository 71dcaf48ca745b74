package io.afterbay.flink.incremental;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.Test;

/** The format against a vector that another program made by {@code spec/checkpoint-manifest.md}. */
class CheckpointManifestTest {
    private static final Path VECTOR = Path.of("../../spec/vectors/checkpoint-manifest.hex");
    private static final byte[] STATES = "STATES".getBytes(US_ASCII);

    private static final UUID LOG = UUID.fromString("ffeeddcc-bbaa-9988-7766-554433221100");
    private static final CheckpointManifest MANIFEST =
            CheckpointManifest.of(
                    new KeyGroupRange(4, 7),
                    new Base(
                            UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"),
                            List.of(
                                    new Base.Segment(3, "00000003.log", 1 << 20),
                                    new Base.Segment(12, "00000012.log", 4096))),
                    List.of(
                            new LogSegment(LOG, 1, 500, null),
                            new LogSegment(LOG, 2, 65_599, null)));

    private static byte[] vector() throws IOException {
        return HexFormat.of().parseHex(Files.readString(VECTOR).replaceAll("\\s", ""));
    }

    private static CheckpointManifest.Read read(byte[] bytes) throws IOException {
        int magic = CheckpointManifest.magicBytes();
        return CheckpointManifest.read(
                new ByteArrayInputStream(bytes, magic, bytes.length - magic), "chk-7/manifest");
    }

    @Test
    void writesTheVector() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        MANIFEST.write(STATES, out);
        assertThat(out.toByteArray()).isEqualTo(vector());
    }

    @Test
    void readsTheVector() throws IOException {
        assertThat(CheckpointManifest.recognises(Arrays.copyOf(vector(), 8))).isTrue();
        CheckpointManifest.Read read = read(vector());
        assertThat(read.manifest()).isEqualTo(MANIFEST);
        assertThat(read.states()).isEqualTo(STATES);
        assertThat(read.manifest().base().indexName())
                .isEqualTo("00112233-4455-6677-8899-aabbccddeeff.index");
        assertThat(read.manifest().segments().get(1).name()).isEqualTo(LOG + "-2.redo");
    }

    @Test
    void noticesEveryDamagedByte() throws IOException {
        byte[] vector = vector();
        for (int at = CheckpointManifest.magicBytes(); at < vector.length; at++) {
            byte[] damaged = vector.clone();
            damaged[at] ^= 1;
            assertThatThrownBy(() -> read(damaged))
                    .as("byte %d", at)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("chk-7/manifest");
        }
    }

    @Test
    void noticesEveryEndThatComesTooEarly() throws IOException {
        byte[] vector = vector();
        for (int length = CheckpointManifest.magicBytes(); length < vector.length; length++) {
            byte[] part = Arrays.copyOf(vector, length);
            assertThatThrownBy(() -> read(part))
                    .as("%d bytes", length)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("restore from another checkpoint");
        }
    }
}
