package io.afterbay.edge.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class BitRateTest {
    private final BitRate rates = new BitRate();

    @Test
    void unitsArePowersOfAThousand() {
        assertThat(rates.convert("800kbit")).isEqualTo(800_000);
        assertThat(rates.convert("0.8 Mbit")).isEqualTo(800_000);
        assertThat(rates.convert("1gbit")).isEqualTo(1_000_000_000);
        assertThat(rates.convert("64bit")).isEqualTo(64);
    }

    @ParameterizedTest
    @ValueSource(strings = {"800", "800kb", "0kbit", "-1kbit", "kbit", "0.1bit"})
    void othersAreNamedWithAnExample(String text) {
        assertThatThrownBy(() -> rates.convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'" + text + "'")
                .hasMessageContaining("800kbit");
    }
}
