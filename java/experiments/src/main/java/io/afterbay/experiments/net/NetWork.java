package io.afterbay.experiments.net;

import io.afterbay.experiments.Labelled;
import java.util.List;

/** What connections are used for. */
enum NetWork implements Labelled {
    /** A message there and back, one at a time on each connection. */
    PING("ping", List.of(64L, 8192L), List.of(1, 16)),

    /** Blocks one way, as fast as they go. */
    STREAM("stream", List.of(1024L, 131_072L), List.of(1, 4)),

    /** A connection for each message there and back. */
    CONNECT("connect", List.of(64L), List.of(1, 4)),

    /** redis with the load that it brings, 16 commands at a time. */
    REDIS("redis", List.of(3L), List.of(50));

    private final String label;
    private final List<Long> sizes;
    private final List<Integer> connections;

    NetWork(String label, List<Long> sizes, List<Integer> connections) {
        this.label = label;
        this.sizes = sizes;
        this.connections = connections;
    }

    @Override
    public String label() {
        return label;
    }

    /** Bytes of a message or block, where none are asked for. */
    List<Long> sizes() {
        return sizes;
    }

    /** How many at once, where nothing is asked for. */
    List<Integer> connections() {
        return connections;
    }

    /** Whether each connection carries so much that it moves to memory. */
    boolean isLongLived() {
        return this != CONNECT;
    }

    /**
     * What may cross the interfaces though connections are in memory, to what programs send. Those
     * of redis begin when it is counted, and move after some twenty times 16 commands.
     */
    double crossesMax() {
        return this == REDIS ? 0.5 : 0.01;
    }

    /**
     * How often a byte of what is counted crosses: an answer is as long as its message, and of
     * redis answers are counted too.
     */
    int crossings() {
        return this == PING || this == CONNECT ? 2 : 1;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static NetWork named(String label) {
        return Labelled.named(NetWork.class, label);
    }

    public static final class Converter extends Labelled.Converter<NetWork> {
        public Converter() {
            super(NetWork.class);
        }
    }
}
