package io.afterbay.edge.kafka;

import io.afterbay.edge.lines.TopicOptions;
import java.util.Set;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;

/** Makes tables of a partition of a topic, with the options of {@link TopicOptions}. */
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
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        DecodingFormat<DeserializationSchema<RowData>> format =
                helper.discoverDecodingFormat(
                        DeserializationFormatFactory.class, FactoryUtil.FORMAT);
        helper.validate();
        ReadableConfig options = helper.getOptions();
        return new TopicTable(
                new TopicTable.Records(
                        options.get(TopicOptions.BOOTSTRAP),
                        options.get(TopicOptions.TOPIC),
                        options.get(TopicOptions.PARTITION),
                        options.get(TopicOptions.RECORDS)),
                format,
                context.getPhysicalRowDataType());
    }
}
