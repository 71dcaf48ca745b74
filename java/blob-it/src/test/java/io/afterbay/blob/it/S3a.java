package io.afterbay.blob.it;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/** Hadoop's S3A on the store, with the settings of docs/blob-s3.md. */
final class S3a {
    private S3a() {}

    static Configuration settings(BlobStore store) throws IOException {
        Configuration settings = new Configuration();
        settings.set("fs.s3a.endpoint", store.endpoint().toString());
        settings.set("fs.s3a.endpoint.region", "us-east-1");
        settings.set("fs.s3a.path.style.access", "true");
        settings.set("fs.s3a.connection.ssl.enabled", "false");
        settings.set("fs.s3a.access.key", store.accessKey());
        settings.set("fs.s3a.secret.key", store.secretKey());
        return settings;
    }

    static FileSystem fileSystem(Configuration settings, String bucket) throws IOException {
        return FileSystem.newInstance(URI.create("s3a://" + bucket + "/"), settings);
    }
}
