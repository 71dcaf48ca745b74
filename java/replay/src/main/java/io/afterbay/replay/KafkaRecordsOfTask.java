package io.afterbay.replay;

import java.io.IOException;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/** The Kafka clients of a task, met when its first record comes. For the task's thread only. */
final class KafkaRecordsOfTask implements Serializable {
    private static final long serialVersionUID = 1;

    private transient @Nullable KafkaRecords records;

    /**
     * @param user of the job's class loader
     */
    KafkaRecords get(Object user) throws IOException {
        KafkaRecords known = records;
        if (known == null) {
            known = new KafkaRecords(user.getClass().getClassLoader());
            records = known;
        }
        return known;
    }
}
