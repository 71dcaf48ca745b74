package io.afterbay.edge.lines;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.format.EncodingFormat;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.factories.SerializationFormatFactory;
import org.apache.flink.table.types.DataType;

/** Makes tables whose rows go to a {@link ResultsDirectory}. */
public final class ResultsTableFactory implements DynamicTableSinkFactory {
    private static final String NAME = "edge-results";

    private static final ConfigOption<String> PATH =
            ConfigOptions.key("path")
                    .stringType()
                    .noDefaultValue()
                    .withDescription("Of the directory, on this machine.");

    /** Options of such a table. */
    public static Map<String, String> json(Path directory) {
        return Map.of(
                FactoryUtil.CONNECTOR.key(),
                NAME,
                FactoryUtil.FORMAT.key(),
                "json",
                PATH.key(),
                directory.toAbsolutePath().toString());
    }

    @Override
    public String factoryIdentifier() {
        return NAME;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(PATH, FactoryUtil.FORMAT);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        EncodingFormat<SerializationSchema<RowData>> format =
                helper.discoverEncodingFormat(SerializationFormatFactory.class, FactoryUtil.FORMAT);
        helper.validate();
        return new ResultsTable(
                helper.getOptions().get(PATH), format, context.getPhysicalRowDataType());
    }

    private record ResultsTable(
            String path, EncodingFormat<SerializationSchema<RowData>> format, DataType rows)
            implements DynamicTableSink {
        @Override
        public ChangelogMode getChangelogMode(ChangelogMode requested) {
            return ChangelogMode.insertOnly();
        }

        @Override
        public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
            SerializationSchema<RowData> encoder = format.createRuntimeEncoder(context, rows);
            return SinkV2Provider.of(new ResultsSink(path, encoder));
        }

        @Override
        public DynamicTableSink copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return "results in " + path;
        }
    }
}
