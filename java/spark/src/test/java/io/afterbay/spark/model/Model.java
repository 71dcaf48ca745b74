package io.afterbay.spark.model;

import io.afterbay.spark.model.Protocol.Gate;
import io.afterbay.spark.model.Protocol.OffsetsReturn;
import io.afterbay.spark.model.Run.Phase;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A query that runs, dies and runs again: driver, tasks, publisher, storage, source and sink. One
 * step is one action of one of them, in any order that the {@link Protocol} allows.
 *
 * <p>Written from the order of {@code MicroBatchExecution} (Spark 4.2.0), not from our code: it
 * judges the protocol.
 *
 * @param slicesMax the source offers each batch from one to this many offsets, as it likes
 */
record Model(Protocol protocol, int batches, int partitions, int crashes, int slicesMax) {

    World first() {
        return World.first(crashes);
    }

    /** An action, of what it is one, and the world after it. */
    record Step(String action, Object subject, World world) {}

    /** What may happen next. */
    List<Step> steps(World world) {
        List<Step> result = new ArrayList<>();
        if (world.failure().isEmpty()) {
            drive(world, result);
            publish(world, result);
            for (int p = 0; protocol.hasExecutors() && p < partitions; p++) {
                executor(world, p, result);
            }
            findLost(world, result);
            arriveLate(world, result);
            crash(world, result);
        }
        return result;
    }

    /** Whether anything may happen that is neither a crash nor an accident of a dead run. */
    boolean goesOn(World world) {
        List<Step> result = new ArrayList<>();
        World calm = world.with(0);
        drive(calm, result);
        publish(calm, result);
        for (int p = 0; protocol.hasExecutors() && p < partitions; p++) {
            executor(calm, p, result);
        }
        findLost(calm, result);
        return !result.isEmpty();
    }

    private static void put(List<Step> steps, String action, Object subject, World world) {
        steps.add(new Step(action, subject, world));
    }

    private void drive(World world, List<Step> steps) {
        Run run = world.run();
        switch (run.phase()) {
            case PLAN -> plan(world, steps);
            case ADD_OFFSETS -> offsetsAdded(world, steps);
            case TASKS -> runTasks(world, steps);
            case SINK ->
                    put(
                            steps,
                            "sink commits batch ",
                            run.batch(),
                            world.sunk().with(run.at(Phase.COMMIT)));
            case COMMIT -> {
                Entry commit = new Entry.Commit(run.batch(), run.id(), run.attempts());
                put(
                        steps,
                        "driver adds ",
                        commit,
                        world.enqueued(commit).with(run.nextBatch(batches)));
            }
            case DONE -> {}
        }
    }

    private void plan(World world, List<Step> steps) {
        for (int length = 1; length <= slicesMax; length++) {
            Run run = world.run().planned(world.run().start() + length);
            Entry offsets = new Entry.Offsets(run.batch(), run.end());
            put(steps, "driver adds ", offsets, world.enqueued(offsets).with(run));
        }
    }

    private void offsetsAdded(World world, List<Step> steps) {
        Run run = world.run();
        if (mayReturn(world)) {
            World next = protocol.discardsInput() ? world.discarding(run.start()) : world;
            put(
                    steps,
                    "driver goes on, and commits the batch before to the source, with batch ",
                    run.batch(),
                    next.with(run.at(Phase.TASKS)));
        }
    }

    private boolean mayReturn(World world) {
        boolean isFirst = world.run().batch() == 0 && protocol.awaitsFirst();
        OffsetsReturn when = isFirst ? OffsetsReturn.PUBLISHED : protocol.offsetsReturn();
        return when == OffsetsReturn.AT_ONCE
                || (when == OffsetsReturn.PUBLISHED
                        ? offsetsPublished(world)
                        : world.queue().stream().noneMatch(e -> e instanceof Entry.Commit));
    }

    private static boolean offsetsPublished(World world) {
        return world.queue().stream().noneMatch(e -> e instanceof Entry.Offsets);
    }

    /** Tasks write their state at once; they end when the offsets are published. */
    private void runTasks(World world, List<Step> steps) {
        Run run = world.run();
        if (run.tasksDone() == (1 << partitions) - 1) {
            if (!protocol.holdsSink() || offsetsPublished(world)) {
                put(steps, "tasks end of batch ", run.batch(), world.with(run.at(Phase.SINK)));
            }
            return;
        }
        for (int p = 0; p < partitions; p++) {
            if (!run.isDone(p) && canRead(world, p)) {
                Entry.State state =
                        new Entry.State(run.batch(), p, run.id(), Run.attempt(run.attempts(), p));
                World written =
                        protocol.hasExecutors()
                                ? world.with(world.executors().written(state))
                                : world.enqueued(state);
                put(steps, "task writes ", state, written.with(run.withTaskDone(p)));
            }
        }
    }

