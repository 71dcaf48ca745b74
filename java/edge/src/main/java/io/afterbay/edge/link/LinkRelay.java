package io.afterbay.edge.link;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A link between a site and the cloud, as a relay on the loopback interface:
 *
 * <pre>
 *   site ── port of this ── rate, delay, cut ── target
 * </pre>
 *
 * All connections through it share its rate, which holds for each direction. Bytes are those that
 * TCP carries, without its headers. While the link is down nothing moves, and nobody is told, as on
 * a real one; when it is up again, the connections that it had are gone, and new ones are taken.
 *
 * <p>Threads of its own; for any number of threads.
 */
public final class LinkRelay implements AutoCloseable {
    private final ServerSocket server;
    private final Target target;
    private final Lane up;
    private final Lane down;
    private final LinkGate gate = new LinkGate();
    private final Set<RelayedConnection> connections = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    private LinkRelay(ServerSocket server, Target target, LinkShape shape) {
        this.server = server;
        this.target = target;
        this.up = new Lane(shape);
        this.down = new Lane(shape);
    }

    /** Where a link leads. */
    @FunctionalInterface
    public interface Target {
        /**
         * A port of this machine. Asked for each connection, since who listens there may be started
         * again at another one.
         *
         * @throws IOException if nobody listens just now
         */
        int port() throws IOException;
    }

    /** Opens a link to a port of this machine. */
    public static LinkRelay open(int targetPort, LinkShape shape) throws IOException {
        return open(() -> targetPort, shape);
    }

    /** Opens a link to a port of this machine that may change. */
    public static LinkRelay open(Target target, LinkShape shape) throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        ServerSocket server = new ServerSocket();
        // What waits in buffers of the system is on no link; accepted sockets inherit it.
        server.setReceiveBufferSize(RelayedConnection.BUFFER_BYTES);
        server.bind(new InetSocketAddress(loopback, 0));
        LinkRelay relay = new LinkRelay(server, target, shape);
        RelayedConnection.daemon("link " + server.getLocalPort(), relay::accept).start();
        return relay;
    }

    /** Of the site's end. */
    public int port() {
        return server.getLocalPort();
    }

    /** From the site to the cloud. */
    public long bytesUp() {
        return up.bytes();
    }

    /** From the cloud to the site. */
    public long bytesDown() {
        return down.bytes();
    }

    /** Nothing moves from now on. */
    public void cut() {
        gate.shut();
    }

    /** The end of {@link #cut}. */
    public void restore() {
        connections.forEach(RelayedConnection::close);
        gate.open();
    }

    private void accept() {
        while (!closed) {
            try {
                Socket site = server.accept();
                gate.await();
                connect(site);
            } catch (IOException e) {
                // Closed, or a connection that was gone before it was taken.
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Where nobody listens, the site sees its connection end. */
    private void connect(Socket site) throws IOException {
        Socket cloud = new Socket();
        try {
            cloud.setReceiveBufferSize(RelayedConnection.BUFFER_BYTES);
            InetAddress loopback = InetAddress.getLoopbackAddress();
            cloud.connect(new InetSocketAddress(loopback, target.port()));
        } catch (IOException e) {
            cloud.close();
            site.close();
            throw e;
        }
        RelayedConnection connection = new RelayedConnection(site, cloud, gate);
        connections.add(connection);
        connection.start(up, down, () -> connections.remove(connection));
        if (closed) {
            connection.close();
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        server.close();
        connections.forEach(RelayedConnection::close);
        gate.open();
    }
}
