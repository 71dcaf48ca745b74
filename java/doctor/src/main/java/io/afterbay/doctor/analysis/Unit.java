package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.ColumnFamilyLog;
import io.afterbay.doctor.reading.Engine;
import io.afterbay.doctor.reading.InstanceLog;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** What is compared, as it counts its flushes and compacts by itself. */
public enum Unit {
    /** A database: one of the instances of a stage. */
    INSTANCE("instance", "instances", "stage"),

    /**
     * A part of a database: programs such as TiKV, MyRocks and Ceph have one database with many, or
     * two.
     */
    COLUMN_FAMILY("column family", "column families", "database");

    private final String one;
    private final String many;
    private final String group;

    Unit(String one, String many, String group) {
        this.one = one;
        this.many = many;
        this.group = group;
    }

    public String one() {
        return one;
    }

    public String many() {
        return many;
    }

    /** What several of them belong to. */
    public String group() {
        return group;
    }

    /** As in {@code 1 instance} or {@code 6 column families}. */
    public String count(long number) {
        return String.format(Locale.ROOT, "%,d %s", number, number == 1 ? one : many);
    }

    /** What those are. */
    static Unit of(List<InstanceLog> instances) {
        return instances.stream().anyMatch(InstanceLog::isColumnFamily) ? COLUMN_FAMILY : INSTANCE;
    }

    /**
     * Databases of Flink and Kafka Streams stay what they are. Of another program, there may be too
     * few to compare; then, if any has several column families, those are compared.
     */
    static List<InstanceLog> split(List<InstanceLog> databases) {
        List<InstanceLog> others = databases.stream().filter(Unit::isOfOther).toList();
        if (others.size() >= Verdict.MIN_INSTANCES
                || others.stream().noneMatch(Unit::hasFamilies)) {
            return databases;
        }
        return databases.stream()
                .flatMap(one -> isOfOther(one) ? families(one) : Stream.of(one))
                .toList();
    }

    private static boolean isOfOther(InstanceLog database) {
        return database.name().engine() == Engine.ROCKSDB;
    }

    private static boolean hasFamilies(InstanceLog database) {
        return database.columnFamilies().stream().filter(ColumnFamilyLog::hasEvents).count() > 1;
    }

    /** One without events has stalls, which are kept. */
    private static Stream<InstanceLog> families(InstanceLog database) {
        List<InstanceLog> families = database.byColumnFamily();
        return families.isEmpty() ? Stream.of(database) : families.stream();
    }
}
