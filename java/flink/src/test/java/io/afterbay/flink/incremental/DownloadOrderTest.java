package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.incremental.DownloadOrder.Chunk;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DownloadOrderTest {
    private final DownloadOrder order = new DownloadOrder();

    @BeforeEach
    void add() {
        for (String file : List.of("1", "2", "3", "4", "5")) {
            order.add(file);
        }
    }

    private List<String> all() {
        List<String> files = new ArrayList<>();
        for (String file = order.next(); file != null; file = order.next()) {
            files.add(file);
        }
        return files;
    }

    @Test
    void isThatOfTheFilesIfNothingElseIsKnown() {
        assertThat(all()).containsExactly("1", "2", "3", "4", "5");
    }

    @Test
    void filesThatTimersNeedComeFirst() {
        order.prefer("4", 0);
        order.prefer("2", 65536);
        order.prefer("4", 131072);
        assertThat(all()).containsExactly("4", "2", "1", "3", "5");
    }

    @Test
    void whatSomebodyWaitsForComesBeforeThem() {
        order.prefer("4", 0);
        order.moveToFront("3");
        order.moveToFront("5");
        order.prefer("3", 0);
        order.moveToFront("no such file");
        assertThat(all()).containsExactly("5", "3", "4", "1", "2");
    }

    @Test
    void chunksComeOnceInTheirOrder() {
        order.prefer("4", 0);
        order.prefer("2", 65536);
        order.prefer("4", 0);
        order.prefer("2", 0);
        assertThat(order.nextChunk()).isEqualTo(new Chunk("4", 0));
        assertThat(order.nextChunk()).isEqualTo(new Chunk("2", 65536));
        assertThat(order.nextChunk()).isEqualTo(new Chunk("2", 0));
        assertThat(order.nextChunk()).isNull();
    }

    @Test
    void othersAreLeftOut() {
        order.retain(Set.of("2", "5"));
        order.prefer("4", 0);
        assertThat(all()).containsExactly("2", "5");
    }
}
