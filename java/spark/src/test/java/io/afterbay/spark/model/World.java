package io.afterbay.spark.model;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * All that there is at a moment.
 *
 * @param sink what readers see: of each batch id its first write, and no other
 * @param discarded the source has forgotten its input before this offset
 * @param queue what the run wrote and is not published, in that order; without what executors of
 *     their own have
 * @param executors what those have, and what the driver knows of it
 * @param late writes of dead runs that may still arrive, or never
 * @param crashesLeft how often the run may still die
 * @param failure what a restart could not do; empty for none
 */
record World(
        Dfs dfs,
        Map<Integer, Slice> sink,
        int discarded,
        Run run,
        List<Entry> queue,
        Executors executors,
        Set<Entry> late,
        int crashesLeft,
        String failure) {

    /** Input from a start to before an end. */
    record Slice(int start, int end) {}

    static World first(int crashes) {
        Run run = new Run(0, 0, Run.Phase.PLAN, 0, 0, 0, 0);
        return new World(
                Dfs.empty(), Map.of(), 0, run, List.of(), Executors.none(), Set.of(), crashes, "");
    }

    /** As the run knows it: published, or written. */
    Entry.Commit commit(int batch) {
        Entry.Commit published = dfs.commits().get(batch);
        if (published != null) {
            return published;
        }
        return queue.stream()
                .filter(Entry.Commit.class::isInstance)
                .map(Entry.Commit.class::cast)
                .filter(c -> c.batch() == batch)
                .findFirst()
                .orElseThrow();
    }

    World with(Run next) {
        return new World(dfs, sink, discarded, next, queue, executors, late, crashesLeft, failure);
    }

    World with(Dfs next) {
        return new World(next, sink, discarded, run, queue, executors, late, crashesLeft, failure);
    }

    World enqueued(Entry entry) {
        List<Entry> next = new ArrayList<>(queue);
        next.add(entry);
        return new World(dfs, sink, discarded, run, next, executors, late, crashesLeft, failure);
    }

    World dequeued(Entry entry) {
        List<Entry> next = new ArrayList<>(queue);
        next.remove(entry);
        return new World(dfs, sink, discarded, run, next, executors, late, crashesLeft, failure);
    }

    World withoutLate(Entry entry) {
        Set<Entry> next = new HashSet<>(late);
        next.remove(entry);
        return new World(dfs, sink, discarded, run, queue, executors, next, crashesLeft, failure);
    }

    World discarding(int before) {
        return new World(
                dfs,
                sink,
                Math.max(discarded, before),
                run,
                queue,
                executors,
                late,
                crashesLeft,
                failure);
    }

    /** The sink is idempotent by batch id: a second write of a batch changes nothing. */
    World sunk() {
        Map<Integer, Slice> next = new TreeMap<>(sink);
        next.putIfAbsent(run.batch(), new Slice(run.start(), run.end()));
        return new World(dfs, next, discarded, run, queue, executors, late, crashesLeft, failure);
    }

    World with(int crashes) {
        return new World(dfs, sink, discarded, run, queue, executors, late, crashes, failure);
    }

    World with(Executors next) {
        return new World(dfs, sink, discarded, run, queue, next, late, crashesLeft, failure);
    }

    /** An executor has died, and the others go on. */
    World withoutExecutor(Executors left, Set<Entry.State> onTheirWay) {
        Set<Entry> arriving = new HashSet<>(late);
        arriving.addAll(onTheirWay);
        return new World(
                dfs, sink, discarded, run, queue, left, arriving, crashesLeft - 1, failure);
    }

    /** The run is dead, with its queue; what was on its way may still arrive. */
    World dead(Set<Entry> onTheirWay, int crashes) {
        Set<Entry> next = new HashSet<>(late);
        next.addAll(onTheirWay);
        return new World(
                dfs, sink, discarded, run, List.of(), Executors.none(), next, crashes, failure);
    }

    World failed(String reason) {
        return new World(dfs, sink, discarded, run, queue, executors, late, crashesLeft, reason);
    }
}
