package io.afterbay.bench;

import java.util.List;

/** A part of the product that is measured, and the code whose change makes its figures stale. */
public enum Part {
    FLINK(
            "Flink state backend",
            "the Flink state backend",
            "java/state-store/src/main",
            "java/flink/src/main"),
    ROCKSDB(
            "RocksDB's background work",
            "RocksDB's background work",
            "java/maintenance/src/main",
            "java/rocksdb/src/main",
            "java/kafka-streams/src/main"),
    SPARK("Spark", "Spark", "java/spark/src/main"),
    STORM("Storm", "Storm", "java/storm/src/main", "java/stragglers/src/main"),
    BLOB(
            "blob store",
            "the blob store",
            "rust/blob-cluster/src",
            "rust/blob-format/src",
            "rust/blob-meta/src",
            "rust/blob-node/src",
            "rust/blob-proto/src",
            "rust/blob-router/src",
            "rust/blob-s3/src",
            "rust/blob-server/src",
            "rust/blob-store/src"),
    NET(
            "shared-memory sockets",
            "shared-memory sockets",
            "rust/net/src",
            "rust/net-agent/src",
            "rust/net-core/src",
            "rust/net-preload/src",
            "rust/net-proto/src",
            "rust/net-ring/src",
            "rust/net-shm/src"),
    EDGE(
            "edge",
            "the edge",
            "java/edge/src/main",
            "java/edge-kafka/src/main",
            "rust/edge/src",
            "rust/edge-agent/src",
            "rust/edge-app/src",
            "rust/edge-exec/src",
            "rust/edge-gateway/src",
            "rust/edge-kafka/src",
            "rust/edge-link/src",
            "rust/edge-monitor/src",
            "rust/edge-mqtt/src",
            "rust/edge-outbox/src",
            "rust/edge-plan/src",
            "rust/edge-wire/src"),
    REPLAY(
            "replays",
            "replays",
            "java/replay/src/main",
            "java/cli/src/main/java/io/afterbay/cli/replay");

    private final String title;
    private final String inSentence;
    private final List<String> code;

    Part(String title, String inSentence, String... code) {
        this.title = title;
        this.inSentence = inSentence;
        this.code = List.of(code);
    }

    /** For people. */
    public String title() {
        return title;
    }

    /** In the middle of a sentence. */
    String inSentence() {
        return inSentence;
    }

    /** Its directories, relative to the project's. */
    public List<String> code() {
        return code;
    }
}
