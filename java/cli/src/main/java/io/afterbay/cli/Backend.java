package io.afterbay.cli;

import static java.util.stream.Collectors.joining;

import java.util.Arrays;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The state backends that a run can choose from. */
enum Backend {
    AFTERBAY("afterbay", "io.afterbay.flink.AfterbayStateBackendFactory", true),
    ROCKSDB("rocksdb", "rocksdb", true),
    ROCKSDB_HEAP_TIMERS("rocksdb-heap-timers", "rocksdb", true),
    HASHMAP("hashmap", "hashmap", false);

    private final String label;
    private final String type;
    private final boolean offHeap;

    Backend(String label, String type, boolean offHeap) {
        this.label = label;
        this.type = type;
        this.offHeap = offHeap;
    }

    /** Whether state lives in Flink's managed memory rather than on the heap. */
    boolean isOffHeap() {
        return offHeap;
    }

    /** Whether its memory comes from direct buffers, which the JVM limits. */
    boolean usesDirectMemory() {
        return this == AFTERBAY;
    }

    void configure(Configuration settings) {
        settings.set(StateBackendOptions.STATE_BACKEND, type);
        settings.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, offHeap);
        if (type.equals("rocksdb")) {
            settings.setString(
                    "state.backend.rocksdb.timer-service.factory",
                    this == ROCKSDB ? "ROCKSDB" : "HEAP");
        }
    }

    @Override
    public String toString() {
        return label;
    }

    /** For picocli. */
    static final class Converter implements ITypeConverter<Backend> {
        @Override
        public Backend convert(String text) {
            for (Backend backend : values()) {
                if (backend.label.equals(text)) {
                    return backend;
                }
            }
            String names = Arrays.stream(values()).map(Backend::toString).collect(joining(", "));
            throw new TypeConversionException("'" + text + "' is none; use one of " + names);
        }
    }
}
