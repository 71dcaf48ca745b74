package io.afterbay.workloads.nexmark.sql;

import io.afterbay.workloads.nexmark.EventSource;
import io.afterbay.workloads.nexmark.Generator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

/**
 * Makes tables of the generated stream. A table holds the events of one kind; tables with the same
 * other options are parts of one stream. Columns are found by name, in any order; not all have to
 * be there. With {@code WATERMARK FOR event_time AS SOURCE_WATERMARK()} the watermarks are those of
 * the source.
 */
public final class NexmarkTableFactory implements DynamicTableSourceFactory {
    static final ConfigOption<Kind> KIND =
            ConfigOptions.key("kind")
                    .enumType(Kind.class)
                    .noDefaultValue()
                    .withDescription("The events of the table: bid, auction or person.");

    static final ConfigOption<Long> EVENTS =
            ConfigOptions.key("events")
                    .longType()
                    .defaultValue(2_000_000L)
                    .withDescription("Events of the stream, of all kinds.");

    static final ConfigOption<Long> SEED =
            ConfigOptions.key("seed").longType().defaultValue(1L).withDescription("Of the stream.");

    static final ConfigOption<Duration> INTER_EVENT =
            ConfigOptions.key("inter-event")
                    .durationType()
                    .defaultValue(Duration.ofNanos(100_000))
                    .withDescription("Event time between two events; whole microseconds.");

    static final ConfigOption<Long> ACTIVE_KEYS =
            ConfigOptions.key("active-keys")
                    .longType()
                    .defaultValue(10_000L)
                    .withDescription("Persons, and auctions, that are active at a time.");

    static final ConfigOption<Double> RATE =
            ConfigOptions.key("rate")
                    .doubleType()
                    .defaultValue(0.0)
                    .withDescription("Events per second by a schedule; 0: as fast as possible.");

    /** A setting of the session, with which a longer run needs no other script. */
    static final ConfigOption<Long> EVENTS_OF_ALL_TABLES =
            ConfigOptions.key("nexmark.events")
                    .longType()
                    .noDefaultValue()
                    .withDescription("Events of every stream, over the tables' own 'events'.");

    @Override
    public String factoryIdentifier() {
        return "nexmark";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(KIND);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(EVENTS, SEED, INTER_EVENT, ACTIVE_KEYS, RATE);
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        helper.validate();
        ReadableConfig options = helper.getOptions();
        Kind kind = options.get(KIND);
        DataType rows = context.getPhysicalRowDataType();
        String table = context.getObjectIdentifier().asSummaryString();
        long events =
                context.getConfiguration()
                        .getOptional(EVENTS_OF_ALL_TABLES)
                        .orElse(options.get(EVENTS));
        return new NexmarkTable(
                kind,
                source(options, events, table),
                generator(options),
                rows,
                fields(kind, rows, table));
    }

    private static Generator generator(ReadableConfig options) {
        long micros = TimeUnit.NANOSECONDS.toMicros(options.get(INTER_EVENT).toNanos());
        return new Generator(
                options.get(SEED),
                atLeastOne(INTER_EVENT, micros),
                atLeastOne(ACTIVE_KEYS, options.get(ACTIVE_KEYS)));
    }

    private static EventSource source(ReadableConfig options, long events, String table) {
        double rate = options.get(RATE);
        if (!(rate >= 0) || Double.isInfinite(rate)) {
            throw new ValidationException("'rate' = '" + rate + "': use 0 or a positive number");
        }
        atLeastOne(EVENTS, events);
        Generator generator = generator(options);
        if (events > generator.eventsMax()) {
            throw new ValidationException(
                    "'events' = '%d': with this 'inter-event' use at most %d"
                            .formatted(events, generator.eventsMax()));
        }
        return new EventSource(generator, events, rate, "sql:" + table);
    }

    private static long atLeastOne(ConfigOption<?> option, long value) {
        if (value < 1) {
            throw new ValidationException(
                    "'%s': %d is too little; use 1 (microsecond) or more"
                            .formatted(option.key(), value));
        }
        return value;
    }

    private static List<Field> fields(Kind kind, DataType rows, String table) {
        List<Field> fields = new ArrayList<>();
        for (RowType.RowField column : ((RowType) rows.getLogicalType()).getFields()) {
            fields.add(field(kind, column.getName(), column.getType(), table));
        }
        return fields;
    }

    private static Field field(Kind kind, String name, LogicalType type, String table) {
        List<Field> known =
                Stream.concat(kind.fields().stream(), Stream.of(Field.EVENT_TIME)).toList();
        return known.stream()
                .filter(field -> field.column().equals(name) && field.accepts(type.getTypeRoot()))
                .findFirst()
                .orElseThrow(
                        () ->
                                new ValidationException(
                                        "table %s: a %s has no column %s %s; its columns are: %s"
                                                .formatted(table, kind, name, type, list(known))));
    }

    private static String list(List<Field> fields) {
        return fields.stream().map(Field::toString).collect(Collectors.joining(", "));
    }
}
