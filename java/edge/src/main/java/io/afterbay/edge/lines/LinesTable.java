package io.afterbay.edge.lines;

import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.DeserializationSchema;
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
import org.jspecify.annotations.Nullable;

/**
 * Lines in a file as a table. Plans that were made with the connector {@code filesystem} read this
 * instead, with what the planner has pushed into that: projections, and reading no metadata.
 */
final class LinesTable
        implements ScanTableSource, SupportsProjectionPushDown, SupportsReadingMetadata {
    private final String path;
    private final @Nullable String committed;
    private final DecodingFormat<DeserializationSchema<RowData>> format;
    private DataType rows;

    LinesTable(
            String path,
            @Nullable String committed,
            DecodingFormat<DeserializationSchema<RowData>> format,
            DataType rows) {
        this.path = path;
        this.committed = committed;
        this.format = format;
        this.rows = rows;
    }

    @Override
    public ChangelogMode getChangelogMode() {
        return format.getChangelogMode();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
        DeserializationSchema<RowData> decoder = format.createRuntimeDecoder(context, rows);
        return SourceProvider.of(new LinesSource(path, committed, decoder));
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
            throw new ValidationException("lines have no metadata such as " + keys);
        }
        rows = produced;
    }

    @Override
    public DynamicTableSource copy() {
        return new LinesTable(path, committed, format, rows);
    }

    @Override
    public String asSummaryString() {
        return "lines of " + path;
    }
}
