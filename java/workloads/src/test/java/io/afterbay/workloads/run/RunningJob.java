package io.afterbay.workloads.run;

import io.afterbay.testing.Await;
import java.util.stream.StreamSupport;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.checkpoint.CheckpointStatsCounts;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.minicluster.MiniCluster;

/** What tests wait for in a job. */
public record RunningJob(MiniCluster cluster, JobID id) {
    /** A savepoint is refused before. */
    public void awaitAllTasks() throws Exception {
        Await.until(
                "all tasks run",
                () ->
                        StreamSupport.stream(
                                        cluster.getArchivedExecutionGraph(id)
                                                .get()
                                                .getAllExecutionVertices()
                                                .spliterator(),
                                        false)
                                .map(AccessExecutionVertex::getExecutionState)
                                .allMatch(state -> state == ExecutionState.RUNNING));
    }

    /** Waits for a checkpoint of what the job has done until now, in which all tasks had a part. */
    public void awaitCheckpoint() throws Exception {
        // The first of them may have been under way.
        long before = checkpoints().getNumberOfCompletedCheckpoints();
        Await.until(
                "a checkpoint",
                () -> checkpoints().getNumberOfCompletedCheckpoints() >= before + 2);
    }

    public CheckpointStatsCounts checkpoints() throws Exception {
        return cluster.getExecutionGraph(id).get().getCheckpointStatsSnapshot().getCounts();
    }
}
