package io.afterbay.spark.model;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What is published.
 *
 * @param ends of each batch in the offset log
 * @param commits of each batch in the commit log, which says whose state it names
 * @param states files there
 * @param sources ends of the input in the log of the source
 * @param hidden files that no restart looks at, by their names
 */
record Dfs(
        Map<Integer, Integer> ends,
        Map<Integer, Entry.Commit> commits,
        Set<Entry.State> states,
        Map<Integer, Integer> sources,
        Map<String, Entry> hidden) {

    static Dfs empty() {
        return new Dfs(Map.of(), Map.of(), Set.of(), Map.of(), Map.of());
    }

    /** Up to where the source's log knows the input; -1 if it has a gap. */
    int known() {
        int last = last(sources);
        return last == sources.size() - 1 ? sources.getOrDefault(last, 0) : -1;
    }

    /** The last batch in a log, -1 for none. */
    static int last(Map<Integer, ?> log) {
        return log.keySet().stream().mapToInt(Integer::intValue).max().orElse(-1);
    }

    int end(int batch) {
        return batch < 0 ? 0 : ends.getOrDefault(batch, -1);
    }

    /** Whether all is there that a commit names; nothing is needed before the first batch. */
    boolean hasState(int batch, int partitions) {
        Entry.Commit commit = commits.get(batch);
        for (int p = 0; batch >= 0 && p < partitions; p++) {
            if (commit == null || !states.contains(commit.state(p))) {
                return false;
            }
        }
        return true;
    }

    /** Log files are created only if they are not there; {@code false} if another one is. */
    boolean accepts(Entry entry) {
        if (entry instanceof Entry.Offsets o) {
            return ends.getOrDefault(o.batch(), o.end()) == o.end();
        }
        if (entry instanceof Entry.Source s) {
            return sources.getOrDefault(s.number(), s.end()) == s.end();
        }
        return !(entry instanceof Entry.Commit c) || commits.getOrDefault(c.batch(), c).equals(c);
    }

    /** Whether exactly this file is there. */
    boolean has(Entry entry) {
        if (entry instanceof Entry.Offsets o) {
            return ends.getOrDefault(o.batch(), -1) == o.end();
        }
        if (entry instanceof Entry.Source s) {
            return sources.getOrDefault(s.number(), -1) == s.end();
        }
        return entry instanceof Entry.Commit c
                ? c.equals(commits.get(c.batch()))
                : states.contains(entry);
    }

    Dfs hiding(String name, Entry content) {
        Map<String, Entry> next = new HashMap<>(hidden);
        next.put(name, content);
        return with(next);
    }

    Dfs with(Map<String, Entry> hiddenNow) {
        return new Dfs(ends, commits, states, sources, hiddenNow);
    }

    /** With an entry, which replaces another of that name: see {@link #accepts}. */
    Dfs with(Entry entry, boolean hasUniqueNames) {
        if (entry instanceof Entry.Offsets o) {
            return new Dfs(put(ends, o.batch(), o.end()), commits, states, sources, hidden);
        }
        if (entry instanceof Entry.Commit c) {
            return new Dfs(ends, put(commits, c.batch(), c), states, sources, hidden);
        }
        if (entry instanceof Entry.Source s) {
            return new Dfs(ends, commits, states, put(sources, s.number(), s.end()), hidden);
        }
        return new Dfs(ends, commits, put((Entry.State) entry, hasUniqueNames), sources, hidden);
    }

    private Set<Entry.State> put(Entry.State file, boolean hasUniqueNames) {
        Set<Entry.State> result = new HashSet<>(states);
        if (!hasUniqueNames) {
            result.removeIf(f -> f.batch() == file.batch() && f.partition() == file.partition());
        }
        result.add(file);
        return result;
    }

    private static <T> SortedMap<Integer, T> put(Map<Integer, T> log, int key, T value) {
        SortedMap<Integer, T> result = new TreeMap<>(log);
        result.put(key, value);
        return result;
    }

    @Override
    public String toString() {
        return "offsets "
                + new TreeSet<>(ends.keySet())
                + ", commits "
                + new TreeSet<>(commits.keySet());
    }
}
