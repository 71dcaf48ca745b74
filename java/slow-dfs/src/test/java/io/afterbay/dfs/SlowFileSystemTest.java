package io.afterbay.dfs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SlowFileSystemTest {
    @TempDir private java.nio.file.Path folder;
    private final Configuration settings = new Configuration(false);

    private SlowFileSystem files() throws IOException {
        SlowFileSystem files = new SlowFileSystem();
        files.initialize(URI.create("slow:///"), settings);
        return files;
    }

    private Path path(String name) {
        return new Path("slow://" + folder.resolve(name));
    }

    private static void write(SlowFileSystem files, Path path, int bytes) throws IOException {
        try (FSDataOutputStream out = files.create(path)) {
            out.write(new byte[bytes - 1]);
            out.write(0);
        }
    }

    @Test
    void closesAndBytesTakeTheirTime() throws Exception {
        settings.setInt("fs.slow.close-ms", 20);
        settings.setInt("fs.slow.bytes-per-s", 10_000);
        SlowFileSystem files = files();
        long start = System.nanoTime();
        write(files, path("a"), 1000);
        assertThat(System.nanoTime() - start).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(120));
        assertThat(files.takenMillis()).isEqualTo(120);
        assertThat(files.getFileStatus(path("a")).getLen()).isEqualTo(1000);
    }

    /** A local file system asks for the status itself before it creates without overwriting. */
    @Test
    void operationsTakeTheirTimeOnce() throws Exception {
        settings.setInt("fs.slow.metadata-ms", 3);
        SlowFileSystem files = files();
        files.create(path("a"), false).close();
        assertThat(files.takenMillis()).isEqualTo(3);
        files.rename(path("a"), path("b"));
        assertThat(files.takenMillis()).isEqualTo(6);
        files.listStatus(path(""));
        assertThat(files.takenMillis()).isEqualTo(9);
        files.open(path("b")).close();
        assertThat(files.takenMillis()).isEqualTo(12);
        files.delete(path("b"), false);
        assertThat(files.takenMillis()).isEqualTo(15);
        assertThat(files.exists(path("b"))).isFalse();
        assertThat(files.takenMillis()).isEqualTo(18);
    }

    @Test
    void asManyStallAsAreAskedForAndTheSameWithTheSameSeed() throws Exception {
        settings.setInt("fs.slow.stalls-permille", 100);
        settings.setInt("fs.slow.stall-ms", 1);
        SlowFileSystem files = files();
        SlowFileSystem same = files();
        settings.setLong("fs.slow.seed", 1);
        SlowFileSystem other = files();
        for (int i = 0; i < 300; i++) {
            write(files, path("a" + i), 1);
            write(same, path("b" + i), 1);
            write(other, path("c" + i), 1);
        }
        assertThat(files.takenMillis()).isBetween(10L, 60L).isEqualTo(same.takenMillis());
        assertThat(files.takenMillis()).isNotEqualTo(other.takenMillis());
    }

    /** A test that waited for them would last for hours. */
    @Test
    void stateTakesItsTimeBehindTheTaskIfThatIsAsked() throws Exception {
        settings.setInt("fs.slow.metadata-ms", 3_600_000);
        settings.setBoolean("fs.slow.async-state", true);
        SlowFileSystem files = files();
        write(files, path("state/0/1.changelog"), 1);
        assertThat(files.takenMillis()).isEqualTo(3_600_000);
    }
}
