package io.afterbay.spark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * A file for each batch, which appears as a whole. A batch that comes again has to be the same: a
 * sink that keeps the first and one that replaces it are both right then.
 */
final class TransactionalSink implements VoidFunction2<Dataset<Row>, Long> {
    private static final long serialVersionUID = 1;

    /** What a test looks at after each batch. */
    interface Observer {
        void called(long batch) throws Exception;
    }

    private final String directory;
    private transient Observer observer = batch -> {};

    /** Rows of batches that were counted: what is in a file stays as it is. */
    private transient Map<String, Integer> counted = new HashMap<>();

    TransactionalSink(Path directory) {
        this.directory = directory.toString();
    }

    /** Is called after the tasks of each batch, before its rows are there. */
    void afterEach(Observer next) {
        observer = next;
    }

    @Override
    public void call(Dataset<Row> rows, Long batch) throws Exception {
        String lines =
                String.join(
                        "\n", rows.collectAsList().stream().map(Row::toString).sorted().toList());
        observer.called(batch);
        Path file = Path.of(directory, batch.toString());
        if (Files.exists(file)) {
            String before = Files.readString(file);
            if (!before.equals(lines)) {
                throw new AssertionError("batch " + batch + " was " + before + ", is " + lines);
            }
            return;
        }
        Path temporary = Path.of(directory, "." + batch);
        Files.write(temporary, lines.getBytes(StandardCharsets.UTF_8));
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Rows of all batches, in their order. */
    List<String> rows() throws IOException {
        TreeMap<Long, String> batches = new TreeMap<>();
        try (Stream<Path> files = Files.list(Path.of(directory))) {
            for (Path file :
                    files.filter(f -> !f.getFileName().toString().startsWith(".")).toList()) {
                batches.put(Long.valueOf(file.getFileName().toString()), Files.readString(file));
            }
        }
        List<String> result = new ArrayList<>();
        batches.values().forEach(text -> text.lines().forEach(result::add));
        return result;
    }

    /** Of all batches. */
    int rowCount() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(directory))) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                if (!name.startsWith(".") && !counted.containsKey(name)) {
                    counted.put(name, (int) Files.readString(file).lines().count());
                }
            }
        }
        return counted.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Of the last batch, -1 for none. */
    long last() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(directory))) {
            return files.map(f -> f.getFileName().toString())
                    .filter(n -> !n.startsWith("."))
                    .mapToLong(Long::parseLong)
                    .max()
                    .orElse(-1);
        }
    }
}
