package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.live.LiveOptions.Messages;
import io.afterbay.edge.mqtt.BrokerAddress;
import io.afterbay.edge.mqtt.ScriptedBroker;
import io.afterbay.edge.mqtt.ScriptedBroker.Client;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** At a broker that runs already. */
@Timeout(300)
class SiteMessagesTest {
    private static final List<String> SITES = List.of("a", "b");

    @TempDir Path directory;

    private SiteMessages messages(BrokerAddress broker) throws Exception {
        Messages options =
                new Messages(broker, null, "seq", null, null, Messages.USUAL_PATIENCE, false);
        return new SiteMessages(options, SITES, directory);
    }

    /** Each client that comes without a session ends the one that it had. */
    @Test
    void theSessionsOfAgentsAreEnded() throws Exception {
        try (ScriptedBroker broker = new ScriptedBroker()) {
            CompletableFuture<List<String>> clients =
                    CompletableFuture.supplyAsync(() -> clients(broker, 1 + SITES.size()));
            List<String> agents = new ArrayList<>();
            try (SiteMessages messages = messages(broker.address())) {
                for (String site : SITES) {
                    List<String> arguments = messages.agentArguments(site);
                    assertThat(arguments)
                            .containsSequence("--mqtt", broker.address().toString())
                            .containsSequence("--sequence", "seq");
                    agents.add(arguments.get(arguments.indexOf("--client-id") + 1));
                }
            }
            assertThat(clients.get()).endsWith(agents.get(0), agents.get(1));
        }
    }

    private static List<String> clients(ScriptedBroker broker, int count) {
        List<String> ids = new ArrayList<>();
        while (ids.size() < count) {
            try (Client client = broker.accept()) {
                ids.add(client.connect());
                client.say(0x20, 2, 0, 0);
                client.end();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        return ids;
    }

    @Test
    void aBrokerThatIsNotThereIsNamed() throws Exception {
        BrokerAddress address;
        try (ScriptedBroker broker = new ScriptedBroker()) {
            address = broker.address();
        }
        assertThatThrownBy(() -> messages(address))
                .isInstanceOf(CommandFailure.class)
                .hasMessage("--mqtt %s: Connection refused".formatted(address));
    }
}
