package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.command.CommandFailure;
import io.afterbay.edge.mqtt.BrokerAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LastMessagesTest {
    private static final String UP =
            """
            {"finished": false, "held": null, "inputBytes": 70, "mqtt":
              {"messages": 8, "unacknowledged": 0, "brokerUp": true}}
            """;
    private static final String DOWN =
            """
            {"finished": false, "held": null, "inputBytes": 70, "mqtt":
              {"messages": 8, "unacknowledged": 0, "brokerUp": false,
               "brokerError": "Connection refused"}}
            """;

    private long nowS;
    private final LastMessages last =
            new LastMessages(
                    new BrokerAddress("broker", 1883),
                    Duration.ofSeconds(10),
                    () -> Duration.ofSeconds(nowS).toNanos());

    private void look(String status, long atS) throws Exception {
        nowS = atS;
        JsonNode json =
                status.isEmpty()
                        ? new ObjectMapper().missingNode()
                        : new ObjectMapper().readTree(status);
        last.look("a", json, 12);
    }

    @Test
    void aBrokerThatIsGoneIsNotWaitedForWithoutEnd() throws Exception {
        look(UP, 0);
        look(DOWN, 10);
        assertThatThrownBy(() -> look(DOWN, 11))
                .isInstanceOf(CommandFailure.class)
                .hasMessage(
                        "--mqtt mqtt://broker:1883: agent-a waits for the last of its messages, of"
                                + " which 12 were published and acknowledged, and 8 have come since"
                                + " it started; for 10 s it could not get them from the broker:"
                                + " Connection refused. Start the broker, and run again");
    }

    @Test
    void messagesThatABrokerHasLostAreNotWaitedForWithoutEnd() throws Exception {
        look(DOWN, 0);
        assertThatThrownBy(() -> look(UP, 11))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("mqtt://broker:1883: agent-a waits")
                .hasMessageContaining("though the broker is there: it has lost them")
                .hasMessageContaining("persistence true");
    }

    /** A message more, the end of the input, an outbox that is full, an agent that starts. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"mqtt\": {\"messages\": 9, \"brokerUp\": true}}",
                "{\"finished\": true}",
                "{\"held\": \"the outbox is full\"}",
                ""
            })
    void whatHappensBeginsItAnew(String status) throws Exception {
        look(UP, 0);
        look(status, 9);
        look(status, 19);
        look(UP, 20);
        look(UP, 30);
        assertThatThrownBy(() -> look(UP, 31)).isInstanceOf(CommandFailure.class);
    }

    @Test
    void eachSiteHasItsOwnTime() throws Exception {
        look(UP, 0);
        nowS = 9;
        last.look("b", new ObjectMapper().readTree(UP), 12);
        nowS = 19;
        last.look("b", new ObjectMapper().readTree(UP), 12);
        assertThatThrownBy(() -> look(UP, 19)).hasMessageContaining("agent-a waits");
    }
}
