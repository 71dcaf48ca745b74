package io.afterbay.flink.it;

import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.flink.it.cluster.ZooKeeper;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * The cluster of a test class: two TaskManagers of two slots, with our jar as docs/flink.md says to
 * install it. Classes that ask for the same one share it, and leave it as they found it. When a
 * test fails, prints the ends of its logs, and starts it anew for the next.
 */
final class ClusterExtension implements BeforeAllCallback, TestWatcher {
    static final int TASK_MANAGERS = 2;

    private final boolean highlyAvailable;
    private StandaloneCluster cluster;

    private ClusterExtension(boolean highlyAvailable) {
        this.highlyAvailable = highlyAvailable;
    }

    static ClusterExtension withBackend() {
        return new ClusterExtension(false);
    }

    /** With a ZooKeeper server too. */
    static ClusterExtension highlyAvailable() {
        return new ClusterExtension(true);
    }

    StandaloneCluster cluster() {
        return cluster;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        cluster =
                context.getRoot()
                        .getStore(Namespace.create(ClusterExtension.class))
                        .getOrComputeIfAbsent(highlyAvailable, Shared::start, Shared.class)
                        .cluster;
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        System.err.println(cluster.tails());
        try {
            cluster.cancelAll();
            cluster.restart();
        } catch (Exception e) {
            throw new IllegalStateException("the cluster does not start anew", e);
        }
    }

    private record Shared(StandaloneCluster cluster, @Nullable ZooKeeper zooKeeper)
            implements ExtensionContext.Store.CloseableResource {
        static Shared start(boolean highlyAvailable) {
            try {
                return highlyAvailable
                        ? withZooKeeper(ZooKeeper.start())
                        : new Shared(start("with-backend-", Map.of()), null);
            } catch (Exception e) {
                throw new IllegalStateException("the cluster does not start", e);
            }
        }

        private static Shared withZooKeeper(ZooKeeper server) throws Exception {
            try {
                return new Shared(start("highly-available-", config(server)), server);
            } catch (Throwable e) {
                server.close();
                throw e;
            }
        }

        /** What docs/flink.md says. */
        private static Map<String, String> config(ZooKeeper server) throws IOException {
            Map<String, String> config =
                    new Guide()
                            .config(
                                    "high-availability",
                                    Map.of(
                                            "ZOOKEEPER",
                                            server.quorum(),
                                            "STORAGE",
                                            server.storage().toUri().toString()));
            // How long a dead JobManager leads; far more than a busy one pauses.
            config.put("high-availability.zookeeper.client.session-timeout", "10s");
            return config;
        }

        private static StandaloneCluster start(String name, Map<String, String> config)
                throws Exception {
            return StandaloneCluster.start(name, true, TASK_MANAGERS, config);
        }

        @Override
        public void close() {
            try (zooKeeper) {
                cluster.close();
            }
        }
    }
}
