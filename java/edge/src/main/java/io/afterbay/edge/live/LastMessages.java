package io.afterbay.edge.live;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.command.CommandFailure;
import io.afterbay.edge.mqtt.BrokerAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Whether agents get the last of their messages, once their broker has acknowledged all of them. A
 * broker that is gone, or has lost them, never says so: an agent that hears nothing more for too
 * long, and is not held by something else, hears nothing at all. For one thread.
 */
final class LastMessages {
    private final BrokerAddress broker;
    private final Duration patience;
    private final LongSupplier nanoTime;
    private final Map<String, Waiting> sites = new HashMap<>();

    /** What an agent had when something has changed last, and when that was. */
    private record Waiting(String has, long sinceNs) {}

    /**
     * @param patience an agent that hears nothing for so long hears nothing more
     * @param nanoTime as {@link System#nanoTime}
     */
    LastMessages(BrokerAddress broker, Duration patience, LongSupplier nanoTime) {
        this.broker = broker;
        this.patience = patience;
        this.nanoTime = nanoTime;
    }

    /**
     * Looks at an agent that has not ended.
     *
     * @param status what it says of itself; missing if it says nothing
     * @param published messages of its site that the broker has acknowledged
     * @throws CommandFailure if it waits in vain
     */
    void look(String site, JsonNode status, long published) throws CommandFailure {
        if (!waitsForItsBroker(status)) {
            sites.remove(site);
            return;
        }
        String has = has(status);
        Waiting before = sites.get(site);
        long now = nanoTime.getAsLong();
        if (before == null || !before.has.equals(has)) {
            sites.put(site, new Waiting(has, now));
        } else if (now - before.sinceNs > patience.toNanos()) {
            throw new CommandFailure(inVain(site, status.path("mqtt"), published));
        }
    }

    /** Not if it is at its end, or cannot take more, as when its outbox is full. */
    private static boolean waitsForItsBroker(JsonNode status) {
        return !status.isMissingNode()
                && !status.path("finished").asBoolean()
                && !status.path("held").isTextual();
    }

    private static String has(JsonNode status) {
        JsonNode mqtt = status.path("mqtt");
        return "%s %s %s"
                .formatted(
                        mqtt.path("messages"),
                        mqtt.path("unacknowledged"),
                        status.path("inputBytes"));
    }

    private String inVain(String site, JsonNode mqtt, long published) {
        String waits =
                ("--mqtt %s: agent-%s waits for the last of its messages, of which %,d were"
                                + " published and acknowledged, and %,d have come since it started;")
                        .formatted(broker, site, published, mqtt.path("messages").asLong());
        return mqtt.path("brokerUp").asBoolean()
                ? ("%s none has come for %d s, though the broker is there: it has lost them. It has"
                                + " to keep sessions and their messages, also while it is started"
                                + " again (mosquitto: persistence true, max_queued_messages 0); then"
                                + " run again")
                        .formatted(waits, patience.toSeconds())
                : ("%s for %d s it could not get them from the broker: %s. Start the broker, and run"
                                + " again")
                        .formatted(
                                waits,
                                patience.toSeconds(),
                                mqtt.path("brokerError").asText("it does not say why"));
    }
}
