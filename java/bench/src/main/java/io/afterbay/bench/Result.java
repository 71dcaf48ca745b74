package io.afterbay.bench;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One line of {@code bench/results/*.jsonl}: a run, and all that is needed to judge and to repeat
 * it. In JSON the two are one object. Lines are only ever appended.
 */
public record Result(Circumstances circumstances, Run run) {

    /**
     * @param experiment name of the file, without {@code .jsonl}
     * @param query what ran: a NEXMark query, or the file name of an SQL script
     * @param events in one closed loop
     * @param outputsEqual whether the finished runs of the comparison gave the same rows
     * @param revision of the source, {@code -dirty} behind it if that was not all
     * @param versions of afterbay, flink, java
     * @param command that ran it, to be typed again
     * @param date when the comparison began, ISO 8601 in UTC: the same for all of its runs
     * @param loadBefore load average of the machine over one minute, before the comparison
     * @param loadAfter the same after it
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Circumstances(
            String experiment,
            Cell cell,
            String query,
            long events,
            @Nullable Boolean outputsEqual,
            String revision,
            Map<String, String> versions,
            String command,
            String date,
            @Nullable Double loadBefore,
            @Nullable Double loadAfter) {}

    private static final ObjectReader READER =
            ComparisonJson.MAPPER
                    .reader()
                    .without(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    /** Appends to the experiment's file in a directory, which is made if need be. */
    public static void append(Path directory, List<Result> results) throws IOException {
        Files.createDirectories(directory);
        for (Result result : results) {
            Path file = file(directory, result.circumstances.experiment);
            Files.writeString(
                    file,
                    result.line() + "\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        }
    }

    /** All results of a directory, file by file; none if there is no such directory. */
    public static List<Result> readAll(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, "*.jsonl")) {
            found.forEach(files::add);
        }
        Collections.sort(files);
        List<Result> results = new ArrayList<>();
        for (Path file : files) {
            results.addAll(read(file));
        }
        return results;
    }

    /** All results of an experiment, in their order; none before its first. */
    public static List<Result> read(Path directory, String experiment) throws IOException {
        Path file = file(directory, experiment);
        return Files.exists(file) ? read(file) : List.of();
    }

    private static Path file(Path directory, String experiment) {
        return directory.resolve(experiment + ".jsonl");
    }

    /** All results of a file, in its order. */
    static List<Result> read(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        List<Result> results = new ArrayList<>();
        for (int number = 1; number <= lines.size(); number++) {
            results.add(parse(file, number, lines.get(number - 1)));
        }
        return results;
    }

    private static Result parse(Path file, int number, String line) throws IOException {
        try {
            return new Result(
                    READER.forType(Circumstances.class).readValue(line),
                    READER.forType(Run.class).readValue(line));
        } catch (IOException e) {
            throw new IOException(
                    "%s, line %d is no result (see bench/README.md): %s"
                            .formatted(file, number, e.getMessage()),
                    e);
        }
    }

    private String line() {
        ObjectNode line = ComparisonJson.MAPPER.valueToTree(circumstances);
        line.setAll(ComparisonJson.MAPPER.<ObjectNode>valueToTree(run));
        return ComparisonJson.line(line);
    }
}
