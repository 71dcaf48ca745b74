package io.afterbay.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.maintenance.Kind;
import io.afterbay.maintenance.MaintenanceInstance;
import io.afterbay.maintenance.MaintenanceScheduler;
import io.afterbay.maintenance.MaintenanceSettings;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.state.DoneFuture;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A compaction of any store waits for the end of a checkpoint, however that ends. */
class AnnouncedCheckpointTest {
    private static final long A_LONG_TIME = TimeUnit.HOURS.toNanos(1);

    /** No phases, and hardly a pause after the end. */
    private final MaintenanceScheduler scheduler =
            new MaintenanceScheduler(new MaintenanceSettings(2, 1, 0, 1, A_LONG_TIME));

    private final MaintenanceInstance checkpointed = scheduler.register("checkpointed");
    private final MaintenanceInstance other = scheduler.register("other");

    @AfterEach
    void close() {
        checkpointed.close();
        other.close();
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> begin() throws Exception {
        return AnnouncedCheckpoint.begin(
                checkpointed, () -> new FutureTask<>(SnapshotResult::empty));
    }

    private CountDownLatch submitCompaction() {
        CountDownLatch begun = new CountDownLatch(1);
        other.execute(Kind.COMPACTION, begun::countDown);
        return begun;
    }

    private static void assertBegins(CountDownLatch begun) throws InterruptedException {
        begun.await();
    }

    private CountDownLatch submitHeldCompaction() {
        CountDownLatch begun = submitCompaction();
        assertThat(scheduler.metrics().delayed()).isEqualTo(1);
        return begun;
    }

    @Test
    void endsWhenTheAsynchronousPartHasRun() throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint = begin();
        CountDownLatch begun = submitHeldCompaction();
        checkpoint.run();
        assertBegins(begun);
        assertThat(checkpoint.get()).isNotNull();
    }

    @Test
    void endsWhenItIsCancelled() throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint = begin();
        CountDownLatch begun = submitHeldCompaction();
        assertThat(checkpoint.cancel(true)).isTrue();
        checkpoint.run();
        assertThat(checkpoint.isCancelled()).isTrue();
        assertBegins(begun);
    }

    @Test
    void endsWhenTheSynchronousPartFails() throws Exception {
        assertThatThrownBy(
                        () ->
                                AnnouncedCheckpoint.begin(
                                        checkpointed,
                                        () -> {
                                            throw new IllegalStateException("cannot freeze");
                                        }))
                .hasMessage("cannot freeze");
        assertBegins(submitCompaction());
    }

    @Test
    void endsAtOnceIfThereIsNothingToDo() throws Exception {
        AnnouncedCheckpoint.begin(checkpointed, () -> DoneFuture.of(SnapshotResult.empty()));
        assertBegins(submitCompaction());
    }

    @Test
    void twoAtATimeEndWithTheLast() throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> first = begin();
        RunnableFuture<SnapshotResult<KeyedStateHandle>> second = begin();
        first.run();
        first.cancel(true); // what Flink does to a checkpoint that is over
        CountDownLatch begun = submitHeldCompaction();
        second.run();
        assertBegins(begun);
    }
}
