package io.afterbay.cli.doctor.reading;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LatencyLogTest {
    private static final long START = 1_763_866_800_000_000L;

    @TempDir Path directory;
    private Path file;

    @BeforeEach
    void name() {
        file = directory.resolve("latency");
    }

    private LatencyLog read(String text) throws IOException {
        return LatencyLog.read(Files.writeString(file, text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1763866800.000,10\n1763866800.050,20.5\n1763866800.100,15\n",
                "time_s,latency_ms\n1763866800.000,10\n1763866800.05,20.5\n\n1763866800.1,15",
                "1763866800000,10\n1763866800050,20.5\n1763866800100,15\n",
                "1763866800000000,10\n1763866800050000,20.5\n1763866800100000,15\n",
                "2025-11-23T03:00:00Z,10\n2025-11-23T03:00:00.05Z,20.5\n2025-11-23T03:00:00.1Z,15",
            })
    void readsCsvWithAnyTime(String text) throws IOException {
        LatencyLog log = read(text);
        assertThat(log.size()).isEqualTo(3);
        assertThat(log.start(0)).isEqualTo(START);
        assertThat(log.start(1)).isBetween(START + 49_999, START + 50_001);
        assertThat(log.millis(1)).isEqualTo(20.5);
        assertThat(log.windowMicros()).isBetween(49_999L, 50_001L);
    }

    @Test
    void findsTheWindowOfATime() throws IOException {
        LatencyLog log = read("1763866800,10\n1763866801,20\n1763866802,15\n");
        assertThat(log.windowAt(0)).isZero();
        assertThat(log.windowAt(START)).isZero();
        assertThat(log.windowAt(START + 999_999)).isZero();
        assertThat(log.windowAt(START + 1_000_000)).isEqualTo(1);
        assertThat(log.windowAt(START + 9_000_000)).isEqualTo(3);
    }

    @Test
    void readsIntervalLogsOfHdrHistogram() throws IOException {
        try (PrintStream out = new PrintStream(Files.newOutputStream(file))) {
            HistogramLogWriter writer = new HistogramLogWriter(out);
            writer.outputLogFormatVersion();
            writer.outputStartTime(START / 1000);
            writer.outputLegend();
            for (int window = 0; window < 3; window++) {
                Histogram histogram = new Histogram(3);
                histogram.recordValue(1_000_000);
                histogram.recordValue((window + 1) * 10_000_000L);
                histogram.setStartTimeStamp(START / 1000 + window * 50L);
                histogram.setEndTimeStamp(START / 1000 + window * 50L + 50);
                writer.outputIntervalHistogram(histogram);
            }
        }
        LatencyLog log = LatencyLog.read(file);
        assertThat(log.size()).isEqualTo(3);
        assertThat(log.start(2)).isEqualTo(START + 100_000);
        assertThat(log.millis(2)).isBetween(30.0, 30.1);
        assertThat(log.windowMicros()).isEqualTo(50_000);
    }

    @Test
    void otherFilesAreRefusedWithTheFormThatIsRight() {
        assertThatThrownBy(() -> read("1763866800,10\nyesterday,20\n"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("line 2")
                .hasMessageContaining("yesterday")
                .hasMessageContaining("for example 1763866800.050,12.5");
        assertThatThrownBy(() -> read(""))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("interval log of HdrHistogram");
    }
}
