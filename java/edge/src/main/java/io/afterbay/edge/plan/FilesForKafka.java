package io.afterbay.edge.plan;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.operations.ddl.CreateTableOperation;

/**
 * Puts files in the place of a script's tables of Kafka, whose connector Flink does not bring
 * along: sites' files are played instead. Of the table's options, those of JSON stay.
 *
 * <p>Not thread-safe; one for each script.
 */
final class FilesForKafka {
    private static final String KAFKA = "kafka";
    private static final String UPSERT = "upsert-kafka";
    private static final String CONNECTOR = "connector";
    private static final String JSON = "json";

    /** In front of the options of a topic's values. */
    private static final String VALUE = "value.";

    /** Whose rows only come. */
    private static final Set<String> FORMATS = Set.of(JSON, "csv");

    /** By identifier, why no file can stand for what is read. */
    private final Map<String, String> unplayable = new HashMap<>();

    CreateTableOperation of(CreateTableOperation written) {
        ResolvedCatalogTable table = written.getCatalogTable();
        Map<String, String> options = table.getOptions();
        String connector = options.getOrDefault(CONNECTOR, "");
        if (!connector.equals(KAFKA) && !connector.equals(UPSERT)) {
            return written;
        }
        String identifier = written.getTableIdentifier().asSerializableString();
        String format = options.getOrDefault("format", options.getOrDefault("value.format", ""));
        if (connector.equals(UPSERT)) {
            unplayable.put(identifier, "rows of connector 'upsert-kafka' replace others");
        } else if (!FORMATS.contains(format)) {
            unplayable.put(
                    identifier,
                    "rows of format '%s' may replace others, or are no text".formatted(format));
        }
        Map<String, String> files = new HashMap<>();
        options.forEach(
                (name, value) -> {
                    String ofValue = name.startsWith(VALUE) ? name.substring(VALUE.length()) : name;
                    if (ofValue.startsWith(JSON + ".")) {
                        files.put(ofValue, value);
                    }
                });
        files.put(CONNECTOR, "filesystem");
        files.put("format", JSON);
        files.put("path", written.getTableIdentifier().getObjectName());
        return new CreateTableOperation(
                written.getTableIdentifier(),
                table.copy(files),
                written.isIgnoreIfExists(),
                written.isTemporary());
    }

    /**
     * @param sources tables that a job reads
     * @throws TableException if no file can stand for one of them
     */
    void checkPlayed(List<PlanTable> sources) {
        for (PlanTable source : sources) {
            String reason = unplayable.get(source.identifier());
            if (reason != null) {
                throw new TableException(
                        "table %s: %s, and rows of the sites' files only come"
                                .formatted(source.name(), reason));
            }
        }
    }
}
