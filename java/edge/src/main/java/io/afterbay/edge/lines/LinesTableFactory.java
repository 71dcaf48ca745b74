package io.afterbay.edge.lines;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.jspecify.annotations.Nullable;

/** Makes tables of lines in a {@link GrowingFile}, with a row on each. */
public final class LinesTableFactory implements DynamicTableSourceFactory {
    private static final String NAME = "edge-lines";

    private static final ConfigOption<String> PATH =
            ConfigOptions.key("path")
                    .stringType()
                    .noDefaultValue()
                    .withDescription("Of the file, on this machine.");

    private static final ConfigOption<String> COMMITTED =
            ConfigOptions.key("committed")
                    .stringType()
                    .noDefaultValue()
                    .withDescription("Path of the file with the number of bytes that may be read.");

    /** Options of a table of lines of JSON. */
    public static Map<String, String> json(GrowingFile file) {
        Map<String, String> options =
                new HashMap<>(
                        Map.of(
                                FactoryUtil.CONNECTOR.key(),
                                NAME,
                                FactoryUtil.FORMAT.key(),
                                "json",
                                PATH.key(),
                                file.file().toAbsolutePath().toString()));
        Path committed = file.committed();
        if (committed != null) {
            options.put(COMMITTED.key(), committed.toAbsolutePath().toString());
        }
        return options;
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
        return Set.of(COMMITTED);
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        return FormattedTable.of(
                this,
                context,
                options ->
                        new Lines(options.get(PATH), options.getOptional(COMMITTED).orElse(null)));
    }

    private record Lines(String path, @Nullable String committed) implements FormattedTable.Place {
        @Override
        public Source<RowData, ?, ?> source(DeserializationSchema<RowData> decoder) {
            return new LinesSource(path, committed, decoder);
        }

        @Override
        public String summary() {
            return "lines of " + path;
        }
    }
}
