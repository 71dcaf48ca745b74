package io.afterbay.cli;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.plugin.PluginUtils;

/**
 * Flink's file systems in this process, as in one of a cluster: with the plugins of {@code
 * FLINK_PLUGINS_DIR} and the configuration of {@code FLINK_CONF_DIR}, where these are set.
 */
final class FlinkFileSystems {
    private FlinkFileSystems() {}

    static void initialize() throws CommandFailure {
        try {
            Configuration configuration = GlobalConfiguration.loadConfiguration();
            FileSystem.initialize(
                    configuration, PluginUtils.createPluginManagerFromRootFolder(configuration));
        } catch (IllegalConfigurationException e) {
            throw new CommandFailure(
                    ("the configuration of Flink cannot be read: %s; set FLINK_CONF_DIR to its conf"
                                    + " folder, or leave it unset")
                            .formatted(Failures.reason(e)),
                    e);
        }
    }
}
