package io.afterbay.storm.workloads;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.storm.shade.org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.storm.shade.org.apache.zookeeper.server.ZooKeeperServer;

/**
 * A ZooKeeper that only this machine can reach. Storm's own one for local clusters listens on all
 * addresses, and cannot be told another.
 */
final class LoopbackZooKeeper implements AutoCloseable {
    private static final int TICK_MS = 2000;

    private final NIOServerCnxnFactory server = new NIOServerCnxnFactory();

    /**
     * @param directory for its files
     */
    LoopbackZooKeeper(Path directory) throws IOException, InterruptedException {
        Files.createDirectories(directory);
        // Any number of clients: all of them are this process.
        server.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.startup(new ZooKeeperServer(directory.toFile(), directory.toFile(), TICK_MS));
    }

    String host() {
        return InetAddress.getLoopbackAddress().getHostAddress();
    }

    int port() {
        return server.getLocalPort();
    }

    @Override
    public void close() {
        server.shutdown();
    }
}
