package io.afterbay.orphans;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import io.afterbay.testing.LiveTree;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checkpoints of real jobs, from which what is planted is deleted and nothing else. */
class CleanedJobTest {
    private static final Duration LIMIT = Duration.ofHours(1);

    @TempDir private Path storage;

    /** How uploads become files. */
    @SuppressWarnings("ImmutableEnumChecker") // maps of constants
    enum Merging {
        OFF(Map.of()),
        WITHIN_CHECKPOINTS(Map.of("execution.checkpointing.file-merging.enabled", "true")),
        ACROSS_CHECKPOINTS(
                Map.of(
                        "execution.checkpointing.file-merging.enabled",
                        "true",
                        "execution.checkpointing.file-merging.across-checkpoint-boundary",
                        "true"));

        final Map<String, String> options;

        Merging(Map<String, String> options) {
            this.options = options;
        }
    }

    static List<Merging> oneOrAll() {
        return TestForm.IS_LONG ? List.of(Merging.values()) : List.of(Merging.ACROSS_CHECKPOINTS);
    }

    @ParameterizedTest
    @MethodSource("oneOrAll")
    void theJobGoesOnFromItsCheckpoint(Merging merging) throws Exception {
        cleanAndGoOn(merging, CheckpointPaths.ofAllHandles());
    }

    /** Negative control: the test above notices if a kind of reference is forgotten. */
    @Test
    void aCollectorThatForgetsSharedFilesIsNoticed() {
        CheckpointPaths forgetful =
                checkpoint ->
                        CheckpointPaths.ofAllHandles().of(checkpoint).stream()
                                .filter(path -> !path.toString().contains("/shared/"))
                                .toList();
        assertThatThrownBy(() -> cleanAndGoOn(Merging.OFF, forgetful))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("planted");
    }

    /** What the negative control would lead to. */
    @Test
    @LongForm
    void theJobDoesNotGoOnWithoutSharedFiles() throws Exception {
        try (CountingJob job = new CountingJob(storage, Map.of())) {
            Path checkpoint = job.runAndCancel(2);
            for (Path file : LiveTree.files(checkpoint.resolveSibling("shared"))) {
                Files.delete(file);
            }
            assertThatThrownBy(() -> job.finishFrom(checkpoint)).hasMessageContaining("failed");
        }
    }

    /** Checkpoints come and go while they are read. */
    @ParameterizedTest
    @MethodSource("oneOrAll")
    void aJobThatRunsIsNoProblem(Merging merging) throws Exception {
        Map<String, String> options = new HashMap<>(merging.options);
        options.put("execution.checkpointing.interval", "20 ms");
        try (CountingJob job = new CountingJob(storage, options)) {
            AtomicInteger searches = new AtomicInteger();
            CompletableFuture<Path> running =
                    CompletableFuture.supplyAsync(
                            () -> runAndCancel(job, n -> n >= 10 && searches.get() > 5));
            while (!running.isDone()) {
                searches.addAndGet(searchWhileRunning() ? 1 : 0);
            }
            job.finishFrom(running.get());
        }
    }

    private static Path runAndCancel(CountingJob job, IntPredicate areEnough) {
        try {
            return job.runAndCancel(areEnough);
        } catch (Exception e) {
            throw new CompletionException(e);
        }
    }

    /** False before there is anything. */
    private boolean searchWhileRunning() throws Exception {
        if (LiveTree.files(storage).isEmpty()) {
            return false;
        }
        OrphanReport report = LiveSearch.withoutProblems(storage, LIMIT);
        assertThat(new OrphanDeletion(progress -> {}).run(report).total(Orphan::isDeleted).files())
                .isZero();
        return report.checkpoints() > 0;
    }

    private void cleanAndGoOn(Merging merging, CheckpointPaths paths) throws Exception {
        try (CountingJob job = new CountingJob(storage, merging.options)) {
            Path checkpoint = job.runAndCancel(4);
            assertThat(LiveTree.files(checkpoint.resolveSibling("shared"))).isNotEmpty();
            awaitNoOther(checkpoint);
            List<Path> before = LiveTree.files(storage);
            List<Path> planted = plant(checkpoint.getParent());
            makeOld();
            OrphanReport report =
                    new OrphanSearch(paths, progress -> {})
                            .run(storage.toString(), List.of(), LIMIT);
            assertThat(report.problems()).isEmpty();
            assertThat(LiveTree.files(storage)).as("a search deletes nothing").containsAll(planted);
            OrphanReport deletion = new OrphanDeletion(progress -> {}).run(report);
            assertThat(deletion.isComplete()).isTrue();
            List<Path> deleted = new ArrayList<>(before);
            deleted.addAll(planted);
            deleted.removeAll(LiveTree.files(storage));
            assertThat(deleted).as("planted").containsExactlyInAnyOrderElementsOf(planted);
            job.finishFrom(checkpoint);
        }
    }

    /** Older ones, and what only they need, are deleted in the background. */
    private void awaitNoOther(Path checkpoint) throws Exception {
        Await.until(
                "older checkpoints to be gone",
                () ->
                        checkpoints(checkpoint.getParent()).equals(List.of(checkpoint))
                                && LiveSearch.withoutProblems(storage, Duration.ZERO)
                                        .jobs()
                                        .stream()
                                        .allMatch(job -> job.orphans().isEmpty()));
    }

    private static List<Path> checkpoints(Path job) throws IOException {
        try (Stream<Path> all = Files.list(job)) {
            return all.filter(path -> path.getFileName().toString().startsWith("chk-")).toList();
        }
    }

    /** As a process that was killed leaves them. */
    private static List<Path> plant(Path job) throws IOException {
        List<Path> planted = new ArrayList<>();
        Path abandoned = Files.createDirectories(job.resolve("chk-99"));
        List<Path> directories = new ArrayList<>(List.of(job.resolve("shared"), abandoned));
        for (String parent : List.of("shared", "taskowned")) {
            try (Stream<Path> merged = Files.list(job.resolve(parent))) {
                merged.filter(Files::isDirectory).forEach(directories::add);
            }
        }
        for (Path directory : directories) {
            Path file = directory.resolve(UUID.randomUUID().toString());
            planted.add(Files.writeString(file, "half an upload"));
        }
        return planted;
    }

    private void makeOld() throws IOException {
        FileTime time = FileTime.from(Instant.now().minus(LIMIT.multipliedBy(3)));
        try (Stream<Path> all = Files.walk(storage)) {
            for (Path path : all.toList()) {
                Files.setLastModifiedTime(path, time);
            }
        }
    }
}
