package io.afterbay.replay.merge;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.source.event.SourceEventWrapper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds up what the subtasks of a merge tell, and ends the source of the log when all of them have
 * finished. Used by the JobManager's main thread; the listener is told by another one.
 */
final class MergeCoordinator implements OperatorCoordinator {
    private static final Logger LOG = LoggerFactory.getLogger(MergeCoordinator.class);

    private final Context context;
    private final String source;
    private final MergeListener listener;
    private final Map<Integer, MergeEvent> told = new HashMap<>();
    private final AtomicReference<@Nullable MergeFigures> untold = new AtomicReference<>();
    private final ExecutorService teller =
            Executors.newSingleThreadExecutor(
                    work -> {
                        Thread thread = new Thread(work, "replay-merge");
                        thread.setDaemon(true);
                        return thread;
                    });

    MergeCoordinator(Context context, String source, MergeListener listener) {
        this.context = context;
        this.source = source;
        this.listener = listener;
    }

    @Override
    public void start() {
        // Subtasks tell by themselves.
    }

    @Override
    public void handleEventFromOperator(int subtask, int attemptNumber, OperatorEvent event) {
        MergeEvent news = (MergeEvent) event;
        if (!news.equals(told.put(subtask, news))) {
            tell();
        }
        if (haveAllFinished()) {
            endSource();
        }
    }

    private boolean haveAllFinished() {
        return told.size() == context.currentParallelism()
                && told.values().stream().allMatch(MergeEvent::hasFinished);
    }

    private void tell() {
        MergeFigures sum =
                told.values().stream()
                        .map(MergeEvent::figures)
                        .reduce(MergeFigures.NONE, MergeFigures::plus);
        if (untold.getAndSet(sum) == null) {
            teller.execute(this::tellNewest);
        }
    }

    private synchronized void tellNewest() {
        MergeFigures newest = untold.getAndSet(null);
        if (newest == null) {
            return;
        }
        try {
            listener.tell(newest);
        } catch (IOException e) {
            // The merge does not need it.
            LOG.warn("what a merge has done could not be told", e);
        }
    }

    /** It may not listen yet, after a failure; subtasks say again that they have finished. */
    private void endSource() {
        if (context.getCoordinatorStore().get(source) instanceof OperatorCoordinator listening) {
            try {
                listening.handleEventFromOperator(0, 0, new SourceEventWrapper(new EndEvent()));
            } catch (Exception e) {
                context.failJob(e);
            }
        }
    }

    @Override
    public void subtaskReset(int subtask, long checkpointId) {
        unfinished(subtask);
    }

    @Override
    public void executionAttemptFailed(int subtask, int attemptNumber, @Nullable Throwable reason) {
        unfinished(subtask);
    }

    /** What it has told holds until it tells again, but it may have to go on. */
    private void unfinished(int subtask) {
        told.computeIfPresent(subtask, (same, event) -> new MergeEvent(event.figures(), false));
    }

    @Override
    public void executionAttemptReady(int subtask, int attemptNumber, SubtaskGateway gateway) {
        // Nothing is told to subtasks.
    }

    @Override
    public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
        // Subtasks keep what they have done.
        result.complete(new byte[0]);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        // Nothing depends on it.
    }

    @Override
    public void resetToCheckpoint(long checkpointId, byte @Nullable [] checkpoint) {
        told.clear();
    }

    @Override
    public void close() {
        teller.shutdown();
        // Its thread may not have come to it, and ends with the process.
        tellNewest();
    }
}
