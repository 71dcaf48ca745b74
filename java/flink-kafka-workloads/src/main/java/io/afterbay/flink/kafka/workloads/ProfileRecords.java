package io.afterbay.flink.kafka.workloads;

import io.afterbay.workloads.profiles.Profile;
import io.afterbay.workloads.profiles.StandardTitle;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Profiles and titles as records of Kafka: the key is the number of the member, the value has the
 * other fields as CSV, and the timestamp is when the member wrote the title.
 *
 * <pre>
 *   profile:  changed_us,title
 *   title:    title,dictionary,changed_us
 * </pre>
 *
 * <p>No field has a comma; Flink's format CSV puts text with blanks into quotes.
 */
public final class ProfileRecords {
    private static final int MICROS_PER_MS = 1000;

    private ProfileRecords() {}

    static byte[] key(long member) {
        return bytes(Long.toString(member));
    }

    static byte[] value(StandardTitle title) {
        return bytes(title.title() + "," + title.dictionary() + "," + title.changedMicros());
    }

    /** A profile for a topic. */
    public static ProducerRecord<byte[], byte[]> of(String topic, Profile profile) {
        return new ProducerRecord<>(
                topic,
                null,
                profile.changedMicros() / MICROS_PER_MS,
                key(profile.member()),
                bytes(profile.changedMicros() + "," + profile.title()));
    }

    /** What {@link #of} has made. */
    public static Profile profile(ConsumerRecord<byte[], byte[]> row) {
        String[] fields = fields(row.value());
        return new Profile(member(row), Long.parseLong(fields[0]), fields[1]);
    }

    /** A row of the table of titles. */
    public static StandardTitle title(ConsumerRecord<byte[], byte[]> row) {
        String[] fields = fields(row.value());
        return new StandardTitle(
                member(row), fields[0], Integer.parseInt(fields[1]), Long.parseLong(fields[2]));
    }

    private static long member(ConsumerRecord<byte[], byte[]> row) {
        return Long.parseLong(fields(row.key())[0]);
    }

    private static String[] fields(byte[] line) {
        return new String(line, StandardCharsets.UTF_8).replace("\"", "").split(",", -1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
