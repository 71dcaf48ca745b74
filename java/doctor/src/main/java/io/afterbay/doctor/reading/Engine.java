package io.afterbay.doctor.reading;

/** Who keeps the databases; told by the names of files and folders. */
public enum Engine {
    FLINK("Flink"),
    KAFKA_STREAMS("Kafka Streams"),
    /** Anything else. */
    ROCKSDB("another program");

    private final String label;

    Engine(String label) {
        this.label = label;
    }

    public String label() {
        return label;
    }
}
