package io.afterbay.cli.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.StateStoreException;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class FailuresTest {
    @Test
    void aFailureOfTheStoreKeepsItsFileAndItsOffset() {
        IOException full = new IOException("No space left on device");
        StateStoreException store =
                new StateStoreException("/tmp/00000007.log: cannot write at byte 4096", full);
        assertThat(Failures.explain(new RuntimeException("task failed", store), "/tmp"))
                .contains("/tmp/00000007.log")
                .contains("byte 4096");
    }

    @Test
    void aFullDiskNamesTheDirectoryAndTheOption() {
        IOException full = new IOException("No space left on device");
        assertThat(Failures.explain(new RuntimeException("task failed", full), "/data/work"))
                .contains("/data/work")
                .contains("--work-dir");
    }

    @Test
    void aFailedCheckpointNamesTheDirectoryAndTheOption() {
        RuntimeException failed =
                new RuntimeException("Exceeded checkpoint tolerable failure threshold.");
        assertThat(Failures.explain(failed, "/data/work"))
                .contains("/data/work")
                .contains("--work-dir");
    }
}
