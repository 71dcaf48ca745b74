package io.afterbay.flink.it;

import io.afterbay.flink.it.cluster.StandaloneCluster;
import java.util.Map;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * The cluster of a test class: two TaskManagers of two slots. Classes that ask for the same one
 * share it, and leave it as they found it. Prints the ends of its logs when a test fails.
 */
final class ClusterExtension implements BeforeAllCallback, TestWatcher {
    static final int TASK_MANAGERS = 2;

    private final boolean withBackend;
    private StandaloneCluster cluster;

    private ClusterExtension(boolean withBackend) {
        this.withBackend = withBackend;
    }

    /** As docs/flink.md says to install it. */
    static ClusterExtension withBackend() {
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
                        .getOrComputeIfAbsent(withBackend, Shared::start, Shared.class)
                        .cluster;
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        System.err.println(cluster.tails());
    }

    private record Shared(StandaloneCluster cluster)
            implements ExtensionContext.Store.CloseableResource {
        static Shared start(boolean withBackend) {
            String name = withBackend ? "with-backend-" : "without-backend-";
            try {
                return new Shared(
                        StandaloneCluster.start(name, withBackend, TASK_MANAGERS, Map.of()));
            } catch (Exception e) {
                throw new IllegalStateException("the cluster does not start", e);
            }
        }

        @Override
        public void close() {
            cluster.close();
        }
    }
}
