package io.afterbay.spark.model;

import java.util.EnumSet;
import java.util.Set;

/**
 * What waits for what. The controls switch one wait off each.
 *
 * @param offsetsReturn when the offset log lets the driver go on
 * @param gate what {@code commits/N} waits for of the state files that it names
 */
record Protocol(OffsetsReturn offsetsReturn, Gate gate, Set<Rule> rules) {

    /** What {@code commits/N} waits for. */
    enum Gate {
        /** State files are published; with executors: and they have said so. */
        PUBLISHED,
        /** Executors have said that they have them, published or not. */
        TAKEN,
        NONE
    }

    enum OffsetsReturn {
        /** {@code offsets/N} itself is published: strict mode. */
        PUBLISHED,
        /** {@code commits/N-1} is published: what the design asked for first. */
        AFTER_LAST_COMMIT,
        /** It lies on the local disk: pipelined mode. */
        AT_ONCE
    }

    /** What holds, or where the query runs. */
    enum Rule {
        /** {@code offsets/N+1} waits for {@code commits/N}. */
        ORDERS_LOG,
        /** {@code offsets/0} is waited for, as in strict mode. */
        AWAITS_FIRST,
        /** A task ends its state commit of batch N only if {@code offsets/N} is published. */
        HOLDS_SINK,
        /** State files of two attempts have different names, as in checkpoint format v2. */
        HAS_UNIQUE_NAMES,
        /** The source forgets what is committed to it. */
        DISCARDS_INPUT,
        /** State files are published by processes of their own. */
        HAS_EXECUTORS,
        /** The query fails if a commit waits for a file that no process has. */
        FINDS_LOST,
        /** The source logs its input before the offsets name it, as one of files does. */
        LOGS_SOURCE,
        /** What it logs has its place in the order of the log. */
        ORDERS_SOURCE,
        /** A log file is never replaced: a second one of its name is refused. */
        CREATES_ONLY,
        /** Whoever finds its log file there asks whether it is what itself has written. */
        KNOWS_ITS_OWN,
        /** Log files are written before their turn, and renamed when they have it. */
        STAGES,
        /** What is staged is nothing to a restart. */
        HIDES_STAGED,
        /** Files that two runs stage have different names. */
        HAS_UNIQUE_HIDDEN_NAMES
    }

    /** For every source: the driver goes on when its offsets are published. */
    static Protocol strict() {
        return new Protocol(
                OffsetsReturn.PUBLISHED,
                Gate.PUBLISHED,
                EnumSet.of(
                        Rule.ORDERS_LOG,
                        Rule.AWAITS_FIRST,
                        Rule.HAS_UNIQUE_NAMES,
                        Rule.DISCARDS_INPUT,
                        Rule.FINDS_LOST,
                        Rule.ORDERS_SOURCE,
                        Rule.CREATES_ONLY,
                        Rule.KNOWS_ITS_OWN,
                        Rule.HIDES_STAGED,
                        Rule.HAS_UNIQUE_HIDDEN_NAMES));
    }

    /** For sources that keep their input: publishing of a batch goes on beside the next. */
    static Protocol pipelined() {
        return new Protocol(OffsetsReturn.AT_ONCE, Gate.PUBLISHED, strict().rules)
                .with(Rule.HOLDS_SINK)
                .without(Rule.DISCARDS_INPUT);
    }

    boolean has(Rule rule) {
        return rules.contains(rule);
    }

    Protocol with(Rule rule) {
        Set<Rule> more = EnumSet.copyOf(rules);
        more.add(rule);
        return new Protocol(offsetsReturn, gate, more);
    }

    Protocol without(Rule rule) {
        Set<Rule> less = EnumSet.copyOf(rules);
        less.remove(rule);
        return new Protocol(offsetsReturn, gate, less);
    }

    Protocol withOffsetsReturn(OffsetsReturn value) {
        return new Protocol(value, gate, rules);
    }

    Protocol withGate(Gate value) {
        return new Protocol(offsetsReturn, value, rules);
    }

    Protocol onExecutors() {
        return with(Rule.HAS_EXECUTORS);
    }

    /** A source of files: it keeps them, and what it has seen of them. */
    Protocol onFiles() {
        return with(Rule.LOGS_SOURCE).without(Rule.DISCARDS_INPUT);
    }

    /** The storage renames. */
    Protocol staging() {
        return with(Rule.STAGES);
    }

    boolean hasExecutors() {
        return has(Rule.HAS_EXECUTORS);
    }

    /** Whether an entry may be published while these wait in front of it. */
    boolean mayPublish(Entry entry, Iterable<Entry> earlier) {
        for (Entry other : earlier) {
            if (waitsFor(entry, other)) {
                return false;
            }
        }
        return true;
    }

    private boolean waitsFor(Entry entry, Entry earlier) {
        if (entry instanceof Entry.State) {
            return false; // any order: nobody reads one that no commit names
        }
        if (entry instanceof Entry.Source || earlier instanceof Entry.Source) {
            return has(Rule.ORDERS_SOURCE);
        }
        if (entry instanceof Entry.Commit) {
            return gate == Gate.PUBLISHED || !(earlier instanceof Entry.State);
        }
        return has(Rule.ORDERS_LOG) || earlier instanceof Entry.Offsets;
    }
}
