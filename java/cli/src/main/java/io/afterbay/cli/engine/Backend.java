package io.afterbay.cli.engine;

import static java.util.stream.Collectors.joining;

import java.util.List;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.StateBackendFactory;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A state backend that a run can choose: one of ours or Flink's, or a factory on the class path.
 *
 * @param name how users choose it
 * @param label how reports call it
 * @param type what {@code state.backend.type} says
 * @param isOffHeap whether state lives in Flink's managed memory rather than on the heap
 * @param usesDirectMemory whether its memory may come from direct buffers, which the JVM limits
 */
public record Backend(
        String name, String label, String type, boolean isOffHeap, boolean usesDirectMemory) {
    public static final Backend AFTERBAY =
            known("afterbay", "io.afterbay.flink.AfterbayStateBackendFactory", true, true);
    public static final Backend ROCKSDB = known("rocksdb", "rocksdb", true, false);
    public static final Backend ROCKSDB_HEAP_TIMERS =
            known("rocksdb-heap-timers", "rocksdb", true, false);
    public static final Backend HASHMAP = known("hashmap", "hashmap", false, false);

    /** Those with a short name. */
    public static final List<Backend> KNOWN =
            List.of(AFTERBAY, ROCKSDB, ROCKSDB_HEAP_TIMERS, HASHMAP);

    private static Backend known(
            String name, String type, boolean offHeap, boolean usesDirectMemory) {
        return new Backend(name, name, type, offHeap, usesDirectMemory);
    }

    /** A backend of its own; where it keeps state is not known, so it gets all kinds of memory. */
    private static Backend ofFactory(Class<?> factory) {
        return new Backend(
                factory.getName(), factory.getSimpleName(), factory.getName(), true, true);
    }

    /**
     * The backend of that name.
     *
     * @throws IllegalArgumentException saying which names there are
     */
    public static Backend named(String name) {
        return KNOWN.stream()
                .filter(backend -> backend.name.equals(name))
                .findFirst()
                .orElseGet(() -> ofFactory(factory(name)));
    }

    private static Class<?> factory(String name) {
        try {
            Class<?> type = Class.forName(name, false, Backend.class.getClassLoader());
            if (StateBackendFactory.class.isAssignableFrom(type)) {
                return type;
            }
        } catch (ClassNotFoundException e) {
            // It is no backend either way.
        }
        throw new IllegalArgumentException(
                "'%s' is none; use one of %s, or the class name of a StateBackendFactory"
                        .formatted(
                                name,
                                KNOWN.stream().map(Backend::toString).collect(joining(", "))));
    }

    public void configure(Configuration settings) {
        settings.set(StateBackendOptions.STATE_BACKEND, type);
        settings.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, isOffHeap);
        if (type.equals("rocksdb")) {
            settings.setString(
                    "state.backend.rocksdb.timer-service.factory",
                    equals(ROCKSDB) ? "ROCKSDB" : "HEAP");
        }
    }

    @Override
    public String toString() {
        return label;
    }

    /** For picocli. */
    public static final class Converter implements ITypeConverter<Backend> {
        @Override
        public Backend convert(String text) {
            try {
                return named(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
