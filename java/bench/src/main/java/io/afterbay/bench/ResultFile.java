package io.afterbay.bench;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * A file of {@code bench/results}: lines of one JSON object each, which are only ever appended. The
 * fields of an object come from several records, whose names do not overlap.
 */
public record ResultFile(Path path) {
    private static final ObjectReader READER =
            ComparisonJson.MAPPER
                    .reader()
                    .without(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    /** Makes a result of its line. */
    interface Parser<T> {
        T parse(Line line) throws IOException;
    }

    /** One line, of which each record takes its fields. */
    public record Line(String text) {
        <T> T as(Class<T> type) throws IOException {
            return READER.forType(type).readValue(text);
        }
    }

    /** What a record takes of the fields of an object; those that are missing are null. */
    public static <T> T part(JsonNode all, Class<T> type) throws IOException {
        return READER.forType(type).readValue(all);
    }

    /** The file of an experiment. */
    static ResultFile of(Path directory, String experiment) {
        return new ResultFile(directory.resolve(experiment + ".jsonl"));
    }

    /** Makes the file if need be. */
    public void append(Object... records) throws IOException {
        Files.writeString(
                path,
                ComparisonJson.line(merged(records)) + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /** One object with the fields of all. */
    static ObjectNode merged(Object... records) {
        ObjectNode all = ComparisonJson.MAPPER.createObjectNode();
        for (Object one : records) {
            all.setAll(ComparisonJson.MAPPER.<ObjectNode>valueToTree(one));
        }
        return all;
    }

    /** All lines in their order; none if there is no such file. */
    <T> List<T> read(Parser<T> parser) throws IOException {
        List<T> results = new ArrayList<>();
        if (Files.exists(path)) {
            for (String line : Files.readAllLines(path)) {
                results.add(parse(parser, results.size() + 1, line));
            }
        }
        return results;
    }

    private <T> T parse(Parser<T> parser, int number, String line) throws IOException {
        try {
            return parser.parse(new Line(line));
        } catch (IOException e) {
            throw new IOException(
                    "%s, line %d is no result (see bench/README.md): %s"
                            .formatted(path, number, e.getMessage()),
                    e);
        }
    }
}
