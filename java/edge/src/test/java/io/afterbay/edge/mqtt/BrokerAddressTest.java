package io.afterbay.edge.mqtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BrokerAddressTest {
    @Test
    void itIsHostAndPort() {
        assertThat(BrokerAddress.parse("mqtt://localhost"))
                .isEqualTo(new BrokerAddress("localhost", 1883));
        assertThat(BrokerAddress.parse("mqtt://10.0.0.7:1884/"))
                .hasToString("mqtt://10.0.0.7:1884");
        assertThat(BrokerAddress.parse("mqtt://[::1]:9")).hasToString("mqtt://[::1]:9");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost:1883",
                "mqtt://",
                "mqtt://:1883",
                "mqtt://::1",
                "mqtt://host:0",
                "mqtt://host:99999",
                "mqtt://host/topic",
                "mqtt://me@host",
                "mqtts://host"
            })
    void whatIsNoneIsNamed(String text) {
        assertThatThrownBy(() -> BrokerAddress.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'%s' is not like mqtt://HOST:PORT".formatted(text));
    }
}
