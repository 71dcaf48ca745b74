package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.spark.publish.PublishSettings;
import java.nio.file.Files;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {
    private static final String STORE = "spark.sql.streaming.stateStore.";

    private static Configuration complete() {
        Configuration settings = new Configuration(false);
        settings.set(STORE + "checkpointFormatVersion", "2");
        settings.set(STORE + "rocksdb.changelogCheckpointing.enabled", "true");
        settings.set(
                STORE + "providerClass",
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider");
        return settings;
    }

    @Test
    void acceptsWhatTheOrderNeeds() {
        assertThatCode(() -> QuerySettings.check(complete())).doesNotThrowAnyException();
    }

    @Test
    void acceptsSnapshotsInTurns() {
        Configuration settings = complete();
        String provider = StaggeredRocksDBStateStoreProvider.class.getName();
        settings.set(STORE + "providerClass", provider);
        assertThatCode(() -> QuerySettings.check(settings)).doesNotThrowAnyException();
        assertThatThrownBy(() -> QuerySettings.requireFileManager(settings))
                .hasMessageContaining(provider + " works with Afterbay's file manager only")
                .hasMessageContaining("Set " + STORE + "providerClass=org.apache.spark.");
    }

    @ParameterizedTest
    @CsvSource({
        "stateStore.checkpointFormatVersion, 1, 2",
        "stateStore.rocksdb.changelogCheckpointing.enabled, false, true",
        "stateStore.providerClass, com.example.Store, "
                + "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        "metadataCache.enabled, false, true"
    })
    void refusesTheRestWithTheLineThatMendsIt(String name, String value, String needed) {
        String key = "spark.sql.streaming." + name;
        Configuration settings = complete();
        settings.set(key, value);
        assertThatThrownBy(() -> QuerySettings.check(settings))
                .hasMessageContaining(key + " is " + value)
                .hasMessageEndingWith("Set " + key + "=" + needed);
    }

    @ParameterizedTest
    @CsvSource({
        "checkpointFormatVersion",
        "rocksdb.changelogCheckpointing.enabled",
        "providerClass"
    })
    void refusesWhatIsNotSet(String name) {
        Configuration settings = complete();
        settings.unset(STORE + name);
        assertThatThrownBy(() -> QuerySettings.check(settings))
                .hasMessageContaining(STORE + name + " is not set");
    }

    @Test
    void refusesTheFileManagerWithoutThePlugin() {
        Path path = new Path("/ckpt/offsets");
        assertThatThrownBy(() -> new AfterbayCheckpointFileManager(path, complete()))
                .hasMessageContaining("/ckpt/offsets")
                .hasMessageEndingWith("Set spark.plugins=io.afterbay.spark.AfterbaySparkPlugin");
    }

    /** PySpark replaces what the user has set. */
    @Test
    void aLocalConnectServerCannotHaveThePlugin() {
        assertThat(AfterbaySparkPlugin.howToAdd("org.apache.spark.sql.connect.SparkConnectPlugin"))
                .contains("spark.plugins has Spark Connect's only", "start a Connect server")
                .contains("add io.afterbay.spark.AfterbaySparkPlugin behind a comma");
        assertThat(AfterbaySparkPlugin.howToAdd(""))
                .isEqualTo("Set spark.plugins=io.afterbay.spark.AfterbaySparkPlugin");
    }

    /** Its queries would run as Spark alone runs them, and nobody would notice. */
    @Test
    void refusesThePluginWithoutTheFileManager() {
        SparkConf conf = new SparkConf(false);
        String key = "spark.sql.streaming.checkpointFileManagerClass";
        assertThatThrownBy(() -> QuerySettings.requireSomeFileManager(conf))
                .hasMessageContaining("no query would use it: " + key + " is not set")
                .hasMessageContaining("Set " + key + "=io.afterbay.spark.AfterbayCheckpointFileM")
                .hasMessageContaining("or remove io.afterbay.spark.AfterbaySparkPlugin from");
        conf.set(key, "com.example.Another"); // somebody has chosen
        assertThatCode(() -> QuerySettings.requireSomeFileManager(conf)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.5.7", "4.0.4", "4.4.0", "4.20.1", "5.0.0"})
    void refusesOtherVersionsOfSpark(String version) {
        assertThatThrownBy(() -> AfterbaySparkPlugin.check(version))
                .hasMessageContaining("needs Spark 4.1, 4.2, 4.3, and this is " + version)
                .hasMessageContaining("from spark.plugins");
    }

    @ParameterizedTest
    @ValueSource(strings = {"4.1.3", "4.2.0", "4.3.0", "4.3.1-SNAPSHOT"})
    void acceptsThoseWithTheSameInterfaces(String version) {
        assertThatCode(() -> AfterbaySparkPlugin.check(version)).doesNotThrowAnyException();
    }

    @Test
    void refusesToTakeExecutorsForDeadBetweenTwoReports() {
        SparkConf conf = new SparkConf(false).set("spark.afterbay.commit.silenceMax", "2s");
        assertThatThrownBy(() -> CommitSettings.silenceNanosMax(conf))
                .hasMessageContaining("spark.afterbay.commit.silenceMax must be at least 3s")
                .hasMessageContaining("not 2s");
        conf.set("spark.afterbay.commit.silenceMax", "5s");
        assertThat(CommitSettings.silenceNanosMax(conf)).isEqualTo(5_000_000_000L);
        assertThat(CommitSettings.of(conf)).isEqualTo(PublishSettings.defaults());
    }

    @Test
    void readsTheSettingsOfTheApplication() {
        SparkConf conf = new SparkConf(false);
        assertThat(CommitSettings.of(conf)).isEqualTo(PublishSettings.defaults());
        conf.set("spark.afterbay.commit.pendingBytesMax", "1m");
        conf.set("spark.afterbay.commit.waitMax", "5s");
        PublishSettings settings = CommitSettings.of(conf);
        assertThat(settings.bytesMax()).isEqualTo(1 << 20);
        assertThat(settings.waitNanosMax()).isEqualTo(5_000_000_000L);
    }

    @Test
    void refusesModesThatItDoesNotKnow() {
        SparkConf conf = new SparkConf(false).set("spark.afterbay.commit.mode", "fast");
        assertThatThrownBy(() -> CommitSettings.of(conf))
                .hasMessage("spark.afterbay.commit.mode must be strict or pipelined, not fast");
        Configuration settings = complete();
        settings.set("spark.afterbay.commit.mode", "Pipelined");
        assertThatThrownBy(() -> QueryOptions.of(settings)).hasMessageContaining("not Pipelined");
    }

    @Test
    void readsTheChoicesOfTheQuery() {
        Configuration settings = complete();
        assertThat(QueryOptions.of(settings)).isEqualTo(QueryOptions.strict());
        settings.set("spark.afterbay.commit.mode", "pipelined");
        settings.set("spark.afterbay.commit.replayableSources", "com.example.A, com.example.B");
        assertThat(QueryOptions.of(settings))
                .isEqualTo(new QueryOptions(false, true, Set.of("com.example.A", "com.example.B")));
    }

    @Test
    void aRestartNeedsTheStateOfSomeBatches() {
        Configuration settings = complete();
        settings.set("spark.sql.streaming.minBatchesToRetain", "1");
        assertThatThrownBy(() -> QuerySettings.check(settings))
                .hasMessageEndingWith("Set spark.sql.streaming.minBatchesToRetain=2");
        settings.set("spark.sql.streaming.minBatchesToRetain", "2");
        assertThatCode(() -> QuerySettings.check(settings)).doesNotThrowAnyException();
        settings.set("spark.afterbay.commit.mode", "pipelined");
        assertThatThrownBy(() -> QuerySettings.check(settings))
                .hasMessageEndingWith("Set spark.sql.streaming.minBatchesToRetain=3");
    }

    @Test
    void theGuideHasAllClasses() throws Exception {
        String guide = Files.readString(java.nio.file.Path.of("../../docs/spark.md"));
        assertThat(guide).contains(AfterbaySparkPlugin.class.getName());
        assertThat(guide).contains(StaggeredRocksDBStateStoreProvider.class.getName());
        assertThat(guide).contains(AfterbayCheckpointFileManager.class.getName());
    }

    @Test
    void refusesSettingsThatItDoesNotKnow() {
        SparkConf conf = new SparkConf(false).set("spark.afterbay.commit.moode", "pipelined");
        assertThatThrownBy(() -> CommitSettings.of(conf))
                .hasMessageContaining("unknown setting spark.afterbay.commit.moode")
                .hasMessageContaining("spark.afterbay.commit.waitMax");
    }
}
