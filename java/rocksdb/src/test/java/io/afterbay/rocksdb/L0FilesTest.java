package io.afterbay.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class L0FilesTest {
    private final L0Files files = new L0Files();
    private final List<L0Files.File> live = new ArrayList<>();
    private int listings;

    private boolean flush(String family, String name, int limit) {
        live.add(new L0Files.File(family, "/" + name));
        return files.flushed(
                family,
                "/data/db/" + name,
                limit,
                () -> {
                    listings++;
                    return live;
                });
    }

    @Test
    void countsFromTheFilesThatAreThere() {
        live.add(new L0Files.File("a", "/1.sst"));
        live.add(new L0Files.File("a", "/2.sst"));
        live.add(new L0Files.File("b", "/3.sst"));
        assertThat(flush("a", "4.sst", 4)).isFalse();
        assertThat(listings).isEqualTo(1);
        assertThat(flush("a", "5.sst", 4)).isTrue();
        assertThat(files.count("b")).isEqualTo(1);
    }

    @Test
    void compactionsTakeFilesAway() {
        for (String name : List.of("1.sst", "2.sst", "3.sst")) {
            flush("a", name, 10);
        }
        files.compacted("a", List.of("/data/db/1.sst", "/data/db/2.sst"), List.of());
        assertThat(files.count("a")).isEqualTo(1);
        files.compacted("a", List.of("/data/db/3.sst"), List.of("/data/db/4.sst"));
        assertThat(files.count("a")).isEqualTo(1);
        assertThat(listings).isEqualTo(1);
    }

    @Test
    void asksAgainBeforeItSaysTooMany() {
        flush("a", "1.sst", 3);
        flush("a", "2.sst", 3);
        live.clear(); // moved without an event
        assertThat(flush("a", "3.sst", 3)).isFalse();
        assertThat(listings).isEqualTo(2);
    }
}
