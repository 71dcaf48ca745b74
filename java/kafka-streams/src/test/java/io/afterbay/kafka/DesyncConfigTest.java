package io.afterbay.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.rocksdb.DesyncSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DesyncConfigTest {
    /** Rewrites the section of the document instead of comparing: -Dafterbay.docs.write=true. */
    private static final boolean WRITE = Boolean.getBoolean("afterbay.docs.write");

    private static final String MARK = "<!-- generated: kafka-streams -->\n";

    private static final String HEAD =
            """
            # Options for Kafka Streams applications

            Generated from `DesyncConfig` in `java/kafka-streams`, by
            `mvn test -pl kafka-streams -am -Dtest=DesyncConfigTest -Dafterbay.docs.write=true -Dsurefire.failIfNoSpecifiedTests=false`.
            [desync.md](desync.md#kafka-streams) says what they do and when they help; they are read if

            ```properties
            rocksdb.config.setter=io.afterbay.kafka.DesyncRocksDBConfigSetter
            ```

            | option | type | default | meaning |
            |---|---|---|---|
            """;

    @ParameterizedTest
    @CsvSource({
        "trigger.spread, maybe, true or false",
        "gate, perhaps, true or false",
        "gate.deadline.ms, 99, 100 to 60000",
        "gate.deadline.ms, 60001, 100 to 60000",
        "gate.deadline.ms, soon, Not a number",
        "gate.delay.ms, -1, 'less than afterbay.desync.gate.deadline.ms, which is 3000'",
        "gate.delay.ms, 3000, 'less than afterbay.desync.gate.deadline.ms, which is 3000'",
        "compaction.threads, 0, 'default, auto, or 1 to 256'",
        "compaction.threads, 257, 'default, auto, or 1 to 256'",
        "compaction.threads, many, 'default, auto, or 1 to 256'",
        "flush.threads, 0, 'default, auto, or 1 to 256'",
        "config.setter, java.lang.String, implements RocksDBConfigSetter",
        "config.setter, io.afterbay.kafka.DesyncRocksDBConfigSetter, is not this one",
        "config.setter, com.example.Missing, could not be found",
        "gates, true, afterbay.desync.gate"
    })
    void refusesValues(String option, String value, String allowed) {
        assertThatThrownBy(() -> new DesyncConfig(Map.of(DesyncConfig.PREFIX + option, value)))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(DesyncConfig.PREFIX + option)
                .hasMessageContaining(value)
                .hasMessageContaining(allowed);
    }

    @Test
    void lookalikesOfOtherPrefixesAreNotRead() {
        Map<String, Object> configs =
                Map.of("application.id", "mine", "afterbay.other", 1, DesyncConfig.GATE, true);
        assertThat(new DesyncConfig(configs).settings().isGated()).isTrue();
        assertThat(new DesyncConfig(Map.of()).settings().isGated()).isFalse();
    }

    @Test
    void theDelayIsEstimatedUnlessItIsGiven() {
        assertThat(new DesyncConfig(Map.of()).settings().delayNanos())
                .isEqualTo(DesyncSettings.ESTIMATED);
        assertThat(
                        new DesyncConfig(Map.of(DesyncConfig.GATE_DELAY_MS, "300"))
                                .settings()
                                .delayNanos())
                .isEqualTo(300_000_000);
    }

    @Test
    void documentIsUpToDate() throws Exception {
        Path document = Path.of("../../docs/configuration.md");
        String present = Files.readString(document);
        int begin = present.indexOf(MARK);
        assertThat(begin).as("the place of the section").isPositive();
        String expected = present.substring(0, begin) + MARK + HEAD + rows();
        if (WRITE) {
            Files.writeString(document, expected);
        }
        assertThat(Files.readString(document))
                .as("run the test with -Dafterbay.docs.write=true to write it anew")
                .isEqualTo(expected);
    }

    private static String rows() {
        return DesyncConfig.definitions().configKeys().values().stream()
                .map(DesyncConfigTest::row)
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private static String row(ConfigKey key) {
        return "| `%s` | %s | %s | %s |"
                .formatted(
                        key.name,
                        key.type.name().toLowerCase(Locale.ROOT),
                        key.defaultValue == null ? "(none)" : "`" + key.defaultValue + "`",
                        key.documentation);
    }
}
