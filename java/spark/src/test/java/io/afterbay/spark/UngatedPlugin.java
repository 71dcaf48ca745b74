package io.afterbay.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** The control: commits do not wait for what executors publish. */
public final class UngatedPlugin implements SparkPlugin {
    @Override
    public DriverPlugin driverPlugin() {
        return new PluginOnDriver(ledger -> new Peers());
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new PluginOnExecutor(ExecutorPeers::new);
    }
}
