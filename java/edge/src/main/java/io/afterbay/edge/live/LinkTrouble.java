package io.afterbay.edge.live;

import io.afterbay.edge.link.LinkRelay;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** The links of all sites, and the time in which they are down. For one thread. */
final class LinkTrouble implements AutoCloseable {
    private static final int BEGINS_AT = 4; // a quarter of the play

    private final Map<String, LinkRelay> relays = new LinkedHashMap<>();
    private final long fromMs;
    private final long untilMs;
    private State state = State.BEFORE;

    private enum State {
        BEFORE,
        DOWN,
        AFTER
    }

    LinkTrouble(Duration play, Duration outage) {
        this.fromMs = play.toMillis() / BEGINS_AT;
        this.untilMs = fromMs + outage.toMillis();
    }

    /**
     * Opens the link of a site; returns the port of its end.
     *
     * @param port of the other end, as {@link LinkRelay#open} asks for it
     */
    int open(String site, LinkRelay.Target port, LiveOptions options) throws IOException {
        LinkRelay relay = LinkRelay.open(port, options.link());
        relays.put(site, relay);
        return relay.port();
    }

    /** Cuts and restores links in time. */
    void advance(long sinceStartMs) {
        if (state == State.BEFORE && untilMs > fromMs && sinceStartMs >= fromMs) {
            relays.values().forEach(LinkRelay::cut);
            state = State.DOWN;
        } else if (state == State.DOWN && sinceStartMs >= untilMs) {
            relays.values().forEach(LinkRelay::restore);
            state = State.AFTER;
        }
    }

    boolean isDown() {
        return state == State.DOWN;
    }

    long bytesUp() {
        return relays.values().stream().mapToLong(LinkRelay::bytesUp).sum();
    }

    long bytesDown() {
        return relays.values().stream().mapToLong(LinkRelay::bytesDown).sum();
    }

    @Override
    public void close() throws IOException {
        for (LinkRelay relay : relays.values()) {
            relay.close();
        }
    }
}
