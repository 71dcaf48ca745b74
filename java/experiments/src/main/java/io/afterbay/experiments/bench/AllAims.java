package io.afterbay.experiments.bench;

import io.afterbay.bench.AimsPage;
import io.afterbay.bench.AimsPage.PartAims;
import io.afterbay.bench.CodeHistory;
import io.afterbay.bench.Part;
import io.afterbay.bench.Result;
import io.afterbay.bench.ResultsPage;
import io.afterbay.experiments.blob.BlobPage;
import io.afterbay.experiments.blobcluster.ClusterPage;
import io.afterbay.experiments.checkpoints.CheckpointsPage;
import io.afterbay.experiments.desync.DesyncPage;
import io.afterbay.experiments.edge.EdgePage;
import io.afterbay.experiments.net.NetPage;
import io.afterbay.experiments.queries.LatencyPage;
import io.afterbay.experiments.recovery.RecoveryPage;
import io.afterbay.experiments.replay.ReplayPage;
import io.afterbay.experiments.spark.SparkPage;
import io.afterbay.experiments.storm.StormPage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** What all experiments say about the project's aims. */
public final class AllAims {
    private AllAims() {}

    /**
     * The newest of all that is recorded.
     *
     * @param project whose {@code bench} has what is recorded
     */
    public static AimsPage of(Path project) throws IOException {
        Path directory = project.resolve("bench/results");
        return AimsPage.of(
                List.of(
                        new PartAims(Part.FLINK, new ResultsPage(Result.readAll(directory)).aims()),
                        new PartAims(
                                Part.FLINK, new LatencyPage(LatencyPage.read(directory)).aims()),
                        new PartAims(
                                Part.FLINK,
                                new CheckpointsPage(CheckpointsPage.read(directory)).aims()),
                        new PartAims(
                                Part.FLINK, new RecoveryPage(RecoveryPage.read(directory)).aims()),
                        new PartAims(
                                Part.ROCKSDB, new DesyncPage(DesyncPage.read(directory)).aims()),
                        new PartAims(Part.SPARK, new SparkPage(SparkPage.read(directory)).aims()),
                        new PartAims(Part.STORM, new StormPage(StormPage.read(directory)).aims()),
                        new PartAims(Part.BLOB, new BlobPage(BlobPage.read(directory)).aims()),
                        new PartAims(
                                Part.BLOB, new ClusterPage(ClusterPage.read(directory)).aims()),
                        new PartAims(Part.NET, new NetPage(NetPage.read(directory)).aims()),
                        new PartAims(Part.EDGE, new EdgePage(EdgePage.read(directory)).aims()),
                        new PartAims(
                                Part.REPLAY, new ReplayPage(ReplayPage.read(directory)).aims())),
                CodeHistory.read(project));
    }
}
