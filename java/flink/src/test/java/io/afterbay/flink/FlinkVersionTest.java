package io.afterbay.flink;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.flink.configuration.IllegalConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlinkVersionTest {
    @ParameterizedTest
    @ValueSource(strings = {"1.20.1", "2.0.0", "2.2.0", "2.4.0", "2.30.0", "3.3", "2.2-SNAPSHOT"})
    void anotherOneIsRefusedByName(String running) {
        assertThatThrownBy(() -> FlinkVersion.check(running))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("for Flink 2.3")
                .hasMessageContaining("runs Flink " + running);
    }

    @ParameterizedTest
    @ValueSource(strings = {"2.3.0", "2.3.1", "2.3-SNAPSHOT", "2.3", "<unknown>", "DEVELOPMENT"})
    void theRightOneAndUnknownOnesAreNot(String running) {
        assertThatCode(() -> FlinkVersion.check(running)).doesNotThrowAnyException();
    }

    @Test
    void thisOneIsRight() {
        assertThatCode(FlinkVersion::check).doesNotThrowAnyException();
    }
}
