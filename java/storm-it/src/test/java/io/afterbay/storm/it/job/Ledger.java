package io.afterbay.storm.it.job;

import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A directory by which a test and the workers of a topology know of each other, whoever of them is
 * killed. Words are numbers from 0 on.
 *
 * <pre>
 *   limit        words below this number are due; only the test writes it, and never a smaller one
 *   emitted      each word that the spout emitted, 10 bytes each
 *   acked        each word of which the spout heard that it is done, 10 bytes each
 *   sunk-TASK    each word that came to this task of the last bolt, 10 bytes each
 *   poison       while it is there, the next word of the first bolt is poison, and takes it away
 *   poisoned     the thread that met it
 * </pre>
 */
public final class Ledger implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String SUNK = "sunk-";

    private final String directory;

    public Ledger(Path directory) {
        this.directory = directory.toString();
    }

    private Path file(String name) {
        return Path.of(directory, name);
    }

    public int limit() throws IOException {
        Path file = file("limit");
        return Files.exists(file) ? Integer.parseInt(Files.readString(file)) : 0;
    }

    /** From now on words below this number are due. */
    public void setLimit(int words) throws IOException {
        replace("limit", Integer.toString(words));
    }

    /** Whoever reads it sees all of it, or what was there before. */
    private void replace(String name, String content) throws IOException {
        Path next = Files.writeString(file(name + ".next"), content);
        Files.move(next, file(name), StandardCopyOption.ATOMIC_MOVE);
    }

    NumberLog emittedLog() throws IOException {
        return NumberLog.appendTo(file("emitted"));
    }

    NumberLog ackedLog() throws IOException {
        return NumberLog.appendTo(file("acked"));
    }

    NumberLog sunkLog(int task) throws IOException {
        return NumberLog.appendTo(file(SUNK + task));
    }

    /** How many acks the spout got; some words may have more than one. */
    public int acks() throws IOException {
        return NumberLog.count(file("acked"));
    }

    /** How many times the spout emitted a word that it had emitted before. */
    public int repeats() throws IOException {
        BitSet words = new BitSet();
        NumberLog.read(file("emitted"), words::set);
        return NumberLog.count(file("emitted")) - words.cardinality();
    }

    public BitSet acked() throws IOException {
        BitSet words = new BitSet();
        NumberLog.read(file("acked"), words::set);
        return words;
    }

    /** What came to any task of the last bolt. */
    public BitSet sunk() throws IOException {
        BitSet words = new BitSet();
        try (Stream<Path> files = Files.list(Path.of(directory))) {
            for (Path file : files.toList()) {
                if (file.getFileName().toString().startsWith(SUNK)) {
                    NumberLog.read(file, words::set);
                }
            }
        }
        return words;
    }

    /**
     * Empty, or what is wrong once all words are done: each must be acked and have come to the last
     * bolt, and no other may; and none may be acked more often than the spout has emitted it.
     */
    public String problem() throws IOException {
        BitSet due = new BitSet();
        due.set(0, limit());
        return difference("acked", due, acked())
                + difference("in the sink", due, sunk())
                + ackedTooOften();
    }

    private String ackedTooOften() throws IOException {
        Map<Integer, Integer> acks = new TreeMap<>();
        NumberLog.read(file("acked"), word -> acks.merge(word, 1, Integer::sum));
        NumberLog.read(file("emitted"), word -> acks.merge(word, -1, Integer::sum));
        acks.values().removeIf(more -> more <= 0);
        return acks.isEmpty() ? "" : "acked more often than emitted: %s%n".formatted(acks.keySet());
    }

    private static String difference(String where, BitSet due, BitSet found) {
        BitSet missing = (BitSet) due.clone();
        missing.andNot(found);
        BitSet unknown = (BitSet) found.clone();
        unknown.andNot(due);
        return (missing.isEmpty() ? "" : "not %s: %s%n".formatted(where, missing))
                + (unknown.isEmpty() ? "" : "%s, and never due: %s%n".formatted(where, unknown));
    }

    /** The next word of the first bolt ends its worker. */
    public void poison() throws IOException {
        Files.deleteIfExists(file("poisoned"));
        Files.createFile(file("poison"));
    }

    /** For the first bolt: fails once for each call of {@link #poison}. */
    void meetPoison() throws IOException {
        if (Files.exists(file("poison")) && Files.deleteIfExists(file("poison"))) {
            replace("poisoned", Thread.currentThread().getName());
            throw new IllegalStateException("poison");
        }
    }

    /** The thread that met it; empty if none did yet. */
    public String poisoned() throws IOException {
        try {
            return Files.readString(file("poisoned"), StandardCharsets.UTF_8);
        } catch (NoSuchFileException e) {
            return "";
        }
    }
}
