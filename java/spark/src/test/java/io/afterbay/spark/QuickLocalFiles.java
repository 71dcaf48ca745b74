package io.afterbay.spark;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumFs;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsConstants;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.spark.sql.SparkSession;

/**
 * Local files as Hadoop has them, without permissions. Where its native library is missing, Hadoop
 * starts {@code chmod} and {@code readlink} for each file and each checksum, and a small batch has
 * dozens.
 */
final class QuickLocalFiles {
    private QuickLocalFiles() {}

    /** For both of Hadoop's interfaces. */
    static SparkSession.Builder in(SparkSession.Builder builder) {
        return builder.config("spark.hadoop.fs.file.impl", OfFileSystem.class.getName())
                .config(
                        "spark.hadoop.fs.AbstractFileSystem.file.impl",
                        OfFileContext.class.getName());
    }

    /** Hadoop makes it by reflection. */
    public static final class OfFileSystem extends LocalFileSystem {
        public OfFileSystem() {
            super(new Raw());
        }
    }

    /** Hadoop makes it by reflection. */
    public static final class OfFileContext extends ChecksumFs {
        public OfFileContext(URI uri, Configuration settings)
                throws IOException, URISyntaxException {
            super(new RawOfFileContext(settings));
        }
    }

    private static final class Raw extends RawLocalFileSystem {
        @Override
        public void setPermission(Path file, FsPermission permission) {}

        @Override
        public FileStatus getFileLinkStatus(Path file) throws IOException {
            boolean isLink = Files.isSymbolicLink(pathToFile(file).toPath());
            return isLink ? super.getFileLinkStatus(file) : getFileStatus(file);
        }
    }

    private static final class RawOfFileContext extends DelegateToFileSystem {
        RawOfFileContext(Configuration settings) throws IOException, URISyntaxException {
            super(
                    FsConstants.LOCAL_FS_URI,
                    new Raw(),
                    settings,
                    FsConstants.LOCAL_FS_URI.getScheme(),
                    false);
        }

        @Override
        public int getUriDefaultPort() {
            return -1; // it has no host
        }

        @Override
        public FsServerDefaults getServerDefaults(Path file) throws IOException {
            return fsImpl.getServerDefaults(file);
        }

        @Override
        public boolean isValidName(String name) {
            return true;
        }
    }
}
