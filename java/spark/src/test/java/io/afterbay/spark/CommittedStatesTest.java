package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommittedStatesTest {
    @TempDir Path dir;

    private CommittedStates read(String text) throws IOException {
        return CommittedStates.read(7, Files.writeString(dir.resolve("7"), text));
    }

    @Test
    void namesTheStatesOfAllOperatorsPartitionsAndStores() throws Exception {
        CommittedStates states =
                read(
                        "v2\n{\"nextBatchWatermarkMs\":5,\"stateUniqueIds\":"
                                + "{\"0\":[[\"a\"],[\"b\"]],\"1\":[[\"c\",\"d\"],[\"e\",\"f\"]]}}");
        assertThat(states.version()).isEqualTo(8);
        assertThat(states.names())
                .containsExactlyInAnyOrder("8_a", "8_b", "8_c", "8_d", "8_e", "8_f");
    }

    @Test
    void readsOnlyTheStatesOfFormat3() throws Exception {
        CommittedStates states =
                read(
                        "v3\n{\"stateUniqueIds\":{\"0\":[[\"a\"]]},"
                                + "\"sinkMetadataMap\":{\"sink\":{\"sinkName\":\"sink\"}}}");
        assertThat(states.names()).containsExactly("8_a");
    }

    @Test
    void aQueryWithoutStateNamesNone() throws Exception {
        assertThat(read("v2\n{\"nextBatchWatermarkMs\":0}").names()).isEmpty();
        assertThat(read("v2\n{\"nextBatchWatermarkMs\":0,\"stateUniqueIds\":{}}").names())
                .isEmpty();
    }

    @Test
    void refusesFormatsThatItDoesNotKnow() {
        assertThatThrownBy(() -> read("v1\n{}")).hasMessageContaining("batch 7 has format v1");
        assertThatThrownBy(() -> read("v4\n{}")).hasMessageContaining("it knows [v2, v3]");
    }
}
