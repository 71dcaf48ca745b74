package io.afterbay.command.flink;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.Installation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.ConfigConstants;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.plugin.DefaultPluginManager;
import org.apache.flink.core.plugin.DirectoryBasedPluginFinder;
import org.apache.flink.core.plugin.PluginDescriptor;
import org.apache.flink.core.plugin.PluginManager;
import org.apache.flink.core.plugin.PluginUtils;

/**
 * Flink's file systems in this process, as in one of a cluster: with the configuration of {@code
 * FLINK_CONF_DIR} and the plugins of {@code FLINK_PLUGINS_DIR}, where these are set. Without the
 * latter, with the S3 file system that the build brings.
 */
public final class FlinkFileSystems {
    private static final Path PLUGINS = Path.of("java", "flink-command", "target", "plugins");

    private FlinkFileSystems() {}

    public static void initialize() throws CommandFailure {
        initialize(Map.of());
    }

    /**
     * @param given settings that come before all others
     */
    public static void initialize(Map<String, String> given) throws CommandFailure {
        try {
            Configuration configuration = GlobalConfiguration.loadConfiguration();
            new S3Environment(System.getenv()).addTo(configuration);
            given.forEach(configuration::setString);
            FileSystem.initialize(configuration, plugins(configuration));
        } catch (IllegalConfigurationException e) {
            throw new CommandFailure(
                    ("the configuration of Flink cannot be read: %s; set FLINK_CONF_DIR to its conf"
                                    + " folder, or leave it unset")
                            .formatted(CommandFailure.reason(e)),
                    e);
        }
    }

    private static PluginManager plugins(Configuration configuration) throws CommandFailure {
        if (System.getenv(ConfigConstants.ENV_FLINK_PLUGINS_DIR) != null) {
            return PluginUtils.createPluginManagerFromRootFolder(configuration);
        }
        Path ours = Installation.home().resolve(PLUGINS).toAbsolutePath().normalize();
        try {
            return new DefaultPluginManager(
                    Files.isDirectory(ours) ? in(ours) : List.of(),
                    CoreOptions.getPluginParentFirstLoaderPatterns(configuration));
        } catch (IOException e) {
            throw new CommandFailure(ours + ": " + CommandFailure.reason(e), e);
        }
    }

    private static List<PluginDescriptor> in(Path directory) throws IOException {
        return List.copyOf(new DirectoryBasedPluginFinder(directory).findPlugins());
    }
}
