package io.afterbay.orphans;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.testing.LiveTree;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What stays in checkpoint storage when another JobManager takes a job over: what Flink forgets, on
 * Afterbay and on RocksDB alike (docs/flink.md, "Files nobody needs").
 */
class FailoverOrphansTest {
    private static final String AFTERBAY = "io.afterbay.flink.AfterbayStateBackendFactory";
    private static final String ROCKSDB = "rocksdb";

    @TempDir private Path storage;

    private CountingJob job(String backend) throws Exception {
        return new CountingJob(storage, Map.of("state.backend.type", backend));
    }

    private static SavepointRestoreSettings claim(Path checkpoint) {
        return SavepointRestoreSettings.forPath(
                checkpoint.toUri().toString(), false, RecoveryClaimMode.CLAIM);
    }

    /** What no checkpoint refers to, however young. */
    private OrphanReport search() throws Exception {
        return LiveSearch.withoutProblems(storage, Duration.ZERO);
    }

    private static Set<Path> files(OrphanReport report) {
        return report.jobs().stream()
                .flatMap(job -> job.orphans().stream())
                .map(orphan -> Path.of(orphan.file().path().getPath()))
                .collect(Collectors.toSet());
    }

    /** What is not used any more is deleted in the background. */
    private void awaitOrphans(Set<Path> expected) throws Exception {
        awaitOrphans(expected, file -> true);
    }

    private void awaitOrphans(Set<Path> expected, Predicate<Path> isLookedFor) throws Exception {
        Await.until(
                () -> "orphans " + expected + "; there are " + orphans(isLookedFor),
                () -> orphans(isLookedFor).equals(expected));
    }

    private Set<Path> orphans(Predicate<Path> isLookedFor) throws Exception {
        return files(search()).stream().filter(isLookedFor).collect(Collectors.toSet());
    }

    /**
     * Not in the folder of one checkpoint: these the JobManager that is lost deletes, if it is
     * still able to.
     */
    private static boolean isShared(Path file) {
        return file.getParent().endsWith("shared");
    }

    private Set<Path> sharedFiles(JobID job) throws IOException {
        try (Stream<Path> files = Files.list(storage.resolve(job.toString()).resolve("shared"))) {
            return files.collect(Collectors.toSet());
        }
    }

    private Set<Path> filesOf(JobID job) throws IOException {
        return new HashSet<>(LiveTree.files(storage.resolve(job.toString())));
    }

    static List<String> oursOrBoth() {
        return TestForm.IS_LONG ? List.of(AFTERBAY, ROCKSDB) : List.of(AFTERBAY);
    }

    @ParameterizedTest
    @MethodSource("oursOrBoth")
    void aJobThatClaimedItsFirstCheckpointLeavesNothing(String backend) throws Exception {
        try (CountingJob job = job(backend)) {
            Path claimed = job.runAndCancel(2);
            JobID id = job.start(claim(claimed));
            job.checkpoint(id);
            job.failOver(id);
            job.checkpoint(id);
            awaitOrphans(Set.of());
            job.fullCheckpoint(id);
            awaitOrphans(Set.of());
            Path shared = claimed.resolveSibling("shared");
            Await.until(
                    "its shared files to be deleted, in the background",
                    () -> LiveTree.files(shared).isEmpty());
            assertThat(shared).isEmptyDirectory();
            job.cancel(id);
        }
    }

    /** Nobody but the JobManager that was lost has heard of its files. */
    @Test
    void aCheckpointThatIsUnderWayLeavesItsFiles() throws Exception {
        try (CountingJob job = job(AFTERBAY)) {
            JobID id = job.start(claim(job.runAndCancel(2)));
            job.checkpoint(id);
            awaitOrphans(Set.of());
            Set<Path> before = filesOf(id);
            Set<Path> left = beginCheckpoint(job, id);
            Set<Path> underWay = filesOf(id);
            underWay.removeAll(before);
            job.failOver(id);
            job.checkpoint(id);
            awaitOrphans(left, FailoverOrphansTest::isShared);
            // Tasks may write more for it until they hear that it is off.
            Set<Path> folders = underWay.stream().map(Path::getParent).collect(Collectors.toSet());
            assertThat(files(search()))
                    .allMatch(file -> left.contains(file) || folders.contains(file.getParent()));
            assertAreCleanedUp(left, job, id);
        }
    }

    /** It takes what it had written until then for the checkpoint of somebody else. */
    @Test
    void aJobThatClaimedNothingLeavesWhatItHadWritten() throws Exception {
        try (CountingJob job = job(AFTERBAY)) {
            JobID id = job.start(SavepointRestoreSettings.none());
            job.checkpoint(id);
            Set<Path> left = sharedFiles(id);
            job.failOver(id);
            job.checkpoint(id);
            job.fullCheckpoint(id);
            awaitOrphans(left);
            assertAreCleanedUp(left, job, id);
        }
    }

    /** Not all of its files in that folder: it also has some there that each checkpoint deletes. */
    @Test
    @LongForm
    void rocksDbLeavesFilesOfBothToo() throws Exception {
        Set<Path> written;
        Set<Path> underWay;
        Set<Path> folders;
        try (CountingJob job = job(ROCKSDB)) {
            JobID id = job.start(SavepointRestoreSettings.none());
            job.checkpoint(id);
            written = sharedFiles(id);
            Set<Path> before = filesOf(id);
            underWay = beginCheckpoint(job, id);
            folders = newFolders(before, id);
            job.failOver(id);
            job.checkpoint(id);
            job.fullCheckpoint(id);
            job.cancel(id);
        }
        assertThat(files(search()))
                .containsAnyElementsOf(written)
                .containsAnyElementsOf(underWay)
                .allMatch(
                        file ->
                                written.contains(file)
                                        || underWay.contains(file)
                                        || folders.contains(file.getParent()));
    }

    /**
     * Where only the checkpoint that is under way has files: tasks may write more for it until they
     * hear that it is off.
     */
    private Set<Path> newFolders(Set<Path> before, JobID id) throws IOException {
        Set<Path> folders = folders(filesOf(id));
        folders.removeAll(folders(before));
        return folders;
    }

    private static Set<Path> folders(Set<Path> files) {
        return files.stream().map(Path::getParent).collect(Collectors.toCollection(HashSet::new));
    }

    /** Returns the files that tasks have acknowledged. */
    private Set<Path> beginCheckpoint(CountingJob job, JobID id) throws Exception {
        Set<Path> before = sharedFiles(id);
        job.beginCheckpoint(id);
        Set<Path> files = sharedFiles(id);
        files.removeAll(before);
        return files;
    }

    private void assertAreCleanedUp(Set<Path> left, CountingJob job, JobID id) throws Exception {
        assertThat(left).isNotEmpty();
        OrphanReport found = search();
        assertThat(files(found)).containsAll(left);
        OrphanReport report = new OrphanDeletion(progress -> {}).run(found);
        assertThat(report.total(Orphan::isDeleted).files()).isEqualTo(files(found).size());
        awaitOrphans(Set.of());
        String last = job.checkpoint(id);
        job.cancel(id);
        job.finishFrom(Path.of(URI.create(last).getPath()));
    }
}
