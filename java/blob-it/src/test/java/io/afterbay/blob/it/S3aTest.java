package io.afterbay.blob.it;

import static io.afterbay.blob.it.Bytes.MIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;

/** Large files and whole directories by S3A, and what is left of them in the store. */
class S3aTest {
    private static final String BUCKET = "s3a-files";
    private static final int BLOCK = 5 * MIB;

    @TempDir private static java.nio.file.Path directory;
    private static BlobStore store;
    private static FileSystem files;

    @BeforeAll
    static void startTheStore() throws Exception {
        store = BlobStore.start(directory);
        store.makeBucket(BUCKET);
        files = S3a.fileSystem(settings(), BUCKET);
    }

    /** Files of more than a part are uploaded in parts. */
    private static Configuration settings() throws IOException {
        Configuration settings = S3a.settings(store);
        settings.setInt("fs.s3a.multipart.size", BLOCK);
        settings.setInt("fs.s3a.multipart.threshold", BLOCK);
        settings.set("fs.s3a.buffer.dir", directory.resolve("buffer").toString());
        return settings;
    }

    @AfterAll
    static void stopTheStore() throws Exception {
        files.close();
        store.close();
    }

    @Test
    void aFileOfFourPartsIsReadByRanges() throws Exception {
        byte[] content = Bytes.random(1, 3 * BLOCK + 77);
        Path file = write("/large/file", content);
        assertThat(store.parts(BUCKET, "large/file")).isEqualTo(4);
        assertThat(files.getFileStatus(file).getLen()).isEqualTo(content.length);
        assertThat(read(file)).isEqualTo(content);
        try (FSDataInputStream in = files.open(file)) {
            for (int from : new int[] {3 * BLOCK, BLOCK - 1, 0, content.length - 5}) {
                byte[] some = new byte[Math.min(1000, content.length - from)];
                in.readFully(from, some);
                assertThat(some).isEqualTo(Arrays.copyOfRange(content, from, from + some.length));
            }
        }
    }

    @Test
    void aFileIsReplacedAsAWhole() throws Exception {
        Path file = write("/replaced", Bytes.random(2, 2 * BLOCK));
        byte[] next = Bytes.random(3, 1000);
        assertThatThrownBy(() -> files.create(file, false))
                .isInstanceOf(FileAlreadyExistsException.class);
        write("/replaced", next);
        assertThat(read(file)).isEqualTo(next);
    }

    @Test
    void anAbortedUploadLeavesNothing() throws Exception {
        Path file = new Path("/aborted");
        FSDataOutputStream out = files.create(file);
        out.write(Bytes.random(4, 2 * BLOCK + 1));
        out.hflush();
        assertThat(out.abort().anyCleanupException()).isNull();
        assertThat(files.exists(file)).isFalse();
        assertThat(uploads("aborted")).isZero();
    }

    private static int uploads(String prefix) throws IOException {
        try (S3Client client = store.client()) {
            ListMultipartUploadsResponse open =
                    client.listMultipartUploads(list -> list.bucket(BUCKET).prefix(prefix));
            return open.uploads().size();
        }
    }

    @Test
    void aDirectoryIsListedRenamedAndDeleted() throws Exception {
        List<Path> written = new ArrayList<>();
        for (String name : List.of("a", "b/c", "b/d e", "b/ü+%", "b/f/g")) {
            written.add(write("/tree/" + name, name.getBytes("UTF-8")));
        }
        assertThat(below("/tree")).hasSameElementsAs(written.stream().map(S3aTest::name).toList());

        assertThat(files.rename(new Path("/tree"), new Path("/moved"))).isTrue();
        assertThat(files.exists(new Path("/tree"))).isFalse();
        assertThat(below("/moved")).hasSize(5).contains("/moved/b/ü+%");
        assertThat(read(new Path("/moved/b/ü+%"))).isEqualTo("b/ü+%".getBytes("UTF-8"));

        assertThatThrownBy(() -> files.delete(new Path("/moved"), false))
                .isInstanceOf(IOException.class);
        assertThat(files.delete(new Path("/moved"), true)).isTrue();
        assertThatThrownBy(() -> files.listStatus(new Path("/moved")))
                .isInstanceOf(FileNotFoundException.class);
    }

    /** More than a page of a list, and more than a batch of deletes. */
    @Test
    void manyFilesAreListedAndDeleted() throws Exception {
        int count = 1100;
        try (S3Client client = store.client()) {
            for (int i = 0; i < count; i++) {
                String key = "many/" + i;
                client.putObject(
                        put -> put.bucket(BUCKET).key(key),
                        software.amazon.awssdk.core.sync.RequestBody.fromString(key));
            }
        }
        assertThat(files.listStatus(new Path("/many"))).hasSize(count);
        assertThat(files.delete(new Path("/many"), true)).isTrue();
        assertThat(files.exists(new Path("/many"))).isFalse();
    }

    /** Negative control: nothing of this works with another secret. */
    @Test
    void aWrongSecretIsRefused() throws Exception {
        Configuration settings = settings();
        settings.set("fs.s3a.secret.key", "A".repeat(40));
        try (FileSystem stranger = S3a.fileSystem(settings, BUCKET)) {
            assertThatThrownBy(() -> stranger.create(new Path("/stranger")).close())
                    .isInstanceOf(AccessDeniedException.class);
        }
        assertThat(files.exists(new Path("/stranger"))).isFalse();
    }

    private static Path write(String name, byte[] content) throws IOException {
        Path file = files.makeQualified(new Path(name));
        try (FSDataOutputStream out = files.create(file, true)) {
            out.write(content);
        }
        return file;
    }

    private static byte[] read(Path file) throws IOException {
        try (FSDataInputStream in = files.open(file)) {
            return in.readAllBytes();
        }
    }

    private static List<String> below(String name) throws IOException {
        List<String> found = new ArrayList<>();
        RemoteIterator<LocatedFileStatus> all = files.listFiles(new Path(name), true);
        while (all.hasNext()) {
            found.add(name(all.next().getPath()));
        }
        return found;
    }

    private static String name(Path path) {
        return path.toUri().getPath();
    }
}
