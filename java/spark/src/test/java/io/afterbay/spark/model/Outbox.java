package io.afterbay.spark.model;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a run has handed to its publisher.
 *
 * @param entries not known to be published, in that order; without what executors of their own have
 * @param staged of these, what is written under a hidden name
 */
record Outbox(List<Entry> entries, Set<Entry> staged) {

    static Outbox empty() {
        return new Outbox(List.of(), Set.of());
    }

    Outbox with(Entry entry) {
        List<Entry> next = new ArrayList<>(entries);
        next.add(entry);
        return new Outbox(next, staged);
    }

    Outbox without(Entry entry) {
        List<Entry> next = new ArrayList<>(entries);
        next.remove(entry);
        return new Outbox(next, unstaged(entry).staged);
    }

    Outbox staged(Entry entry) {
        Set<Entry> next = new HashSet<>(staged);
        next.add(entry);
        return new Outbox(entries, next);
    }

    /** It has to be written again. */
    Outbox unstaged(Entry entry) {
        Set<Entry> next = new HashSet<>(staged);
        next.remove(entry);
        return new Outbox(entries, next);
    }
}
