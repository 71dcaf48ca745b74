package io.afterbay.flink.kafka.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.workloads.profiles.Profile;
import io.afterbay.workloads.profiles.StandardTitle;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class ProfileRecordsTest {
    private static final StandardTitle TITLE =
            new StandardTitle(7, "Senior Software Engineer", 2, 1_500_000);

    @Test
    void aProfileComesBackFromItsRecord() {
        Profile profile = new Profile(7, 1_500_900, "Sr. SW eng");
        ProducerRecord<byte[], byte[]> record = ProfileRecords.of("profiles", profile);
        assertThat(record.timestamp()).as("when it was written, in ms").isEqualTo(1500);
        assertThat(ProfileRecords.profile(row(record.key(), record.value()))).isEqualTo(profile);
    }

    @Test
    void aTitleComesBackAlsoAsFlinkWritesCsv() {
        assertThat(
                        ProfileRecords.title(
                                row(
                                        new TitlePart.Key().serialize(TITLE),
                                        new TitlePart.Value().serialize(TITLE))))
                .isEqualTo(TITLE);
        assertThat(
                        ProfileRecords.title(
                                row(bytes("7"), bytes("\"Senior Software Engineer\",2,1500000"))))
                .isEqualTo(TITLE);
    }

    /** Rows that are missing, other ones, and ones too many. */
    @Test
    void wrongRowsAreFound() {
        Map<Long, StandardTitle> right = Map.of(7L, TITLE, 8L, title(8, 2), 9L, title(9, 2));
        assertThat(TitlesCheck.compare(right, right).wrong()).isZero();
        TitlesCheck check =
                TitlesCheck.compare(right, Map.of(7L, TITLE, 8L, title(8, 1), 10L, title(10, 2)));
        assertThat(check.members()).isEqualTo(3);
        assertThat(check.wrong()).as("8 is old, 9 is missing, 10 is too many").isEqualTo(3);
        assertThat(check.examples()).hasSize(2);
    }

    private static StandardTitle title(long member, int dictionary) {
        return new StandardTitle(member, "Nurse", dictionary, 1);
    }

    private static ConsumerRecord<byte[], byte[]> row(byte[] key, byte[] value) {
        return new ConsumerRecord<>("topic", 0, 0, key, value);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
