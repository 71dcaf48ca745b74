package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.Engine;
import java.util.List;
import java.util.Locale;

/**
 * How the cures are set in an engine, as lines to copy.
 *
 * @param spread triggers of so many files, and of up to three more
 * @param delay compactions held for so many milliseconds after a burst begins
 * @param threads so many compactions at once in the process
 * @param flushes as many flushes at once as processors
 */
record EngineSettings(Cure spread, Cure delay, Cure threads, Cure flushes) {
    private static final String FLINK_PLACE =
            "Flink's conf/config.yaml, with the Afterbay jar in lib/";
    private static final String FLINK_FACTORY =
            "state.backend.rocksdb.options-factory: io.afterbay.flink.DesyncRocksDBOptionsFactory";

    private static final EngineSettings FLINK =
            new EngineSettings(
                    new Cure(
                            FLINK_PLACE,
                            FLINK_FACTORY,
                            "state.backend.rocksdb.desync.trigger-spread: true"),
                    new Cure(
                            FLINK_PLACE,
                            FLINK_FACTORY,
                            "state.backend.rocksdb.desync.gate: true",
                            "state.backend.rocksdb.desync.gate.deadline: %1$d ms"),
                    new Cure(
                            FLINK_PLACE,
                            FLINK_FACTORY,
                            "state.backend.rocksdb.desync.compaction-threads: %1$d"),
                    new Cure(
                            FLINK_PLACE,
                            FLINK_FACTORY,
                            "state.backend.rocksdb.desync.flush-threads: auto"));

    private static final String KAFKA_PLACE =
            "the properties of the application, with the Afterbay jar on its class path";
    private static final String KAFKA_SETTER =
            "rocksdb.config.setter=io.afterbay.kafka.DesyncRocksDBConfigSetter";

    private static final EngineSettings KAFKA_STREAMS =
            new EngineSettings(
                    new Cure(KAFKA_PLACE, KAFKA_SETTER, "afterbay.desync.trigger.spread=true"),
                    new Cure(
                            KAFKA_PLACE,
                            KAFKA_SETTER,
                            "afterbay.desync.gate=true",
                            "afterbay.desync.gate.deadline.ms=%1$d"),
                    new Cure(KAFKA_PLACE, KAFKA_SETTER, "afterbay.desync.compaction.threads=%1$d"),
                    new Cure(KAFKA_PLACE, KAFKA_SETTER, "afterbay.desync.flush.threads=auto"));

    private static final EngineSettings ROCKSDB =
            new EngineSettings(
                    new Cure(
                            "the options of each column family of the i-th instance",
                            "level0_file_num_compaction_trigger = %1$d + i %% 4"),
                    new Cure(
                            "the program, where it flushes its instances",
                            "env->SetBackgroundThreads(0, Env::Priority::LOW);  // before the flushes",
                            "env->SetBackgroundThreads(N, Env::Priority::LOW);  // %1$d ms later, without fail"),
                    new Cure(
                            "the program, after its last instance was opened",
                            "env->SetBackgroundThreads(%1$d, Env::Priority::LOW);",
                            "// in Java: Env.getDefault().setBackgroundThreads(%1$d, Priority.LOW);"),
                    new Cure(
                            "the program, after its last instance was opened",
                            "env->SetBackgroundThreads(processors, Env::Priority::HIGH);"));

    static EngineSettings of(Engine engine) {
        return switch (engine) {
            case FLINK -> FLINK;
            case KAFKA_STREAMS -> KAFKA_STREAMS;
            case ROCKSDB -> ROCKSDB;
        };
    }

    /**
     * Lines and where they belong.
     *
     * @param lines with {@code %1$d} for the value
     */
    record Cure(String place, List<String> lines) {
        Cure(String place, String... lines) {
            this(place, List.of(lines));
        }

        Advice advice(String name, String reason, long value) {
            return new Advice(
                    name,
                    reason,
                    place,
                    lines.stream().map(line -> String.format(Locale.ROOT, line, value)).toList());
        }
    }
}
