package io.afterbay.doctor.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.doctor.reading.Engine;
import org.junit.jupiter.api.Test;

/** The lines as they are to be copied. */
class EngineSettingsTest {
    private static final String FLINK_FACTORY =
            "state.backend.rocksdb.options-factory: io.afterbay.flink.DesyncRocksDBOptionsFactory";
    private static final String KAFKA_SETTER =
            "rocksdb.config.setter=io.afterbay.kafka.DesyncRocksDBConfigSetter";

    @Test
    void flinkHasKeysOfItsConfiguration() {
        EngineSettings flink = EngineSettings.of(Engine.FLINK);
        assertThat(flink.spread().advice("name", "why", 4).lines())
                .containsExactly(
                        FLINK_FACTORY, "state.backend.rocksdb.desync.trigger-spread: true");
        assertThat(flink.delay().advice("name", "why", 1200).lines())
                .containsExactly(
                        FLINK_FACTORY,
                        "state.backend.rocksdb.desync.gate: true",
                        "state.backend.rocksdb.desync.gate.deadline: 1200 ms");
        assertThat(flink.threads().advice("name", "why", 3).lines())
                .containsExactly(
                        FLINK_FACTORY, "state.backend.rocksdb.desync.compaction-threads: 3");
        assertThat(flink.flushes().advice("name", "why", 0).lines())
                .containsExactly(FLINK_FACTORY, "state.backend.rocksdb.desync.flush-threads: auto");
    }

    @Test
    void kafkaStreamsHasProperties() {
        EngineSettings kafka = EngineSettings.of(Engine.KAFKA_STREAMS);
        assertThat(kafka.spread().advice("name", "why", 4).lines())
                .containsExactly(KAFKA_SETTER, "afterbay.desync.trigger.spread=true");
        assertThat(kafka.delay().advice("name", "why", 1200).lines())
                .containsExactly(
                        KAFKA_SETTER,
                        "afterbay.desync.gate=true",
                        "afterbay.desync.gate.deadline.ms=1200");
        assertThat(kafka.threads().advice("name", "why", 3).lines())
                .containsExactly(KAFKA_SETTER, "afterbay.desync.compaction.threads=3");
        assertThat(kafka.flushes().advice("name", "why", 0).lines())
                .containsExactly(KAFKA_SETTER, "afterbay.desync.flush.threads=auto");
    }

    @Test
    void othersHaveOptionsAndCallsOfRocksDB() {
        EngineSettings plain = EngineSettings.of(Engine.ROCKSDB);
        assertThat(plain.spread().advice("name", "why", 5).lines())
                .containsExactly("level0_file_num_compaction_trigger = 5 + i % 4");
        assertThat(plain.delay().advice("name", "why", 1200).lines())
                .hasSize(2)
                .first()
                .asString()
                .startsWith("env->SetBackgroundThreads(0, Env::Priority::LOW);");
        assertThat(plain.threads().advice("name", "why", 3).lines())
                .contains("env->SetBackgroundThreads(3, Env::Priority::LOW);");
        assertThat(plain.flushes().advice("name", "why", 0).lines())
                .contains("env->SetBackgroundThreads(processors, Env::Priority::HIGH);");
    }
}
