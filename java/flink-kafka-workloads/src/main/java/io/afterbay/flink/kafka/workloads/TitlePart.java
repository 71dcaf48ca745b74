package io.afterbay.flink.kafka.workloads;

import io.afterbay.workloads.profiles.StandardTitle;
import org.apache.flink.api.common.serialization.SerializationSchema;

/** Key or value of a title's record; classes, since the sink asks for their types. */
final class TitlePart {
    private TitlePart() {}

    static final class Key implements SerializationSchema<StandardTitle> {
        private static final long serialVersionUID = 1;

        @Override
        public byte[] serialize(StandardTitle title) {
            return ProfileRecords.key(title.member());
        }
    }

    static final class Value implements SerializationSchema<StandardTitle> {
        private static final long serialVersionUID = 1;

        @Override
        public byte[] serialize(StandardTitle title) {
            return ProfileRecords.value(title);
        }
    }
}
