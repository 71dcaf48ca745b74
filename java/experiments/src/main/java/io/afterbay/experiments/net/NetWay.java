package io.afterbay.experiments.net;

import io.afterbay.experiments.Labelled;

/** How two programs of a host talk. */
enum NetWay implements Labelled {
    /** TCP over the loopback interface. */
    LOOPBACK("loopback"),

    /** A Unix socket, which both programs would have to be written for. */
    UNIX("unix"),

    /** TCP between two containers of a host: a veth pair each, and a bridge. */
    VETH("veth"),

    /** TCP between containers of two hosts: the same, and VXLAN between the bridges. */
    VXLAN("vxlan"),

    /** As veth, and eBPF's sockmap, into which both programs put their sockets; needs root. */
    SOCKMAP("sockmap"),

    /** As veth, and both programs run by {@code afterbay net run}. */
    MEMORY("memory"),

    /** The negative control: the library is there, and no agent; all is TCP. */
    NO_AGENT("no-agent");

    private final String label;

    NetWay(String label) {
        this.label = label;
    }

    @Override
    public String label() {
        return label;
    }

    /** Whether what is sent crosses interfaces that can be counted. */
    boolean isNetwork() {
        return this != UNIX && this != SOCKMAP && this != MEMORY;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static NetWay named(String label) {
        return Labelled.named(NetWay.class, label);
    }

    public static final class Converter extends Labelled.Converter<NetWay> {
        public Converter() {
            super(NetWay.class);
        }
    }
}
