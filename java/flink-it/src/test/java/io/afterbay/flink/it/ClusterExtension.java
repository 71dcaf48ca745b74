package io.afterbay.flink.it;

import io.afterbay.flink.it.cluster.StandaloneCluster;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/** A cluster for the tests of a class; prints the ends of its logs when one fails. */
final class ClusterExtension implements BeforeAllCallback, AfterAllCallback, TestWatcher {
    private final boolean withBackend;
    private final Map<String, String> config;
    private StandaloneCluster cluster;

    /**
     * @param withBackend whether our jar is in {@code lib}
     * @param config lines of {@code config.yaml}
     */
    ClusterExtension(boolean withBackend, Map<String, String> config) {
        this.withBackend = withBackend;
        this.config = config;
    }

    StandaloneCluster cluster() {
        return cluster;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        cluster =
                StandaloneCluster.start(
                        context.getRequiredTestClass().getSimpleName(), withBackend, 2, config);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (cluster != null) {
            cluster.close();
        }
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        System.err.println(cluster.tails());
    }
}
