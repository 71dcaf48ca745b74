package io.afterbay.spark;

import io.afterbay.spark.CheckpointFiles.Role;
import io.afterbay.spark.LocalFirstStream.Handover;
import io.afterbay.spark.publish.Gate;
import io.afterbay.spark.publish.Kind;
import java.io.IOException;
import java.nio.file.Path;

/**
 * {@code offsets/N}, {@code commits/N}, or what a source logs: what waits for what, as in
 * docs/spark-commit.md.
 */
record LogFile(
        Checkpoint to,
        org.apache.hadoop.fs.Path path,
        Role role,
        boolean overwrites,
        QueryOptions options)
        implements Handover {

    @Override
    public long accept(Path local) throws IOException {
        if (role == Role.OFFSETS && options.isStaggered()) {
            ProviderInLog.nameSparks(local);
        }
        if (options.isPipelined() && role != Role.SOURCE) {
            checkBarrier();
        }
        String target = CheckpointFiles.path(path);
        return to.publisher().submit(Kind.LOG, target, local, overwrites, gate(local));
    }

    @Override
    public void await(long ticket) throws IOException {
        if (isAwaited()) {
            to.publisher().awaitPublished(ticket);
        }
    }

    private long batch() {
        return Long.parseLong(path.getName());
    }

    private Gate gate(Path local) throws IOException {
        return role == Role.COMMIT ? to.peers().gate(to.location(), batch(), local) : Gate.OPEN;
    }

    /**
     * The first offsets always: Spark does not begin a query in a checkpoint that has state. What a
     * source logs is before the offsets, which are.
     */
    private boolean isAwaited() {
        if (role == Role.SOURCE) {
            return false;
        }
        boolean isLead = role == Role.OFFSETS && (!options.isPipelined() || batch() == 0);
        return isLead || RunningQuery.endsByItself();
    }

    /**
     * Tasks have waited for the offsets of the last batch that they ended. If none has, that batch
     * is in the sink already, and nobody may build on it.
     */
    private void checkBarrier() throws IOException {
        long ended = role == Role.COMMIT ? batch() : batch() - 1;
        String offsets = CheckpointFiles.offsets(to.root(), ended);
        if (ended >= 0 && !to.publisher().isPublished(offsets)) {
            throw new IllegalStateException(
                    "batch "
                            + ended
                            + " has ended before "
                            + offsets
                            + " was published: no task of it has committed state. Set "
                            + QuerySettings.MODE
                            + "=strict in the query's session");
        }
    }

    @Override
    public void cancelled() {}
}
