package io.afterbay.doctor.reading;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is in the logs that databases of all versions wrote; see the README beside them. */
class RealLogsTest {
    private static final long SECOND = 1_000_000;

    /** 2026-11-23, 06:38 to 06:40 UTC: when they were written. */
    private static final long FROM = 1_795_415_880 * SECOND;

    private static final long TO = FROM + 120 * SECOND;

    private static LogReading.Logs read(String name) throws IOException {
        InstanceName instance = new InstanceName(Engine.ROCKSDB, "stage", "instance", "key");
        try (InputStream in = RealLogsTest.class.getResourceAsStream("real/" + name + ".LOG.gz")) {
            return LogReading.read(instance, new GZIPInputStream(in));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "frocksdbjni-6.20.3-ververica-2.0, 6.20.3",
        "rocksdbjni-6.29.5, 6.29.5",
        "rocksdbjni-7.10.2, 7.10.2",
        "frocksdbjni-8.10.0-ververica-1.0, 8.10.0",
        "rocksdbjni-9.10.0, 9.10.0",
        "rocksdbjni-10.1.3, 10.1.3",
        "rocksdbjni-11.8.1, 11.8.1",
    })
    void allVersionsAreRead(String name, String version) throws IOException {
        LogReading.Logs logs = read(name);
        InstanceLog log = logs.instances().get(0);
        assertThat(log.version()).isEqualTo(version);
        assertFamily(log, "default", 4, 10, 2);
        assertFamily(log, "window-contents", 5, 11, 2);
        assertFamily(log, "timer/state", 2, 10, 5);
        assertThat(log.columnFamilies()).hasSize(3);
        assertThat(log.options()).containsEntry("max_background_jobs", "2");
        assertThat(log.stalls().size()).isEqualTo(5);
        assertWithinTheirTime(log.stalls());
        Tally tally = logs.tally();
        assertThat(tally.damagedLines()).isZero();
        assertThat(tally.cutLines()).isZero();
        assertThat(tally.foreignLines()).isEqualTo(25);
        assertThat(tally.startsWithoutEnd() + tally.endsWithoutStart()).isZero();
        assertThat(tally.events()).isEqualTo(2 * (31 + 9));
    }

    private static void assertFamily(
            InstanceLog log, String name, int trigger, int flushes, int compactions) {
        ColumnFamilyLog family = log.columnFamily(name);
        assertThat(family.trigger()).as(name).hasValue(trigger);
        assertThat(family.flushes().size()).as(name).isEqualTo(flushes);
        assertThat(family.checkpointFlushes().size()).as(name).isEqualTo(10);
        assertThat(family.compactions().size()).as(name).isEqualTo(compactions);
        assertThat(family.filesPerCompaction().getAsInt()).as(name).isEqualTo(trigger);
        assertWithinTheirTime(family.flushes());
        assertWithinTheirTime(family.compactions());
    }

    private static void assertWithinTheirTime(Intervals intervals) {
        for (int i = 0; i < intervals.size(); i++) {
            assertThat(intervals.start(i)).isBetween(FROM, TO);
            assertThat(intervals.end(i) - intervals.start(i)).isBetween(0L, 2 * SECOND);
        }
    }
}