    /** The state after the batch before: on the executor that wrote it, or published. */
    private boolean canRead(World world, int partition) {
        int before = world.run().batch() - 1;
        if (!protocol.hasExecutors() || before < 0) {
            return true;
        }
        Entry.State state = world.commit(before).state(partition);
        return world.dfs().states().contains(state) || world.executors().waiting().contains(state);
    }

    private void executor(World world, int partition, List<Step> steps) {
        Executors executors = world.executors();
        for (Entry.State state : executors.waiting(partition)) {
            World next = world.with(executors.published(state));
            put(steps, "executor publishes ", state, stored(next, state));
        }
        boolean saysWaiting = protocol.gate() == Gate.TAKEN;
        if (executors.hasNews(partition, saysWaiting)) {
            World next = world.with(executors.reported(partition, saysWaiting));
            put(steps, "executor reports, with partition ", partition, next);
        }
        if (world.crashesLeft() > 0) {
            die(world, partition, steps);
        }
    }

    /** Its task may have been done before; Spark runs it again if its output is lost, too. */
    private void die(World world, int partition, List<Step> steps) {
        Executors executors = world.executors();
        World next = world.withoutExecutor(executors.died(partition), executors.waiting(partition));
        put(steps, "executor dies, with partition ", partition, next);
        Run run = world.run();
        if (run.phase() == Phase.TASKS && run.isDone(partition)) {
            put(
                    steps,
                    "executor dies, and its task runs again, with partition ",
                    partition,
                    next.with(run.withTaskAgain(partition)));
        }
    }

    /** A commit at the front of the queue that can never be published. */
    private void findLost(World world, List<Step> steps) {
        if (protocol.findsLost()
                && !world.queue().isEmpty()
                && world.queue().get(0) instanceof Entry.Commit commit) {
            for (int p = 0; protocol.hasExecutors() && p < partitions; p++) {
                Entry.State state = commit.state(p);
                if (!world.executors().known().contains(state) && !world.executors().hold(state)) {
                    put(steps, "query fails, since nobody has ", state, restarted(world, 0));
                }
            }
        }
    }

    private void publish(World world, List<Step> steps) {
        for (Entry entry : publishable(world)) {
            if (world.dfs().accepts(entry)) {
                put(steps, "publisher publishes ", entry, stored(world.dequeued(entry), entry));
            } else {
                put(
                        steps,
                        "query fails, since the publisher finds another ",
                        entry,
                        restarted(world, 0));
            }
        }
    }

    /** The storage creates log files only if there are none: a late one changes nothing then. */
    private void arriveLate(World world, List<Step> steps) {
        for (Entry entry : world.late()) {
            World next = world.withoutLate(entry);
            put(
                    steps,
                    "late arrives ",
                    entry,
                    world.dfs().accepts(entry) ? stored(next, entry) : next);
        }
    }

    private World stored(World world, Entry entry) {
        return world.with(world.dfs().with(entry, protocol.hasUniqueNames()));
    }

    private void crash(World world, List<Step> steps) {
        if (world.crashesLeft() > 0) {
            put(steps, "crash and restart", "", restarted(world, 1));
        }
    }

    private World restarted(World world, int crashesSpent) {
        Set<Entry> onTheirWay = new HashSet<>(publishable(world));
        onTheirWay.addAll(world.executors().waiting());
        World dead = world.dead(onTheirWay, world.crashesLeft() - crashesSpent);
        return new VanillaRestart(dead, this).restart();
    }

    private List<Entry> publishable(World world) {
        List<Entry> result = new ArrayList<>();
        for (int i = 0; i < world.queue().size(); i++) {
            Entry entry = world.queue().get(i);
            if (protocol.mayPublish(entry, world.queue().subList(0, i))
                    && isGateOpen(entry, world)) {
                result.add(entry);
            }
        }
        return result;
    }

    /** What the driver has heard of its executors; in one process, the queue's order says it. */
    private boolean isGateOpen(Entry entry, World world) {
        if (!protocol.hasExecutors()
                || protocol.gate() == Gate.NONE
                || !(entry instanceof Entry.Commit commit)) {
            return true;
        }
        for (int p = 0; p < partitions; p++) {
            if (!world.executors().known().contains(commit.state(p))) {
                return false;
            }
        }
        return true;
    }
}
