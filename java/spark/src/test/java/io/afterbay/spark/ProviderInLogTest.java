package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.fs.FSDataInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProviderInLogTest {
    private static final String OFFSETS =
            "v1\n{\"conf\":{\"a\":\"b\",\"%s\":\"%s\"}}\n{\"note\":\"%s\"}";

    @TempDir Path dir;

    private static String log(String provider, String offset) {
        return String.format(OFFSETS, QuerySettings.PROVIDER, provider, offset);
    }

    private static String read(String log) throws IOException {
        byte[] bytes = log.getBytes(StandardCharsets.UTF_8);
        try (FSDataInputStream in = ProviderInLog.namingOurs(new ByteArrayInputStream(bytes))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void theLogNamesSparksClassAndTheQueryReadsOurs() throws Exception {
        String ours = log(QuerySettings.STAGGERED, QuerySettings.STAGGERED);
        Path file = Files.writeString(dir.resolve("7"), ours);
        ProviderInLog.nameSparks(file);
        String published = log(QuerySettings.ROCKSDB, QuerySettings.STAGGERED); // not the source's
        assertThat(file).hasContent(published);
        assertThat(read(published)).isEqualTo(ours);
    }

    @Test
    void leavesTheRestAsItIs() throws Exception {
        for (String text : new String[] {"", "v1", "v1\n", log("com.example.Store", "1") + "\n"}) {
            Path file = Files.writeString(dir.resolve("7"), text);
            ProviderInLog.nameSparks(file);
            assertThat(Files.readString(file)).isEqualTo(text);
            assertThat(read(text)).isEqualTo(text);
        }
    }
}
