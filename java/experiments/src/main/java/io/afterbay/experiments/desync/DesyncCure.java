package io.afterbay.experiments.desync;

import io.afterbay.cli.engine.Backend;
import io.afterbay.experiments.Labelled;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.ConfigOption;
import org.jspecify.annotations.Nullable;

/**
 * What is set on RocksDB so that its instances do not flush and compact together: nothing, what
 * RocksDB itself has to offer, or ours (ShadowSync, section 4).
 */
enum DesyncCure implements Labelled {
    DEFAULT("default", Map.of()),
    ONE_THREAD("one-thread", DesyncSwitches.of("compaction-threads", "1")),
    LOW_PRIORITY("low-priority", baseline(RocksDBBaseline.LOW_PRIORITY, true)),
    RATE_LIMIT("rate-limit", baseline(RocksDBBaseline.RATE_LIMIT, "32mb")),
    SPREAD("spread", DesyncSwitches.of("trigger-spread", "true")),
    GATE("gate", DesyncSwitches.of("gate", "true")),
    KNEE("knee", DesyncSwitches.of("compaction-threads", "auto")),
    FLUSHES("flushes", DesyncSwitches.of("flush-threads", "auto")),
    ALL(
            "all",
            DesyncSwitches.of(
                    "trigger-spread",
                    "true",
                    "gate",
                    "true",
                    "compaction-threads",
                    "auto",
                    "flush-threads",
                    "auto")),

    /** With the numbers that sweeps on two processors have found best. */
    TUNED("tuned", tuned()),

    /** As RocksDB comes, in a process in which nothing is synced to the disk. */
    NO_SYNC("no-sync", Map.of()),
    TUNED_NO_SYNC("tuned-no-sync", tuned()),

    /** Another state backend, which flushes nothing at a checkpoint. */
    AFTERBAY("afterbay", Map.of());

    private final String label;
    private final Map<String, String> onFlink;
    private final @Nullable DesyncSwitches switches;

    DesyncCure(String label, Map<String, String> onFlink) {
        this.label = label;
        this.onFlink = onFlink;
        this.switches = null;
    }

    DesyncCure(String label, DesyncSwitches switches) {
        this.label = label;
        this.onFlink = switches.onFlink();
        this.switches = switches;
    }

    private static DesyncSwitches tuned() {
        return DesyncSwitches.of(
                "trigger-spread",
                "true",
                "gate",
                "true",
                "gate.delay",
                DesyncSwitches.millis(300),
                "flush-threads",
                "4");
    }

    /** RocksDB's own. */
    private static Map<String, String> baseline(ConfigOption<?> option, Object value) {
        return Map.of(
                "state.backend.rocksdb.options-factory",
                RocksDBBaseline.class.getName(),
                option.key(),
                value.toString());
    }

    @Override
    public String label() {
        return label;
    }

    /** Options of Flink. */
    Map<String, String> settings() {
        return onFlink;
    }

    /** Ours; empty if it has none. */
    Optional<DesyncSwitches> switches() {
        return Optional.ofNullable(switches);
    }

    /** Whether it needs {@link UnsyncedFiles}. */
    boolean isUnsynced() {
        return this == NO_SYNC || this == TUNED_NO_SYNC;
    }

    /** Where the state is. */
    Backend backend() {
        return this == AFTERBAY ? Backend.AFTERBAY : Backend.ROCKSDB_HEAP_TIMERS;
    }

    /** Whether it changes when instances compact. */
    boolean spreads() {
        return this == SPREAD || this == ALL || this == TUNED || this == TUNED_NO_SYNC;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static DesyncCure named(String label) {
        return Labelled.named(DesyncCure.class, label);
    }

    public static final class Converter extends Labelled.Converter<DesyncCure> {
        public Converter() {
            super(DesyncCure.class);
        }
    }
}
