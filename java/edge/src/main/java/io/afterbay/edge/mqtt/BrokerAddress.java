package io.afterbay.edge.mqtt;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a broker of MQTT listens, without TLS. */
public record BrokerAddress(String host, int port) {
    /** A name, an IPv4 address, or an IPv6 address in brackets. */
    private static final Pattern FORM =
            Pattern.compile("mqtt://([^\\s:/@\\[\\]]+|\\[[0-9a-fA-F:]+])(?::(\\d{1,5}))?/?");

    private static final int USUAL_PORT = 1883;
    private static final int PORT_MAX = 65_535;

    /**
     * Reads {@code mqtt://HOST:PORT}; the port is 1883 if none is given.
     *
     * @throws IllegalArgumentException if it is not like that, with what is allowed
     */
    public static BrokerAddress parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (matcher.matches()) {
            String digits = matcher.group(2);
            int port = digits == null ? USUAL_PORT : Integer.parseInt(digits);
            if (port > 0 && port <= PORT_MAX) {
                return new BrokerAddress(matcher.group(1), port);
            }
        }
        throw new IllegalArgumentException(
                "'%s' is not like mqtt://HOST:PORT, a broker without TLS and users"
                        .formatted(text));
    }

    /** As {@link #parse} reads it. */
    @Override
    public String toString() {
        return "mqtt://%s:%d".formatted(host, port);
    }
}
