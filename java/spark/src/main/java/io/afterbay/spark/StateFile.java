package io.afterbay.spark;

import io.afterbay.spark.LocalFirstStream.Handover;
import io.afterbay.spark.publish.Kind;
import java.io.IOException;
import java.nio.file.Path;

/** A changelog or its checksum, which a task has written. */
final class StateFile implements Handover {
    private final Checkpoint to;
    private final String target;
    private final QueryOptions options;

    StateFile(Checkpoint to, org.apache.hadoop.fs.Path path, QueryOptions options) {
        this.to = to;
        this.target = CheckpointFiles.path(path);
        this.options = options;
        to.peers().created(to.location(), target);
    }

    /**
     * It replaces nothing, though Spark says that it may: no two have its name, and many file
     * systems replace a file by deleting it before they rename another. A write that is begun twice
     * would leave none for a moment, and a crash then for ever.
     */
    @Override
    public long accept(Path local) throws IOException {
        return to.publisher().submit(Kind.STATE, target, local, false);
    }

    /**
     * In pipelined mode, the barrier of docs/spark-commit.md: the task goes on, and so the sink may
     * commit the batch, when the batch's offsets are published.
     */
    @Override
    public void await(long ticket) throws IOException {
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
