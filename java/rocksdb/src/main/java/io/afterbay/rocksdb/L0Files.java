package io.afterbay.rocksdb;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The files in L0 of one database, by column family, followed through flushes and compactions: a
 * listener gets no handles of column families, and so cannot ask for {@code
 * rocksdb.num-files-at-level0}; asking for all live files takes longer the more there are. So they
 * are asked for at first, and again before the guard believes that there are too many, since not
 * every change has an event (ingested files, dropped column families).
 *
 * <p>Names are those without folders, which differ between events. Not safe for use by several
 * threads.
 */
final class L0Files {
    private final Map<String, Set<String>> filesByFamily = new HashMap<>();
    private boolean isKnown;

    /** A file in L0, as RocksDB lists it. */
    record File(String family, String path) {}

    /**
     * After a flush: whether the column family has that many files or more.
     *
     * @param live lists all files in L0
     */
    boolean flushed(String family, String path, int limit, Supplier<List<File>> live) {
        if (!isKnown) {
            replace(live.get());
        }
        add(family, path);
        if (count(family) < limit) {
            return false;
        }
        replace(live.get());
        return count(family) >= limit;
    }

    /**
     * After a compaction.
     *
     * @param outputs the new files in L0, if that is where they are
     */
    void compacted(String family, Collection<String> inputs, Collection<String> outputs) {
        Set<String> files = files(family);
        inputs.forEach(path -> files.remove(name(path)));
        outputs.forEach(path -> files.add(name(path)));
    }

    int count(String family) {
        return files(family).size();
    }

    private void replace(List<File> live) {
        isKnown = true;
        filesByFamily.clear();
        live.forEach(file -> add(file.family, file.path));
    }

    private void add(String family, String path) {
        files(family).add(name(path));
    }

    private Set<String> files(String family) {
        return filesByFamily.computeIfAbsent(family, name -> new HashSet<>());
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
