package io.afterbay.spark;

import io.afterbay.spark.LocalFirstStream.Handover;
import io.afterbay.spark.publish.Kind;
import java.io.IOException;
import java.nio.file.Path;

/** A changelog or its checksum, which a task has written. */
final class StateFile implements Handover {
    private final Checkpoint to;
    private final String target;
    private final boolean overwrites;
    private final QueryOptions options;

    StateFile(
            Checkpoint to,
            org.apache.hadoop.fs.Path path,
            boolean overwrites,
            QueryOptions options) {
        this.to = to;
        this.target = CheckpointFiles.path(path);
        this.overwrites = overwrites;
        this.options = options;
        to.peers().created(to.root(), target);
    }

    /**
     * In pipelined mode, the barrier of docs/spark-commit.md: the task goes on, and so the sink may
     * commit the batch, when the batch's offsets are published.
     */
    @Override
    public void accept(Path local) throws IOException {
        to.publisher().submit(Kind.STATE, target, local, overwrites);
        if (options.isPipelined()) {
            long batch = CheckpointFiles.batch(CheckpointFiles.state(target));
            to.peers().awaitPublished(to, CheckpointFiles.offsets(to.root(), batch));
        }
    }

    @Override
    public void cancelled() {
        to.peers().cancelled(target);
    }
}
