package io.afterbay.flink.kafka.workloads;

import io.afterbay.workloads.profiles.Profile;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Records of Kafka as the job has them. */
final class ProfileDeserializer implements KafkaRecordDeserializationSchema<Profile> {
    private static final long serialVersionUID = 1;

    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> row, Collector<Profile> out) {
        out.collect(ProfileRecords.profile(row));
    }

    @Override
    public TypeInformation<Profile> getProducedType() {
        return TypeInformation.of(Profile.class);
    }
}
