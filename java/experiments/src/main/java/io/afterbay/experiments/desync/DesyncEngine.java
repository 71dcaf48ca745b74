package io.afterbay.experiments.desync;

import io.afterbay.experiments.Labelled;

/** Where the experiment about instances of RocksDB runs. */
enum DesyncEngine implements Labelled {
    /** The traffic-jam job, embedded. */
    FLINK("flink"),

    /** Word count, on the version before commits no longer flush (KIP-1035). */
    KAFKA_STREAMS_4_2("kafka-streams-4.2"),

    /** Word count, on the newest version. */
    KAFKA_STREAMS_4_3("kafka-streams-4.3");

    private final String label;

    DesyncEngine(String label) {
        this.label = label;
    }

    @Override
    public String label() {
        return label;
    }

    boolean isKafka() {
        return this != FLINK;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static DesyncEngine named(String label) {
        return Labelled.named(DesyncEngine.class, label);
    }

    public static final class Converter extends Labelled.Converter<DesyncEngine> {
        public Converter() {
            super(DesyncEngine.class);
        }
    }
}
