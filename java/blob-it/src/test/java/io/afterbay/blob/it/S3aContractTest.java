package io.afterbay.blob.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LongForm;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractContractBulkDeleteTest;
import org.apache.hadoop.fs.contract.AbstractContractContentSummaryTest;
import org.apache.hadoop.fs.contract.AbstractContractCreateTest;
import org.apache.hadoop.fs.contract.AbstractContractDeleteTest;
import org.apache.hadoop.fs.contract.AbstractContractEtagTest;
import org.apache.hadoop.fs.contract.AbstractContractGetFileStatusTest;
import org.apache.hadoop.fs.contract.AbstractContractMkdirTest;
import org.apache.hadoop.fs.contract.AbstractContractMultipartUploaderTest;
import org.apache.hadoop.fs.contract.AbstractContractOpenTest;
import org.apache.hadoop.fs.contract.AbstractContractRenameTest;
import org.apache.hadoop.fs.contract.AbstractContractRootDirectoryTest;
import org.apache.hadoop.fs.contract.AbstractContractSeekTest;
import org.apache.hadoop.fs.contract.AbstractContractUnbufferTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.apache.hadoop.fs.contract.ContractTestUtils;
import org.apache.hadoop.fs.s3a.Constants;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hadoop's own contract of file systems, with S3A on the store. */
class S3aContractTest {
    private static final String BUCKET = "contract";

    @TempDir private static java.nio.file.Path directory;
    private static BlobStore store;
    private static AbstractFSContract contract;

    @BeforeAll
    static void startTheStore() throws Exception {
        store = BlobStore.start(directory);
        store.makeBucket(BUCKET);
        contract = new Contract(S3a.settings(store));
    }

    @AfterAll
    static void stopTheStore() throws Exception {
        store.close();
    }

    private static final class Contract extends AbstractFSContract {
        Contract(Configuration settings) {
            super(settings);
            addConfResource("contract/s3a.xml");
        }

        @Override
        public FileSystem getTestFileSystem() throws IOException {
            return FileSystem.get(new Path(root()).toUri(), getConf());
        }

        private static String root() {
            return "s3a://" + BUCKET + "/";
        }

        @Override
        public String getScheme() {
            return "s3a";
        }

        @Override
        public Path getTestPath() {
            return new Path(root() + "test");
        }
    }

    @Nested
    class Create extends AbstractContractCreateTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }
    }

    @Nested
    class Mkdir extends AbstractContractMkdirTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }
    }

    @Nested
    class Open extends AbstractContractOpenTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }

        /** S3 encrypts whatever it stores, so S3A says yes for all. */
        @Override
        protected boolean areZeroByteFilesEncrypted() {
            return true;
        }
    }

    @Nested
    class Rename extends AbstractContractRenameTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }

        /** S3A refuses that, other than HDFS. */
        @Test
        @Override
        public void testRenameDirIntoExistingDir() throws Throwable {
            FileSystem files = getFileSystem();
            Path source = path("source");
            Path target = path("target");
            ContractTestUtils.touch(files, new Path(source, "a"));
            ContractTestUtils.touch(files, new Path(target, "b"));
            assertThat(files.rename(source, target)).isFalse();
            assertIsFile(new Path(source, "a"));
            assertIsFile(new Path(target, "b"));
        }

        @Test
        @Override
        @Disabled("S3A does not look whether a directory far above is a file")
        public void testRenameFileUnderFileSubdir() throws Exception {
            super.testRenameFileUnderFileSubdir();
        }
    }

    @Nested
    class Delete extends AbstractContractDeleteTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }
    }

    @Nested
    class Status extends AbstractContractGetFileStatusTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }
    }

    @Nested
    class Seek extends AbstractContractSeekTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }
    }

    @Nested
    class Root extends AbstractContractRootDirectoryTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }

        @Test
        @Override
        @Disabled("S3A returns false instead of an exception")
        public void testRmNonEmptyRootDirNonRecursive() throws Throwable {
            super.testRmNonEmptyRootDirNonRecursive();
        }
    }

    @Nested
    @LongForm
    class BulkDelete extends AbstractContractBulkDeleteTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }

        @Override
        protected int getExpectedPageSize() {
            return Constants.BULK_DELETE_PAGE_SIZE_DEFAULT;
        }

        @Test
        @Override
        @Disabled("S3A deletes objects, and says nothing about directories")
        public void testBulkDeleteParentDirectoryWithDirectories() throws Exception {
            super.testBulkDeleteParentDirectoryWithDirectories();
        }

        @Test
        @Override
        @Disabled("S3A deletes objects, and says nothing about directories")
        public void testBulkDeleteParentDirectoryWithFiles() throws Exception {
            super.testBulkDeleteParentDirectoryWithFiles();
        }
    }

    @Nested
    @LongForm
    class Etags extends AbstractContractEtagTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }
    }

    @Nested
    @LongForm
    class Summary extends AbstractContractContentSummaryTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }
    }

    @Nested
    @LongForm
    class Unbuffer extends AbstractContractUnbufferTest {
        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }
    }

    @Nested
    class Uploader extends AbstractContractMultipartUploaderTest {
        private static final int PART_BYTES = 5 << 20;

        @Override
        protected AbstractFSContract createContract(Configuration ignored) {
            return contract;
        }

        @Override
        protected int partSizeInBytes() {
            return PART_BYTES;
        }

        @Override
        protected int getTestPayloadCount() {
            return 3;
        }

        private boolean isAborted;

        /** Who completes again, since the answer was lost, gets it; an aborted upload is gone. */
        @Override
        protected boolean finalizeConsumesUploadIdImmediately() {
            return isAborted;
        }

        @Test
        @Override
        public void testMultipartUploadAbort() throws Exception {
            isAborted = true;
            super.testMultipartUploadAbort();
        }

        @Test
        @Override
        @Disabled("S3 has no directories")
        public void testDirectoryInTheWay() throws Exception {
            super.testDirectoryInTheWay();
        }

        @Override
        protected boolean supportsConcurrentUploadsToSamePath() {
            return true;
        }
    }
}
