package io.afterbay.bench;

import java.util.List;

/** A part of the product that is measured, and the code whose change makes its figures stale. */
public enum Part {
    FLINK("Flink state backend", "java/state-store/src/main", "java/flink/src/main"),
    ROCKSDB(
            "RocksDB's background work",
            "java/maintenance/src/main",
            "java/rocksdb/src/main",
            "java/kafka-streams/src/main"),
    SPARK("Spark", "java/spark/src/main"),
    STORM("Storm", "java/storm/src/main", "java/stragglers/src/main"),
    BLOB(
            "blob store",
            "rust/blob-format/src",
            "rust/blob-meta/src",
            "rust/blob-proto/src",
            "rust/blob-router/src",
            "rust/blob-s3/src",
            "rust/blob-server/src",
            "rust/blob-store/src"),
    NET(
            "shared-memory sockets",
            "rust/net/src",
            "rust/net-agent/src",
            "rust/net-core/src",
            "rust/net-preload/src",
            "rust/net-proto/src",
            "rust/net-ring/src",
            "rust/net-shm/src");

    private final String title;
    private final List<String> code;

    Part(String title, String... code) {
        this.title = title;
        this.code = List.of(code);
    }

    /** For people. */
    public String title() {
        return title;
    }

    /** Its directories, relative to the project's. */
    public List<String> code() {
        return code;
    }
}
