package io.afterbay.workloads.nexmark.sql;

import io.afterbay.workloads.nexmark.Event;
import io.afterbay.workloads.nexmark.EventSource;
import io.afterbay.workloads.nexmark.Generator;
import java.util.List;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DataStreamScanProvider;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsSourceWatermark;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.util.Collector;

/** The events of one kind as rows, in one task with the source that generates them. */
final class NexmarkTable implements ScanTableSource, SupportsSourceWatermark {
    private final Kind kind;
    private final EventSource source;
    private final Generator generator;
    private final DataType rows;
    private final List<Field> fields;

    NexmarkTable(
            Kind kind, EventSource source, Generator generator, DataType rows, List<Field> fields) {
        this.kind = kind;
        this.source = source;
        this.generator = generator;
        this.rows = rows;
        this.fields = List.copyOf(fields);
    }

    @Override
    public ChangelogMode getChangelogMode() {
        return ChangelogMode.insertOnly();
    }

    @Override
    public void applySourceWatermark() {
        // The stream has watermarks in any case.
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
        TypeInformation<RowData> type = context.createTypeInformation(rows);
        ToRow toRow = new ToRow(kind, generator, fields.toArray(Field[]::new));
        return new DataStreamScanProvider() {
            @Override
            public DataStream<RowData> produceDataStream(
                    ProviderContext provider, StreamExecutionEnvironment env) {
                var events = source.in(env);
                provider.generateUid("events").ifPresent(events::uid);
                return events.flatMap(toRow, type).name(kind.toString()).setParallelism(1);
            }

            @Override
            public boolean isBounded() {
                return true;
            }
        };
    }

    @Override
    public DynamicTableSource copy() {
        return new NexmarkTable(kind, source, generator, rows, fields);
    }

    @Override
    public String asSummaryString() {
        return "nexmark " + kind;
    }

    private record ToRow(Kind kind, Generator generator, Field[] fields)
            implements FlatMapFunction<Event, RowData> {
        @Override
        public void flatMap(Event event, Collector<RowData> out) {
            if (kind.holds(event)) {
                out.collect(row(event));
            }
        }

        private RowData row(Event event) {
            long millis = generator.timeMillis(event.number());
            GenericRowData row = new GenericRowData(fields.length);
            for (int i = 0; i < fields.length; i++) {
                row.setField(i, fields[i].of(event, millis));
            }
            return row;
        }
    }
}
