package io.afterbay.spark;

import io.afterbay.testing.LiveTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** One query of an application, its input and what it leaves. */
final class Subject {
    /** Steps of the input that are there and not in the sink, at most. */
    private static final int BACKLOG = 6;

    final QueryKind kind;
    final Input input;
    final Path directory;
    final TransactionalSink sink;

    /**
     * @param application its directory
     */
    Subject(QueryKind kind, Input input, Path application) throws IOException {
        this.kind = kind;
        this.input = input;
        directory = application.resolve(kind.name());
        sink = new TransactionalSink(Files.createDirectories(directory.resolve("sink")));
    }

    void feed() throws Exception {
        if (input.steps() - kind.steps(sink.rowCount()) < BACKLOG) {
            input.add(1);
        }
    }

    /** Keeps its state from being published, or lets it go: {@link FlakyFileSystem#HOLD}. */
    void holdState(boolean isHeld) throws IOException {
        Path hold = directory.resolve(FlakyFileSystem.HOLD);
        if (isHeld) {
            Files.writeString(hold, "");
        } else {
            Files.deleteIfExists(hold);
        }
    }

    boolean isStateHeld() {
        return Files.exists(directory.resolve(FlakyFileSystem.HOLD));
    }

    /** Whether all rows are out. */
    boolean isDone() throws IOException {
        return sink.rowCount() >= kind.expected(input.steps()).size();
    }

    /** Sorted, from the directory of that application. */
    List<String> rows(Path application) throws IOException {
        Path of = application.resolve(kind.name()).resolve("sink");
        return new TransactionalSink(of).rows().stream().sorted().toList();
    }

    /** The last file of the log, -1 for none. */
    long last(String log) throws IOException {
        Path files = directory.resolve("checkpoint").resolve(log);
        if (!Files.exists(files)) {
            return -1;
        }
        try (Stream<Path> names = Files.list(files)) {
            return names.map(f -> f.getFileName().toString())
                    .filter(n -> n.matches("\\d+"))
                    .mapToLong(Long::parseLong)
                    .max()
                    .orElse(-1);
        }
    }

    /** What is published and what the sink has, in the order in which Spark does it. */
    Moment moment() throws IOException {
        long batch = last("offsets");
        if (batch == last("commits")) {
            return Moment.BEFORE_OFFSETS;
        }
        if (sink.last() < batch) {
            return Moment.TASKS;
        }
        return hasState(batch + 1) ? Moment.PUBLISHING : Moment.STATE_WAITS;
    }

    private boolean hasState(long version) throws IOException {
        return LiveTree.files(directory.resolve("checkpoint/state")).stream()
                .map(f -> f.getFileName().toString())
                .anyMatch(n -> n.startsWith(version + "_") && n.endsWith(".changelog"));
    }

    /** For messages. */
    String state() throws IOException {
        return kind
                + ": offsets "
                + last("offsets")
                + ", sink "
                + sink.last()
                + ", commits "
                + last("commits");
    }
}
