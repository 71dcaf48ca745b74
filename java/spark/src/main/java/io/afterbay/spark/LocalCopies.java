package io.afterbay.spark;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.SparkConf;
import org.apache.spark.util.Utils;

/** Local copies as Hadoop reads files: without checksums of its own. Safe for use by any thread. */
final class LocalCopies {
    private static final RawLocalFileSystem FILES = fileSystem();

    private LocalCopies() {}

    private static RawLocalFileSystem fileSystem() {
        try {
            RawLocalFileSystem files = new RawLocalFileSystem();
            files.initialize(URI.create("file:///"), new Configuration(false));
            return files;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A new directory for them, where Spark has those of this process. */
    static java.nio.file.Path directory(SparkConf conf) {
        String parent = Utils.getLocalDir(conf);
        try {
            return Files.createTempDirectory(java.nio.file.Path.of(parent), "afterbay-spark");
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "no local copies in " + parent + ": set spark.local.dir to a directory", e);
        }
    }

    /**
     * @throws FileNotFoundException if it is gone: published meanwhile
     */
    static FSDataInputStream open(java.nio.file.Path local) throws IOException {
        return FILES.open(new Path(local.toUri()));
    }

    /**
     * The status that the file will have as {@code path}.
     *
     * @throws FileNotFoundException if it is gone: published meanwhile
     */
    static FileStatus status(java.nio.file.Path local, Path path) throws IOException {
        FileStatus status = FILES.getFileStatus(new Path(local.toUri()));
        return new FileStatus(
                status.getLen(),
                false,
                1,
                status.getBlockSize(),
                status.getModificationTime(),
                path);
    }
}
