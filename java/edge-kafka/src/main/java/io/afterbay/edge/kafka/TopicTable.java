package io.afterbay.edge.kafka;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsReadingMetadata;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.kafka.common.TopicPartition;

/**
 * A partition of a topic as a table, read by Flink's own source for Kafka. Flink's table for Kafka
 * (5.0) takes no projections, which plans have that were made with the connector {@code
 * filesystem}; this one does, as the format does.
 */
final class TopicTable
        implements ScanTableSource, SupportsProjectionPushDown, SupportsReadingMetadata {
    private final Records records;
    private final DecodingFormat<DeserializationSchema<RowData>> format;
    private DataType rows;

    /**
     * The first records of a partition.
     *
     * @param bootstrap HOST:PORT of a broker
     * @param count so many; the table ends behind them
     */
    record Records(String bootstrap, String topic, int partition, long count) {
        KafkaSource<RowData> source(DeserializationSchema<RowData> decoder) {
            TopicPartition place = new TopicPartition(topic, partition);
            return KafkaSource.<RowData>builder()
                    .setBootstrapServers(bootstrap)
                    .setPartitions(Set.of(place))
                    .setStartingOffsets(OffsetsInitializer.earliest())
                    .setBounded(OffsetsInitializer.offsets(Map.of(place, count)))
                    .setClientIdPrefix("%s-%d".formatted(topic, partition))
                    .setValueOnlyDeserializer(decoder)
                    .build();
        }
    }

    TopicTable(
            Records records, DecodingFormat<DeserializationSchema<RowData>> format, DataType rows) {
        this.records = records;
        this.format = format;
        this.rows = rows;
    }

    @Override
    public ChangelogMode getChangelogMode() {
        return format.getChangelogMode();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
        return SourceProvider.of(records.source(format.createRuntimeDecoder(context, rows)));
    }

    @Override
    public boolean supportsNestedProjection() {
        return false;
    }

    @Override
    public void applyProjection(int[][] fields, DataType projected) {
        rows = projected;
    }

    @Override
    public Map<String, DataType> listReadableMetadata() {
        return Map.of();
    }

    @Override
    public void applyReadableMetadata(List<String> keys, DataType produced) {
        if (!keys.isEmpty()) {
            throw new ValidationException("records have no metadata here, such as " + keys);
        }
        rows = produced;
    }

    @Override
    public DynamicTableSource copy() {
        return new TopicTable(records, format, rows);
    }

    @Override
    public String asSummaryString() {
        return "partition %d of topic %s".formatted(records.partition, records.topic);
    }
}
