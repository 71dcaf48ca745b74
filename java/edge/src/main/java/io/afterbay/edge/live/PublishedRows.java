package io.afterbay.edge.live;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rows that sites have published, beside those that the gateway has of them: each of these has to
 * be there, and no other one. A row may be published twice.
 */
final class PublishedRows {
    private static final ObjectMapper JSON =
            new ObjectMapper()
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    /** What the gateway adds to a row of a site. */
    private static final List<String> OF_THE_GATEWAY =
            List.of("edge_site", "edge_row", "edge_watermark");

    private final Map<String, Integer> atGateway = new HashMap<>();

    /**
     * @param files of the gateway, one for each partition; those that are not there have no rows
     */
    static PublishedRows beside(Collection<Path> files) throws IOException {
        PublishedRows rows = new PublishedRows();
        for (Path file : files) {
            if (Files.exists(file)) {
                rows.read(file);
            }
        }
        return rows;
    }

    private void read(Path file) throws IOException {
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                ObjectNode row = (ObjectNode) JSON.readTree(line);
                if (row.path("edge_row").asBoolean()) {
                    atGateway.merge(row.remove(OF_THE_GATEWAY).toString(), 1, Integer::sum);
                }
            }
        }
    }

    /**
     * Compares.
     *
     * @param messages how often each has come
     * @param known what is known of rows that are missing; may be empty
     */
    LiveOutcome.Published compare(String topic, Map<String, Integer> messages, String known) {
        Map<String, Integer> published = rows(messages);
        long again = 0;
        for (Map.Entry<String, Integer> row : published.entrySet()) {
            int wanted = atGateway.getOrDefault(row.getKey(), 0);
            again += wanted == 0 ? 0 : Math.max(0, row.getValue() - wanted);
        }
        String difference = difference(topic, published);
        return new LiveOutcome.Published(
                topic,
                published.values().stream().mapToLong(Integer::longValue).sum() - again,
                again,
                difference == null || known.isEmpty() ? difference : difference + "; " + known);
    }

    /** Whether each row of the gateway has come as often as it should. */
    boolean areAllIn(Map<String, Integer> messages) {
        return lacking(atGateway, rows(messages), "") == null;
    }

    private static Map<String, Integer> rows(Map<String, Integer> messages) {
        Map<String, Integer> rows = new HashMap<>();
        messages.forEach((text, times) -> rows.merge(row(text), times, Integer::sum));
        return rows;
    }

    private static String row(String message) {
        try {
            return JSON.readTree(message).toString();
        } catch (JsonProcessingException e) {
            return message;
        }
    }

    private @Nullable String difference(String topic, Map<String, Integer> published) {
        String missing = lacking(atGateway, published, "at the gateway, and not on " + topic);
        String strange = strangers(published, "on " + topic + ", and not at the gateway");
        return missing == null ? strange : strange == null ? missing : missing + "; " + strange;
    }

    /** Rows that have come less often than they should; null if there are none. */
    private static @Nullable String lacking(
            Map<String, Integer> wanted, Map<String, Integer> there, String where) {
        long count = 0;
        String first = null;
        for (Map.Entry<String, Integer> row : wanted.entrySet()) {
            int missing = row.getValue() - there.getOrDefault(row.getKey(), 0);
            if (missing > 0) {
                count += missing;
                first = first == null ? row.getKey() : first;
            }
        }
        return first == null ? null : "%,d are %s, such as %s".formatted(count, where, first);
    }

    private @Nullable String strangers(Map<String, Integer> published, String where) {
        Map<String, Integer> strange = new HashMap<>(published);
        strange.keySet().removeAll(atGateway.keySet());
        return lacking(strange, Map.of(), where);
    }
}
