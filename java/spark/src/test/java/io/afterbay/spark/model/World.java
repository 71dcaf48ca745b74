package io.afterbay.spark.model;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * All that there is at a moment.
 *
 * @param sink what readers see: of each batch id its first write, and no other
 * @param discarded the source has forgotten its input before this offset
 * @param outbox what the run wrote
 * @param executors what those have, and what the driver knows of it
 * @param late what may still arrive, or never: of dead processes, or of writes that were silent
 * @param accidents that may still happen
 * @param failure what a restart could not do; empty for none
 */
record World(
        Dfs dfs,
        Map<Integer, Slice> sink,
        int discarded,
        Run run,
        Outbox outbox,
        Executors executors,
        Set<Effect> late,
        Accidents accidents,
        String failure) {

    /** Input from a start to before an end. */
    record Slice(int start, int end) {}

    static World first(Accidents accidents) {
        Run run = new Run(0, 0, Run.Phase.PLAN, 0, 0, 0, 0, 0, 0);
        return new World(
                Dfs.empty(),
                Map.of(),
                0,
                run,
                Outbox.empty(),
                Executors.none(),
                Set.of(),
                accidents,
                "");
    }

    /** As the run knows it: published, or written. */
    Entry.Commit commit(int batch) {
        Entry.Commit published = dfs.commits().get(batch);
        if (published != null) {
            return published;
        }
        return outbox.entries().stream()
                .filter(Entry.Commit.class::isInstance)
                .map(Entry.Commit.class::cast)
                .filter(c -> c.batch() == batch)
                .findFirst()
                .orElseThrow();
    }

    World with(Run next) {
        return new World(dfs, sink, discarded, next, outbox, executors, late, accidents, failure);
    }

    World with(Dfs next) {
        return new World(next, sink, discarded, run, outbox, executors, late, accidents, failure);
    }

    World with(Outbox next) {
        return new World(dfs, sink, discarded, run, next, executors, late, accidents, failure);
    }

    World enqueued(Entry entry) {
        return with(outbox.with(entry));
    }

    World dequeued(Entry entry) {
        return with(outbox.without(entry));
    }

    private World withLate(Set<Effect> next) {
        return new World(dfs, sink, discarded, run, outbox, executors, next, accidents, failure);
    }

    World withLate(Effect effect) {
        return withLate(plus(Set.of(effect)));
    }

    World withoutLate(Effect effect) {
        Set<Effect> next = new HashSet<>(late);
        next.remove(effect);
        return withLate(next);
    }

    private Set<Effect> plus(Set<Effect> more) {
        Set<Effect> next = new HashSet<>(late);
        next.addAll(more);
        return next;
    }

    World discarding(int before) {
        return new World(
                dfs,
                sink,
                Math.max(discarded, before),
                run,
                outbox,
                executors,
                late,
                accidents,
                failure);
    }

    /** The sink is idempotent by batch id: a second write of a batch changes nothing. */
    World sunk() {
        Map<Integer, Slice> next = new TreeMap<>(sink);
        next.putIfAbsent(run.batch(), new Slice(run.start(), run.end()));
        return new World(dfs, next, discarded, run, outbox, executors, late, accidents, failure);
    }

    World with(Accidents next) {
        return new World(dfs, sink, discarded, run, outbox, executors, late, next, failure);
    }

    /** The storage says nothing of one write. */
    World silent() {
        return with(accidents.afterSilence());
    }

    World with(Executors next) {
        return new World(dfs, sink, discarded, run, outbox, next, late, accidents, failure);
    }

    /** An executor has died, and the others go on. */
    World withoutExecutor(Executors left, Set<Effect> onTheirWay) {
        return with(left).withLate(plus(onTheirWay)).with(accidents.afterCrashes(1));
    }

    /** The run is dead, with its outbox; what was on its way may still arrive. */
    World dead(Set<Effect> onTheirWay, int crashesSpent) {
        return with(Outbox.empty())
                .with(Executors.none())
                .withLate(plus(onTheirWay))
                .with(accidents.afterCrashes(crashesSpent));
    }

    World failed(String reason) {
        return new World(dfs, sink, discarded, run, outbox, executors, late, accidents, reason);
    }
}
