package io.afterbay.edge.lines;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsReadingMetadata;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;

/**
 * A place with bytes as a table: one of Flink's formats makes a row of each line or record. Plans
 * that were made with the connector {@code filesystem} read this instead, with what the planner has
 * pushed into that: projections, and reading no metadata.
 */
public final class FormattedTable
        implements ScanTableSource, SupportsProjectionPushDown, SupportsReadingMetadata {
    private final Place place;
    private final DecodingFormat<DeserializationSchema<RowData>> format;
    private DataType rows;

    /** Where the bytes are. */
    public interface Place {
        /** What reads them, and makes rows by a decoder. */
        Source<RowData, ?, ?> source(DeserializationSchema<RowData> decoder);

        /** For messages and plans. */
        String summary();
    }

    private FormattedTable(
            Place place, DecodingFormat<DeserializationSchema<RowData>> format, DataType rows) {
        this.place = place;
        this.format = format;
        this.rows = rows;
    }

    /**
     * Makes a table with the format that its option {@code format} names.
     *
     * @param place by the options of the table
     * @throws ValidationException if an option is missing, or is none of the factory's
     */
    public static FormattedTable of(
            DynamicTableFactory factory,
            DynamicTableFactory.Context context,
            Function<ReadableConfig, Place> place) {
        FactoryUtil.TableFactoryHelper helper =
                FactoryUtil.createTableFactoryHelper(factory, context);
        DecodingFormat<DeserializationSchema<RowData>> format =
                helper.discoverDecodingFormat(
                        DeserializationFormatFactory.class, FactoryUtil.FORMAT);
        helper.validate();
        return new FormattedTable(
                place.apply(helper.getOptions()), format, context.getPhysicalRowDataType());
    }

    @Override
    public ChangelogMode getChangelogMode() {
        return format.getChangelogMode();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
        return SourceProvider.of(place.source(format.createRuntimeDecoder(context, rows)));
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
            throw new ValidationException(place.summary() + " has no metadata such as " + keys);
        }
        rows = produced;
    }

    @Override
    public DynamicTableSource copy() {
        return new FormattedTable(place, format, rows);
    }

    @Override
    public String asSummaryString() {
        return place.summary();
    }
}
