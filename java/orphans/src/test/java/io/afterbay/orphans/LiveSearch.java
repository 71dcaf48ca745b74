package io.afterbay.orphans;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Searches beside a job. Flink deletes the files of an old checkpoint before its {@code _metadata};
 * where that takes long, as on a busy machine, a search takes the checkpoint for a damaged one.
 */
final class LiveSearch {
    private LiveSearch() {}

    /** Searches until no checkpoint is half deleted. */
    static OrphanReport withoutProblems(Path storage, Duration olderThan) throws Exception {
        AtomicReference<OrphanReport> last = new AtomicReference<>();
        Await.until(
                () -> "a search without problems; there are " + last.get().problems(),
                () -> {
                    last.set(
                            new OrphanSearch(CheckpointPaths.ofAllHandles(), progress -> {})
                                    .run(storage.toString(), List.of(), olderThan));
                    return last.get().problems().isEmpty();
                });
        OrphanReport report = last.get();
        assertThat(report.problems()).isEmpty();
        return report;
    }
}
