package io.afterbay.spark.model;

import io.afterbay.spark.model.Protocol.Gate;
import io.afterbay.spark.model.Protocol.OffsetsReturn;
import io.afterbay.spark.model.Protocol.Rule;
import io.afterbay.spark.model.Run.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A query that runs, dies and runs again: driver, tasks, publisher, storage, source and sink. One
 * step is one action of one of them, in any order that the {@link Protocol} allows.
 *
 * <p>Written from the order of {@code MicroBatchExecution} (Spark 4.2.0), not from our code: it
 * judges the protocol.
 *
 * @param crashes of the driver or an executor
 * @param slicesMax the source offers each batch from one to this many offsets, as it likes
 * @param silences writes that say nothing for so long that they are begun a second time
 */
record Model(
        Protocol protocol, int batches, int partitions, int crashes, int slicesMax, int silences) {

    /** All writes answer. */
    Model(Protocol protocol, int batches, int partitions, int crashes, int slicesMax) {
        this(protocol, batches, partitions, crashes, slicesMax, 0);
    }

    World first() {
        return World.first(new Accidents(crashes, silences));
    }

    /** An action, of what it is one, and the world after it. */
    record Step(String action, Object subject, World world) {}

    /** What may happen next. */
    List<Step> steps(World world) {
        List<Step> result = new ArrayList<>();
        if (world.failure().isEmpty()) {
            drive(world, result);
            publishing().steps(world, result);
            for (int p = 0; protocol.hasExecutors() && p < partitions; p++) {
                executor(world, p, result);
            }
            findLost(world, result);
            publishing().arriveLate(world, result);
            crash(world, result);
        }
        return result;
    }

    /** Whether anything may happen that is neither a crash nor an accident of a dead run. */
    boolean goesOn(World world) {
        List<Step> result = new ArrayList<>();
        World calm = world.with(Accidents.NONE);
        drive(calm, result);
        publishing().steps(calm, result);
        for (int p = 0; protocol.hasExecutors() && p < partitions; p++) {
            executor(calm, p, result);
        }
        findLost(calm, result);
        return !result.isEmpty();
    }

    private Publishing publishing() {
        return new Publishing(this);
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
        Run run = world.run();
        if (protocol.has(Rule.LOGS_SOURCE) && run.known() > run.start()) {
            planTo(run.known(), world, steps); // of a run before: all that the source knows
            return;
        }
        for (int length = 1; length <= slicesMax; length++) {
            int end = run.start() + length;
            World next = world;
            if (protocol.has(Rule.LOGS_SOURCE)) {
                Entry seen = new Entry.Source(run.sources(), end);
                next = world.enqueued(seen).with(run.withSource(end));
            }
            planTo(end, next, steps);
        }
    }

    private static void planTo(int end, World world, List<Step> steps) {
        Run run = world.run().planned(end);
        Entry offsets = new Entry.Offsets(run.batch(), end);
        put(steps, "driver adds ", offsets, world.enqueued(offsets).with(run));
    }

    private void offsetsAdded(World world, List<Step> steps) {
        Run run = world.run();
        if (mayReturn(world)) {
            World next = protocol.has(Rule.DISCARDS_INPUT) ? world.discarding(run.start()) : world;
            put(
                    steps,
                    "driver goes on, and commits the batch before to the source, with batch ",
                    run.batch(),
                    next.with(run.at(Phase.TASKS)));
        }
    }

    private boolean mayReturn(World world) {
        boolean isFirst = world.run().batch() == 0 && protocol.has(Rule.AWAITS_FIRST);
        OffsetsReturn when = isFirst ? OffsetsReturn.PUBLISHED : protocol.offsetsReturn();
        return when == OffsetsReturn.AT_ONCE
                || (when == OffsetsReturn.PUBLISHED
                        ? offsetsPublished(world)
                        : world.outbox().entries().stream()
                                .noneMatch(e -> e instanceof Entry.Commit));
    }

    private static boolean offsetsPublished(World world) {
        return world.outbox().entries().stream().noneMatch(e -> e instanceof Entry.Offsets);
    }

    /** Tasks write their state at once; they end when the offsets are published. */
    private void runTasks(World world, List<Step> steps) {
        Run run = world.run();
        if (run.tasksDone() == (1 << partitions) - 1) {
            if (!protocol.has(Rule.HOLDS_SINK) || offsetsPublished(world)) {
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
            publishing().ofExecutor(state, world, steps);
        }
        boolean saysWaiting = protocol.gate() == Gate.TAKEN;
        if (executors.hasNews(partition, saysWaiting)) {
            World next = world.with(executors.reported(partition, saysWaiting));
            put(steps, "executor reports, with partition ", partition, next);
        }
        if (world.accidents().crashes() > 0) {
            die(world, partition, steps);
        }
    }

    /** Its task may have been done before; Spark runs it again if its output is lost, too. */
    private void die(World world, int partition, List<Step> steps) {
        Executors executors = world.executors();
        Set<Effect> onTheirWay =
                executors.waiting(partition).stream()
                        .map(Effect.Write::new)
                        .collect(Collectors.toSet());
        World next = world.withoutExecutor(executors.died(partition), onTheirWay);
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
        if (protocol.has(Rule.FINDS_LOST)
                && !world.outbox().entries().isEmpty()
                && world.outbox().entries().get(0) instanceof Entry.Commit commit) {
            for (int p = 0; protocol.hasExecutors() && p < partitions; p++) {
                Entry.State state = commit.state(p);
                if (!world.executors().known().contains(state) && !world.executors().hold(state)) {
                    put(steps, "query fails, since nobody has ", state, restarted(world, 0));
                }
            }
        }
    }

    private void crash(World world, List<Step> steps) {
        if (world.accidents().crashes() > 0) {
            put(steps, "crash and restart", "", restarted(world, 1));
        }
    }

    /** As a vanilla Spark does, after the run has died. */
    World restarted(World world, int crashesSpent) {
        World dead = world.dead(publishing().onTheirWay(world), crashesSpent);
        return new VanillaRestart(publishing().withoutGarbage(dead), this).restart();
    }
}
