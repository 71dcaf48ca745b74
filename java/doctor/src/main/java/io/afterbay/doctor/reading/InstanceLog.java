package io.afterbay.doctor.reading;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What all logs of one instance say: of a database, or of a part of it. */
public final class InstanceLog {
    private final InstanceName name;
    private final Map<String, ColumnFamilyLog> columnFamilies = new LinkedHashMap<>();
    private final Map<String, String> options = new TreeMap<>();
    private final Intervals stalls = new Intervals();
    private final boolean isColumnFamily;
    private @Nullable String version;

    public InstanceLog(InstanceName name) {
        this(name, false);
    }

    private InstanceLog(InstanceName name, boolean isColumnFamily) {
        this.name = name;
        this.isColumnFamily = isColumnFamily;
    }

    /**
     * Each column family that did something as an instance of its own, in the stage that is the
     * database. What there is of the database as a whole is with the first of them.
     */
    public List<InstanceLog> byColumnFamily() {
        List<InstanceLog> result =
                columnFamilies.values().stream()
                        .filter(ColumnFamilyLog::hasEvents)
                        .map(this::of)
                        .toList();
        if (!result.isEmpty()) {
            result.get(0).stalls.addAll(stalls);
        }
        return result;
    }

    private InstanceLog of(ColumnFamilyLog family) {
        InstanceName own = name.ofColumnFamily(family.name());
        InstanceLog result = new InstanceLog(own, true);
        result.version = version;
        result.options.putAll(options);
        result.columnFamilies.put(family.name(), new ColumnFamilyLog(own, family));
        return result;
    }

    /** Whether it is one of {@link #byColumnFamily}, and no database. */
    public boolean isColumnFamily() {
        return isColumnFamily;
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
