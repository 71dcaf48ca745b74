package io.afterbay.edge.kafka;

import io.afterbay.edge.lines.FormattedTable;
import io.afterbay.edge.lines.TopicOptions;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.kafka.common.TopicPartition;

/**
 * Makes tables of a partition of a topic, with the options of {@link TopicOptions}, read by Flink's
 * own source for Kafka. Flink's table for Kafka (5.0) takes no projections, which plans have that
 * were made with the connector {@code filesystem}; {@link FormattedTable} does, as the format does.
 */
public final class TopicTableFactory implements DynamicTableSourceFactory {
    @Override
    public String factoryIdentifier() {
        return TopicOptions.CONNECTOR;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(
                TopicOptions.BOOTSTRAP,
                TopicOptions.TOPIC,
                TopicOptions.PARTITION,
                TopicOptions.RECORDS,
                FactoryUtil.FORMAT);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        return FormattedTable.of(
                this,
                context,
                options ->
                        new Records(
                                options.get(TopicOptions.BOOTSTRAP),
                                options.get(TopicOptions.TOPIC),
                                options.get(TopicOptions.PARTITION),
                                options.get(TopicOptions.RECORDS)));
    }

    /**
     * The first records of a partition.
     *
     * @param bootstrap HOST:PORT of a broker
     * @param count so many; the table ends behind them
     */
    private record Records(String bootstrap, String topic, int partition, long count)
            implements FormattedTable.Place {
        @Override
        public Source<RowData, ?, ?> source(DeserializationSchema<RowData> decoder) {
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

        @Override
        public String summary() {
            return "partition %d of topic %s".formatted(partition, topic);
        }
    }
}
