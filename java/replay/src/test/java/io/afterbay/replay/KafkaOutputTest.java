package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Properties;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.junit.jupiter.api.Test;

/** What a sink to Kafka becomes behind a merge. */
class KafkaOutputTest {
    private static String acks(Object sink) throws ReplayRefusedException {
        return ((Properties) Fields.required(sink, "kafkaProducerConfig")).getProperty("acks");
    }

    /** The merge waits until it has read each row back. */
    @Test
    void aSinkThatMayLoseRowsLosesNone() throws Exception {
        KafkaSink<String> sink =
                KafkaSink.<String>builder()
                        .setBootstrapServers("nowhere:1")
                        .setProperty("acks", "0")
                        .setRecordSerializer(
                                KafkaRecordSerializationSchema.<String>builder()
                                        .setTopic("t")
                                        .setKeySerializationSchema(new SimpleStringSchema())
                                        .setValueSerializationSchema(new SimpleStringSchema())
                                        .build())
                        .build();
        KafkaSink<String> copy = Fields.copy(sink);
        KafkaOutput.of("out", copy).takeRows();
        assertThat(Fields.required(copy, "deliveryGuarantee")).hasToString("at-least-once");
        assertThat(acks(copy)).isEqualTo("all");
        assertThat(Fields.required(sink, "deliveryGuarantee")).hasToString("none");
        assertThat(acks(sink)).isEqualTo("0");
    }
}
