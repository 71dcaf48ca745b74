package io.afterbay.flink.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.AfterbayOptions;
import io.afterbay.flink.AfterbayStateBackend;
import io.afterbay.flink.AfterbayStateBackendFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

class AfterbayOptionsTest {
    /** Rewrites the document instead of comparing: -Dafterbay.docs.write=true. */
    private static final boolean WRITE = Boolean.getBoolean("afterbay.docs.write");

    /** What stands behind this is the Kafka Streams binding's, which has no Flink. */
    private static final String OTHERS = "\n<!-- generated: kafka-streams -->\n";

    private static AfterbayStateBackend configure(Map<String, String> options) {
        return new AfterbayStateBackendFactory()
                .createFromConfig(
                        Configuration.fromMap(options), AfterbayOptionsTest.class.getClassLoader());
    }

    @Test
    void isLoadedByTheNameOfItsFactory() throws Exception {
        Configuration config = new Configuration();
        config.setString("state.backend.type", AfterbayStateBackendFactory.class.getName());
        StateBackend backend =
                StateBackendLoader.loadStateBackendFromConfig(
                        config, getClass().getClassLoader(), LoggerFactory.getLogger(getClass()));
        assertThat(backend).isInstanceOf(AfterbayStateBackend.class);
        assertThat(backend.getName()).isEqualTo("afterbay");
        assertThat(backend.useManagedMemory()).isTrue();
        assertThat(backend.supportsNoClaimRestoreMode()).isTrue();
        assertThat(SavepointFormatType.values()).allMatch(backend::supportsSavepointFormat);
    }

    @Test
    void refusesUnknownKeys() {
        assertThatThrownBy(() -> configure(Map.of("state.backend.afterbay.memory.manged", "true")))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("state.backend.afterbay.memory.manged")
                .hasMessageContaining("'true'")
                .hasMessageContaining("state.backend.afterbay.memory.managed");
    }

    @ParameterizedTest
    @CsvSource({
        "memory.managed, maybe, true or false",
        "memory.fixed-per-slot, 256 mb, nothing while",
        "max-space-amplification, 1, a number above 1",
        "internal.regroup-batch, 1 kb, a size from 4 kb to 16 mb",
        "internal.regroup-batch, 8 gb, a size from 4 kb to 16 mb",
        "internal.hot-tier-part, 1, 2 to 1024",
        "max-space-amplification, NaN, a number above 1",
        "max-space-amplification, much, a number above 1",
        "file.background-threads, 0, 1 to 64",
        "file.background-threads, 65, 1 to 64",
        "file.background-threads, two, 1 to 64",
        "object-tier.enabled, perhaps, true or false",
        "object-tier.entries, 7, 8 to 1048576",
        "object-tier.dirty-entries, 0, 1 to 1048576",
        "file.compaction-delay, -1 s, 0 s to 10 min",
        "file.compaction-delay, 11 min, 0 s to 10 min",
        "file.compaction-delay, soon, 0 s to 10 min"
    })
    void refusesValues(String option, String value, String allowed) {
        String key = AfterbayOptions.PREFIX + option;
        assertThatThrownBy(() -> configure(Map.of(key, value)))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining(key)
                .hasMessageContaining(value)
                .hasMessageContaining(allowed);
    }

    @Test
    void wantsASizeWithoutManagedMemory() {
        assertThatThrownBy(
                        () -> configure(Map.of("state.backend.afterbay.memory.managed", "false")))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("state.backend.afterbay.memory.fixed-per-slot")
                .hasMessageContaining("a positive size");
    }

    @Test
    void takesAFixedSize() {
        configure(
                Map.of(
                        "state.backend.afterbay.memory.managed", "false",
                        "state.backend.afterbay.memory.fixed-per-slot", "64 mb",
                        "state.backend.afterbay.local-directories", "/tmp/a;/tmp/b"));
    }

    @Test
    void documentIsUpToDate() throws Exception {
        Path document = Path.of("../../docs/configuration.md");
        String present = Files.readString(document);
        String expected =
                ConfigurationDocument.render() + present.substring(present.indexOf(OTHERS));
        if (WRITE) {
            Files.writeString(document, expected);
        }
        assertThat(Files.readString(document))
                .as("run the test with -Dafterbay.docs.write=true to write it anew")
                .isEqualTo(expected);
    }
}
