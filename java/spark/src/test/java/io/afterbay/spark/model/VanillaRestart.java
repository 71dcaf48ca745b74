package io.afterbay.spark.model;

import io.afterbay.spark.model.Protocol.Rule;
import io.afterbay.spark.model.Run.Phase;

/**
 * A new run, as Spark's {@code MicroBatchExecution.populateStartOffsets} reads the logs: it knows
 * nothing of us.
 */
final class VanillaRestart {
    private final Dfs dfs;
    private final World world;
    private final Model model;

    VanillaRestart(World dead, Model model) {
        this.dfs = dead.dfs();
        this.world = dead;
        this.model = model;
    }

    /** The world with the next run, or with the reason why there can be none. */
    World restart() {
        int last = Dfs.last(dfs.ends());
        int committed = Dfs.last(dfs.commits());
        if (last < 0 && !dfs.states().isEmpty()) {
            return world.failed("Spark does not begin a query where state is: " + dfs);
        }
        if (committed > last) {
            return world.failed("commits/" + committed + " is there, but not its offsets");
        }
        if (committed < last - 1) {
            return world.failed(
                    "batch " + last + " is to run again, on a state that has no commit: " + dfs);
        }
        if (dfs.end(last) < 0 || dfs.end(last - 1) < 0) {
            return world.failed("the offset log has a gap: " + dfs);
        }
        if (model.protocol().has(Rule.LOGS_SOURCE) && dfs.known() < dfs.end(last)) {
            return world.failed(
                    "batch " + last + " has input that the source does not know: " + dfs);
        }
        return onState(last, committed);
    }

    private World onState(int last, int committed) {
        if (!dfs.hasState(committed, model.partitions())) {
            return world.failed(
                    "batch " + (committed + 1) + " needs a state file that is not there: " + dfs);
        }
        // Also if the last batch is committed: getBatch is called for it on sources of version 1.
        if (last >= 0 && world.discarded() > dfs.end(last - 1)) {
            return world.failed(
                    "the source is asked for batch " + last + ", which it has discarded");
        }
        return world.with(committed == last ? next(last) : again(last));
    }

    private Run next(int last) {
        int start = dfs.end(last);
        int batch = last + 1;
        Phase phase = batch < model.batches() ? Phase.PLAN : Phase.DONE;
        return run(batch, phase, start, start);
    }

    private Run again(int last) {
        return run(last, Phase.TASKS, dfs.end(last - 1), dfs.end(last));
    }

    /** It knows what the source has logged. */
    private Run run(int batch, Phase phase, int start, int end) {
        int sources = dfs.sources().size();
        return new Run(world.run().id() + 1, batch, phase, start, end, 0, 0, sources, dfs.known());
    }
}
