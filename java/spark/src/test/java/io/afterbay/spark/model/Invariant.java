package io.afterbay.spark.model;

import io.afterbay.spark.model.World.Slice;

/** What has to hold at every moment; each says what is wrong, or nothing. */
enum Invariant {
    /** I1 of docs/spark-commit.md. */
    COMMITS_HAVE_THEIR_STATE {
        @Override
        String violation(World world, Model model) {
            for (int batch : world.dfs().commits().keySet()) {
                if (!world.dfs().hasState(batch, model.partitions())) {
                    return "commits/" + batch + " is published, and a state file of it is not";
                }
            }
            return "";
        }
    },
    /** I2: offsets/0, commits/0, offsets/1, ... without gaps. */
    LOG_IS_VANILLA {
        @Override
        String violation(World world, Model model) {
            Dfs dfs = world.dfs();
            int offsets = dfs.ends().size();
            int commits = dfs.commits().size();
            boolean hasGap =
                    Dfs.last(dfs.ends()) != offsets - 1 || Dfs.last(dfs.commits()) != commits - 1;
            boolean inTurns = commits == offsets || commits == offsets - 1;
            return hasGap || !inTurns ? "Spark never leaves this log: " + dfs : "";
        }
    },
    /** I3. */
    RESTART_FINDS_ITS_STATE {
        @Override
        String violation(World world, Model model) {
            return world.failure();
        }
    },
    /** I4: of a committed batch, the sink has what its offsets say. */
    SINK_IS_EXACT {
        @Override
        String violation(World world, Model model) {
            for (int batch : world.dfs().commits().keySet()) {
                Slice is = world.sink().get(batch);
                Slice should = new Slice(world.dfs().end(batch - 1), world.dfs().end(batch));
                if (!should.equals(is)) {
                    return "batch "
                            + batch
                            + " is "
                            + should
                            + " in the log, and "
                            + is
                            + " in the sink";
                }
            }
            return "";
        }
    },
    /** I5: the source forgets a batch only when the offsets of the next are published. */
    SOURCE_KEEPS_WHAT_IS_NEEDED {
        @Override
        String violation(World world, Model model) {
            int last = Dfs.last(world.dfs().ends());
            return world.discarded() > world.dfs().end(last - 1)
                    ? "the source has discarded batch " + last + ", the last in the log"
                    : "";
        }
    },
    /** I7: of the batches that the sink has, all but the last are published. */
    BACKLOG_IS_BOUNDED {
        @Override
        String violation(World world, Model model) {
            long done =
                    world.outbox().entries().stream()
                            .filter(Entry.Commit.class::isInstance)
                            .count();
            return done > 1 ? done + " batches are done, and not published" : "";
        }
    },
    /** I8: what a batch is to read is known to its source. */
    SOURCE_KNOWS_ITS_INPUT {
        @Override
        String violation(World world, Model model) {
            Dfs dfs = world.dfs();
            int last = Dfs.last(dfs.ends());
            return model.protocol().has(Protocol.Rule.LOGS_SOURCE) && dfs.known() < dfs.end(last)
                    ? "offsets/" + last + " is published, and what it reads is not in sources/0"
                    : "";
        }
    },
    /** I6: without a crash, there is always a next step until all is done. */
    NOBODY_WAITS_FOR_EVER {
        @Override
        String violation(World world, Model model) {
            boolean isDone =
                    world.run().phase() == Run.Phase.DONE && world.outbox().entries().isEmpty();
            return isDone || !world.failure().isEmpty() || model.goesOn(world)
                    ? ""
                    : "nothing can happen any more: "
                            + world.dfs()
                            + ", waiting "
                            + world.outbox().entries();
        }
    },
    /** I9: a query fails only when a process has died. */
    FAILS_FOR_A_REASON {
        @Override
        String violation(World world, Model model) {
            boolean isFirst = world.run().id() == 0;
            return !isFirst && world.accidents().crashes() == model.crashes()
                    ? "the query has failed, and no process has died"
                    : "";
        }
    };

    /** Empty if it holds. */
    abstract String violation(World world, Model model);
}
