package io.afterbay.blob.it;

import static io.afterbay.blob.it.Bytes.MIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.stream.Stream;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.RecoverableFsDataOutputStream;
import org.apache.flink.core.fs.RecoverableWriter;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The S3 file systems that Flink brings, unmodified, on the store. */
class FlinkFileSystemTest {
    private static final String BUCKET = "flink-files";

    @TempDir private static java.nio.file.Path directory;
    private static BlobStore store;

    @BeforeAll
    static void startTheStore() throws Exception {
        store = BlobStore.start(directory);
        store.makeBucket(BUCKET);
    }

    @AfterAll
    static void stopTheStore() throws Exception {
        store.close();
    }

    private static Path path(FlinkS3 flavour, String name) {
        return new Path("s3://" + BUCKET + "/" + flavour + "/" + name);
    }

    @ParameterizedTest
    @EnumSource
    void filesAreWrittenReadListedAndDeleted(FlinkS3 flavour) throws Exception {
        flavour.use(store, directory);
        Path large = path(flavour, "a/large");
        Path small = path(flavour, "a/b/small");
        FileSystem files = large.getFileSystem();
        byte[] content = Bytes.random(flavour.ordinal(), 12 * MIB + 5);
        write(files, large, content);
        write(files, small, new byte[] {1, 2, 3});
        // The native one puts files that are no recoverable ones at once.
        assertThat(store.parts(BUCKET, flavour + "/a/large"))
                .isEqualTo(flavour == FlinkS3.NATIVE ? 0 : 3);
        assertThat(read(files, large)).isEqualTo(content);
        assertThat(files.getFileStatus(large).getLen()).isEqualTo(content.length);
        seeks(files, large, content);

        write(files, small, new byte[] {4});
        assertThat(read(files, small)).containsExactly(4);
        assertThat(names(files, path(flavour, "a"))).containsExactlyInAnyOrder("large", "b");

        assertThat(files.delete(path(flavour, "a"), true)).isTrue();
        assertThat(files.exists(large)).isFalse();
        assertThat(files.exists(small)).isFalse();
        assertThatThrownBy(() -> files.getFileStatus(small))
                .isInstanceOf(FileNotFoundException.class);
    }

    private static void seeks(FileSystem files, Path file, byte[] content) throws IOException {
        try (FSDataInputStream in = files.open(file)) {
            for (int from : new int[] {11 * MIB, 5 * MIB - 3, 0, content.length - 9}) {
                in.seek(from);
                assertThat(in.readNBytes(9)).isEqualTo(Arrays.copyOfRange(content, from, from + 9));
                assertThat(in.getPos()).isEqualTo(from + 9);
            }
            assertThat(in.read()).isEqualTo(-1);
        }
    }

    /** Presto's has none. */
    @ParameterizedTest
    @EnumSource(names = "PRESTO", mode = EnumSource.Mode.EXCLUDE)
    void whatWasPersistedIsRecoveredAndCommittedOnce(FlinkS3 flavour) throws Exception {
        flavour.use(store, directory);
        Path file = path(flavour, "recoverable");
        FileSystem files = file.getFileSystem();
        RecoverableWriter writer = files.createRecoverableWriter();
        byte[] content = Bytes.random(17, 6 * MIB);
        byte[] tail = Bytes.random(18, 2 * MIB);

        RecoverableFsDataOutputStream lost = writer.open(file);
        lost.write(content);
        RecoverableWriter.ResumeRecoverable kept = copy(writer, lost.persist());
        lost.write(Bytes.random(19, 5 * MIB));
        lost.persist(); // waits for the upload, since a dead writer has none under way
        assertThat(files.exists(file)).isFalse();

        RecoverableFsDataOutputStream found = writer.recover(kept);
        assertThat(found.getPos()).isEqualTo(content.length);
        found.write(tail);
        RecoverableFsDataOutputStream.Committer committer = found.closeForCommit();
        assertThat(files.exists(file)).isFalse();
        committer.commit();
        byte[] both = new byte[content.length + tail.length];
        System.arraycopy(content, 0, both, 0, content.length);
        System.arraycopy(tail, 0, both, content.length, tail.length);
        assertThat(read(files, file)).isEqualTo(both);

        writer.recoverForCommit(committer.getRecoverable()).commitAfterRecovery();
        assertThat(read(files, file)).isEqualTo(both);
        assertThat(files.delete(file, false)).isTrue();
    }

    /** As a checkpoint keeps it. */
    private static RecoverableWriter.ResumeRecoverable copy(
            RecoverableWriter writer, RecoverableWriter.ResumeRecoverable point)
            throws IOException {
        SimpleVersionedSerializer<RecoverableWriter.ResumeRecoverable> serializer =
                writer.getResumeRecoverableSerializer();
        return serializer.deserialize(serializer.getVersion(), serializer.serialize(point));
    }

    private static void write(FileSystem files, Path path, byte[] content) throws IOException {
        try (FSDataOutputStream out = files.create(path, WriteMode.OVERWRITE)) {
            out.write(content);
        }
    }

    private static byte[] read(FileSystem files, Path path) throws IOException {
        try (FSDataInputStream in = files.open(path)) {
            return in.readAllBytes();
        }
    }

    private static Stream<String> names(FileSystem files, Path path) throws IOException {
        return Stream.of(files.listStatus(path)).map(FileStatus::getPath).map(Path::getName);
    }
}
