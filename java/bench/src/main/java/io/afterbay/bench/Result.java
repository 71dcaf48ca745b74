package io.afterbay.bench;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

    /** Those whose lines are of this form. */
    private static final List<String> EXPERIMENTS = List.of("nexmark", "sql");

    /** Appends to the experiment's file in a directory, which is made if need be. */
    public static void append(Path directory, List<Result> results) throws IOException {
        Files.createDirectories(directory);
        for (Result result : results) {
            ResultFile.of(directory, result.circumstances.experiment)
                    .append(result.circumstances, result.run);
        }
    }

    /** All results of a directory, file by file; none if there is no such directory. */
    public static List<Result> readAll(Path directory) throws IOException {
        List<Result> results = new ArrayList<>();
        for (String experiment : EXPERIMENTS) {
            results.addAll(read(directory, experiment));
        }
        return results;
    }

    /** All results of an experiment, in their order; none before its first. */
    public static List<Result> read(Path directory, String experiment) throws IOException {
        return read(ResultFile.of(directory, experiment));
    }

    private static List<Result> read(ResultFile file) throws IOException {
        return file.read(line -> new Result(line.as(Circumstances.class), line.as(Run.class)));
    }

    /** All results of a file, in its order. */
    static List<Result> read(Path file) throws IOException {
        return read(new ResultFile(file));
    }
}
