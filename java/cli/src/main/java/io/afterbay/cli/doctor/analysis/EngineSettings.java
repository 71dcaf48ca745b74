package io.afterbay.cli.doctor.analysis;

import io.afterbay.cli.doctor.reading.Engine;
import java.util.ArrayList;
import java.util.List;

/**
 * How the cures are set in an engine, as lines to copy.
 *
 * @param place where lines belong
 * @param switchOn the lines that each cure needs first
 * @param prefix of the keys of the cures
 * @param separator between a key and its value
 */
record EngineSettings(String place, List<String> switchOn, String prefix, String separator) {
    private static final EngineSettings FLINK =
            new EngineSettings(
                    "Flink's conf/config.yaml, with the Afterbay jar in lib/",
                    List.of(
                            "state.backend.rocksdb.options-factory:"
                                    + " io.afterbay.flink.DesyncRocksDBOptionsFactory"),
                    "state.backend.rocksdb.desync.",
                    ": ");

    private static final EngineSettings KAFKA_STREAMS =
            new EngineSettings(
                    "the properties of the application, with the Afterbay jar on its class path",
                    List.of(
                            "rocksdb.config.setter="
                                    + "io.afterbay.kafka.DesyncRocksDBConfigSetter"),
                    "afterbay.desync.",
                    "=");

    private static final EngineSettings PLAIN = new EngineSettings("", List.of(), "", "");

    static EngineSettings of(Engine engine) {
        return switch (engine) {
            case FLINK -> FLINK;
            case KAFKA_STREAMS -> KAFKA_STREAMS;
            case ROCKSDB -> PLAIN;
        };
    }

    /** Triggers of base to 2 base - 1 files. */
    Advice spread(String reason, int base) {
        String name = "spread_triggers";
        if (this == PLAIN) {
            return new Advice(
                    name,
                    reason,
                    "the options of each column family of the i-th instance",
                    List.of(
                            "level0_file_num_compaction_trigger = %d + i %% %d"
                                    .formatted(base, base)));
        }
        String key = this == FLINK ? "trigger-spread" : "trigger.spread";
        return advice(name, reason, key, "true");
    }

    /** A gate that holds compactions for so long after a burst begins. */
    Advice delay(String reason, long holdMillis) {
        String name = "delay_compactions";
        if (this == PLAIN) {
            return new Advice(
                    name,
                    reason,
                    "the program, where it flushes its instances",
                    List.of(
                            "env->SetBackgroundThreads(0, Env::Priority::LOW);  // before the flushes",
                            "env->SetBackgroundThreads(N, Env::Priority::LOW);  // %d ms later, without fail"
                                    .formatted(holdMillis)));
        }
        return this == FLINK
                ? advice(name, reason, "gate", "true", "gate.deadline", holdMillis + " ms")
                : advice(name, reason, "gate", "true", "gate.deadline.ms", "" + holdMillis);
    }

    /** As many compactions at once in the process. */
    Advice threads(String reason, int limit) {
        String name = "compaction_threads";
        if (this == PLAIN) {
            return new Advice(
                    name,
                    reason,
                    "the program, after its last instance was opened",
                    List.of(
                            "env->SetBackgroundThreads(%d, Env::Priority::LOW);".formatted(limit),
                            "// in Java: Env.getDefault().setBackgroundThreads(%d, Priority.LOW);"
                                    .formatted(limit)));
        }
        String key = this == FLINK ? "compaction-threads" : "compaction.threads";
        return advice(name, reason, key, "" + limit);
    }

    /** Lines of a key and a value each. */
    private Advice advice(String name, String reason, String... settings) {
        List<String> lines = new ArrayList<>(switchOn);
        for (int i = 0; i < settings.length; i += 2) {
            lines.add(prefix + settings[i] + separator + settings[i + 1]);
        }
        return new Advice(name, reason, place, List.copyOf(lines));
    }
}
