package io.afterbay.flink.incremental;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * In which order files of a restored base come: first those that somebody waits for, the last of
 * them first; then those that the next triggers need, in the order of these; then the others, in
 * the order in which they were added. Before all of them the very chunks that the next triggers
 * need. Thread safe.
 */
final class DownloadOrder {
    /** Rank of a file that nobody has asked for. */
    private static final long LAST = Long.MAX_VALUE;

    /** Ranks of files whose download has not begun; ties in the order of insertion. */
    private final Map<String, Long> ranks = new LinkedHashMap<>();

    private final Deque<Chunk> chunks = new ArrayDeque<>();
    private final Set<Chunk> known = new HashSet<>();
    private long front;
    private long preferred;

    /** A part of a file. */
    record Chunk(String file, long position) {}

    synchronized void add(String file) {
        ranks.put(file, LAST);
    }

    /** Only these files, of those that were added, are to be downloaded. */
    synchronized void retain(Set<String> files) {
        ranks.keySet().retainAll(files);
    }

    /** Somebody waits for a file. */
    synchronized void moveToFront(String file) {
        ranks.computeIfPresent(file, (name, rank) -> --front);
    }

    /** A chunk will be needed, behind those that were named before. */
    synchronized void prefer(String file, long position) {
        Chunk chunk = new Chunk(file, position);
        if (known.add(chunk)) {
            chunks.add(chunk);
        }
        ranks.computeIfPresent(file, (name, rank) -> rank == LAST ? ++preferred : rank);
    }

    /** Takes the next chunk that comes before all files; null if there is none now. */
    synchronized @Nullable Chunk nextChunk() {
        return chunks.poll();
    }

    /** Takes the next file; null if there is none. */
    synchronized @Nullable String next() {
        String next = null;
        long least = 0;
        for (Map.Entry<String, Long> file : ranks.entrySet()) {
            if (next == null || file.getValue() < least) {
                next = file.getKey();
                least = file.getValue();
            }
        }
        if (next != null) {
            ranks.remove(next);
        }
        return next;
    }

    @Override
    public synchronized String toString() {
        return "%d chunks of %d files".formatted(known.size(), preferred);
    }
}
