package io.afterbay.blob.it;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.plugin.DefaultPluginManager;
import org.apache.flink.core.plugin.DirectoryBasedPluginFinder;

/** Flink's S3 file systems, each as a plugin with its own classes. */
enum FlinkS3 {
    PRESTO,
    HADOOP,
    NATIVE;

    /** Where this one is, as Flink's folder {@code plugins}. */
    Path plugins() {
        return Path.of(System.getProperty("afterbay.it.plugins"), name().toLowerCase());
    }

    /**
     * Makes it the file system of {@code s3://} in this process, with the settings of
     * docs/blob-s3.md.
     */
    void use(BlobStore store, Path buffers) throws IOException {
        Configuration settings = new Configuration();
        settings.set(CoreOptions.TMP_DIRS, buffers.toString());
        settings(store).forEach(settings::setString);
        // The least that S3 allows, so that files have several parts.
        for (String size :
                List.of(
                        "s3.upload.min.part.size",
                        "s3.multipart.size",
                        "s3.multipart.min-file-size",
                        "s3.multipart.min-part-size")) {
            settings.setString(size, String.valueOf(5 * Bytes.MIB));
        }
        settings.setString("s3.buffer.dir", buffers.resolve("s3a").toString());
        FileSystem.initialize(
                settings,
                new DefaultPluginManager(
                        new DirectoryBasedPluginFinder(plugins()).findPlugins(),
                        CoreOptions.getPluginParentFirstLoaderPatterns(settings)));
    }

    private static Map<String, String> settings(BlobStore store) throws IOException {
        return Map.of(
                "s3.endpoint",
                store.endpoint().toString(),
                "s3.endpoint.region",
                "us-east-1",
                "s3.region",
                "us-east-1",
                "s3.path.style.access",
                "true",
                "s3.access-key",
                store.accessKey(),
                "s3.secret-key",
                store.secretKey());
    }
}
