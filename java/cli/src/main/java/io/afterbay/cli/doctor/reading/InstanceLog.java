package io.afterbay.cli.doctor.reading;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What all logs of one instance say. */
public final class InstanceLog {
    private final InstanceName name;
    private final Map<String, ColumnFamilyLog> columnFamilies = new LinkedHashMap<>();
    private final Map<String, String> options = new TreeMap<>();
    private final Intervals stalls = new Intervals();
    private @Nullable String version;

    public InstanceLog(InstanceName name) {
        this.name = name;
    }

    public InstanceName name() {
        return name;
    }

    /** As in {@code 8.10.0}; null if the head of the log is missing. */
    public @Nullable String version() {
        return version;
    }

    void setVersion(String version) {
        this.version = version;
    }

    /** Options of the database and of its first column family, as RocksDB prints them. */
    public Map<String, String> options() {
        return options;
    }

    /** The moments at which RocksDB began to slow or stop writers. */
    public Intervals stalls() {
        return stalls;
    }

    public Collection<ColumnFamilyLog> columnFamilies() {
        return columnFamilies.values();
    }

    public ColumnFamilyLog columnFamily(String family) {
        return columnFamilies.computeIfAbsent(family, key -> new ColumnFamilyLog(name, family));
    }

    /** Flushes of all column families. */
    public Intervals flushes() {
        Intervals result = new Intervals();
        columnFamilies.values().forEach(family -> result.addAll(family.flushes()));
        return result;
    }

    /** Compactions of all column families. */
    public Intervals compactions() {
        Intervals result = new Intervals();
        columnFamilies.values().forEach(family -> result.addAll(family.compactions()));
        return result;
    }
}
