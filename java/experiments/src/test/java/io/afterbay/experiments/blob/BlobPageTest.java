package io.afterbay.experiments.blob;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlobPageTest {
    private static final long MEBIBYTE = 1 << 20;

    private final List<RecordedTrial<BlobTrial>> trials = new ArrayList<>();

    private void add(BlobTrial trial) {
        trials.add(
                new RecordedTrial<>(
                        new Provenance(
                                "blob",
                                "new",
                                Map.of("java", "17"),
                                "./afterbay bench blob",
                                "2026-11-23T10:00:00Z",
                                0.1,
                                2.0,
                                0.05),
                        trial));
    }

    private static BlobTrial none(String variant, String operation, long size, int pair) {
        return BlobTrial.none(
                new BlobTrial.Setting(variant, operation, size, 4, "cached", 100, pair));
    }

    private static BlobTrial run(
            String variant, String operation, long size, double perS, double cpu, long wrong) {
        return none(variant, operation, size, 1)
                .with(
                        new BlobTrial.Outcome(null, 100L, wrong, 0L, null),
                        new BlobTrial.Rates(
                                1000L,
                                1.0,
                                perS,
                                Math.round(perS * size / 1e6) * 1.0,
                                1.0,
                                2.0,
                                3.0,
                                4.0),
                        new BlobTrial.Cost(cpu, cpu * 1000, 0.5, 90.0, 0.0, 0.0));
    }

    private static BlobTrial cold(String variant, double perS) {
        BlobTrial cached = run(variant, "get", MEBIBYTE, perS, 1, 0);
        return BlobTrial.none(new BlobTrial.Setting(variant, "get", MEBIBYTE, 4, "cold", 100, 1))
                .with(cached.outcome(), cached.rates(), cached.cost());
    }

    private static BlobTrial index(double memory, double logsCold, double allCold) {
        return BlobTrial.none(new BlobTrial.Setting("index", "index", 64, 1, "cold", 1_000_000, 1))
                .with(
                        new BlobTrial.Outcome(null, 2000L, 0L, 0L, null),
                        new BlobTrial.Index(memory, 4.0, 1.1, 2.0, logsCold, allCold, 0.1, 9.0));
    }

    private String page() {
        return new BlobPage(trials).details();
    }

    @Test
    void oursIsComparedWithTheLimitsAndThePeersOfItsRound() {
        add(run("loopback", "get", MEBIBYTE, 4000, 0, 0));
        add(run("bare", "get", MEBIBYTE, 2000, 0.5, 0));
        add(run("afterbay-s3", "get", MEBIBYTE, 1900, 0.5, 0));
        add(run("afterbay-native", "get", MEBIBYTE, 3800, 0.15, 0));
        add(run("minio", "put", 25_600, 1000, 4, 0));
        add(run("afterbay-s3", "put", 25_600, 3000, 1, 0));
        add(index(1.5, 1.0, 1.75));
        assertThat(page())
                .contains(
                        "one TCP stream over loopback: at least 0.9x. Met by 1 of 1.",
                        "CPU of the server: at most 0.2 CPU-s/GB. Met by 1 of 1.",
                        "requests/s to those of MinIO: at least 2.0x. Met by 1 of 1.",
                        "per request to that of MinIO: at most 0.5x. Met by 1 of 1.",
                        "bare hyper server (with MD5 for puts): at least 0.9x. Met by 1 of 1.",
                        "memory per million blobs: at most 2.0 MB. Met by 1 of 1.",
                        "indexes in the page cache: at most 1.0. Met by 1 of 1.",
                        "nothing in the page cache: at most 2.0. Met by 1 of 1.",
                        "| get, cached, 1 MiB, 4 clients | afterbay-native | 3,800 [3,800..3,800] |",
                        "| put, 25.0 KiB, 4 clients | afterbay-s3 | 3,000 [3,000..3,000] |",
                        "| 3.00 [3.00..3.00] | – | – | right | one pair, indicative | new |",
                        "| 1,000,000 blobs | 1.50 [1.50..1.50] |");
        assertThat(page().lines().filter(line -> line.contains("| loopback |")))
                .first()
                .asString()
                .as("a limit is compared with nothing")
                .endsWith("| – | – | – | right | one pair, indicative | new |");
        assertThat(page().indexOf("| afterbay-native |")).isLessThan(page().indexOf("| bare |"));
    }

    /** Negative control: what is not enough is not met, and the other size is not compared. */
    @Test
    void aimsThatAreMissedAreNotMet() {
        add(run("loopback", "get", MEBIBYTE, 4000, 0, 0));
        add(run("afterbay-native", "get", MEBIBYTE, 3500, 0.21, 0));
        add(run("bare", "put", 5 * MEBIBYTE, 100, 2, 0));
        add(run("afterbay-s3", "put", 5 * MEBIBYTE, 89, 2, 0));
        add(index(2.1, 1.01, 2.5));
        assertThat(page())
                .contains(
                        "one TCP stream over loopback: at least 0.9x. Met by 0 of 1.",
                        "CPU of the server: at most 0.2 CPU-s/GB. Met by 0 of 1.",
                        "bare hyper server (with MD5 for puts): at least 0.9x. Met by 0 of 1.",
                        "memory per million blobs: at most 2.0 MB. Met by 0 of 1.",
                        "indexes in the page cache: at most 1.0. Met by 0 of 1.",
                        "nothing in the page cache: at most 2.0. Met by 0 of 1.",
                        "requests/s to those of MinIO: at least 2.0x. Not measured.");
    }

    @Test
    void wrongBytesMeetNoAim() {
        add(run("afterbay-native", "get", MEBIBYTE, 3900, 0.1, 1));
        add(run("loopback", "get", MEBIBYTE, 4000, 0, 0));
        assertThat(page())
                .contains(
                        "one TCP stream over loopback: at least 0.9x. Not measured.",
                        "CPU of the server: at most 0.2 CPU-s/GB. Not measured.");
    }

    @Test
    void wrongBytesAreShownAndTheControlMustHaveThem() {
        add(run("afterbay-native", "get", MEBIBYTE, 10, 1, 1));
        add(run("control", "get", MEBIBYTE, 10, 1, 1));
        add(run("control-s3", "get", MEBIBYTE, 10, 1, 1));
        assertThat(page()).contains("| **wrong** |", "| wrong, as they should be |");
        assertThat(
                        page().lines()
                                .filter(
                                        line ->
                                                line.endsWith(
                                                        "as they should be | one pair, indicative | new |")))
                .hasSize(2);
        add(run("control", "get", MEBIBYTE, 10, 1, 0));
        assertThat(page()).contains("| **right**, and should not be |");
    }

    /** What the page cache gives is no limit of theirs. */
    @Test
    void coldGetsAreComparedWithReadsFromTheDisk() {
        add(run("loopback", "get", MEBIBYTE, 4000, 0, 0));
        add(cold("afterbay-s3", 500));
        add(cold("disk-read", 1000));
        assertThat(page().lines().filter(line -> line.contains("cold") && line.contains("s3")))
                .first()
                .asString()
                .endsWith("| 0.50 [0.50..0.50] | right | one pair, indicative | new |");
    }

    @Test
    void failedRunsAreSaidAndHaveNoFigures() {
        add(run("bare", "get", MEBIBYTE, 10, 1, 0));
        add(none("afterbay-s3", "get", MEBIBYTE, 1).failed("it broke"));
        assertThat(page()).contains("Failed runs:", "afterbay-s3: it broke");
    }

    @Test
    void linesAreReadAsTheyWereWritten(@TempDir Path directory) throws Exception {
        add(run("afterbay-native", "put", MEBIBYTE, 10, 1, 0));
        add(index(1.5, 1.0, 1.75));
        add(none("minio", "put", MEBIBYTE, 2).failed("it broke"));
        RecordedTrial.append(directory, trials);
        assertThat(BlobPage.read(directory)).isEqualTo(trials);
        assertThat(new BlobPage(List.of()).details()).isEqualTo(ResultsPage.NONE);
    }
}
