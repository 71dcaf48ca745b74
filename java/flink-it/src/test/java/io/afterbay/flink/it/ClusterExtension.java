package io.afterbay.flink.it;

import io.afterbay.flink.it.cluster.Artifacts;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.flink.it.cluster.ZooKeeper;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
 *
 * <p>In the normal form of the tests, those who ask for no setting get the cluster that recovers
 * locally, where a task that finds nothing on its disk restores as it does on the others.
 */
final class ClusterExtension implements BeforeAllCallback, TestWatcher {
    static final int TASK_MANAGERS = 2;

    private final Kind kind;
    private StandaloneCluster cluster;

    private ClusterExtension(Kind kind) {
        this.kind = kind;
    }

    private enum Kind {
        PLAIN,
        LOCAL_RECOVERY,
        HIGHLY_AVAILABLE
    }

    static ClusterExtension withBackend() {
        return new ClusterExtension(TestForm.IS_LONG ? Kind.PLAIN : Kind.LOCAL_RECOVERY);
    }

    /** Its TaskManagers find their state on their own disk when they are started again. */
    static ClusterExtension withLocalRecovery() {
        return new ClusterExtension(Kind.LOCAL_RECOVERY);
    }

    /** With a ZooKeeper server too. */
    static ClusterExtension highlyAvailable() {
        return new ClusterExtension(Kind.HIGHLY_AVAILABLE);
    }

    StandaloneCluster cluster() {
        return cluster;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        cluster =
                context.getRoot()
                        .getStore(Namespace.create(ClusterExtension.class))
                        .getOrComputeIfAbsent(kind, Shared::start, Shared.class)
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
        static Shared start(Kind kind) {
            try {
                return switch (kind) {
                    case PLAIN -> new Shared(start("with-backend-", Map.of()), null);
                    case LOCAL_RECOVERY -> withLocalRecovery();
                    case HIGHLY_AVAILABLE -> withZooKeeper(ZooKeeper.start());
                };
            } catch (Exception e) {
                throw new IllegalStateException("the cluster does not start", e);
            }
        }

        private static Shared withLocalRecovery() throws Exception {
            Path work =
                    Files.createTempDirectory(
                            Files.createDirectories(Artifacts.workDir()), "working-dir-");
            Map<String, String> config =
                    new Guide().config("local-recovery", Map.of("WORKING_DIR", work.toString()));
            return new Shared(start("local-recovery-", config), null);
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
