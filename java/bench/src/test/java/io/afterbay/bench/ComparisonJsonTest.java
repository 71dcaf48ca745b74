package io.afterbay.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ComparisonJsonTest {
    private static JsonNode written(Path directory, Comparison comparison) throws Exception {
        Path file = directory.resolve("comparison.json");
        ComparisonJson.write(file, comparison);
        return new ObjectMapper().readTree(Files.readString(file));
    }

    private static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    @Test
    void hasTheNamesThatProgramsReadBy(@TempDir Path directory) throws Exception {
        JsonNode json = written(directory, Samples.good());
        assertThat(names(json)).contains("target", "runs", "ratios", "outputs_equal", "rate_per_s");
        assertThat(names(json.at("/runs/0")))
                .containsExactly(
                        "backend",
                        "pair",
                        "failure",
                        "events_per_s",
                        "cpu_us_per_event",
                        "task_cpu_us_per_event",
                        "background_cpu_us_per_event",
                        "store_write_cpu_us_per_event",
                        "store_read_cpu_us_per_event",
                        "p50_ms",
                        "p90_ms",
                        "p95_ms",
                        "p99_ms",
                        "p999_ms",
                        "max_ms",
                        "longest_pause_ms",
                        "peak_rss_mb",
                        "disk_mb",
                        "written_mb",
                        "gc_ms");
        assertThat(names(json.at("/ratios/afterbay~1rocksdb")))
                .containsExactlyElementsOf(names(json.at("/runs/0")).subList(3, 20));
        assertThat(names(json.at("/ratios/afterbay~1rocksdb/events_per_s")))
                .containsExactly("median", "min", "max");
        assertThat(json.get("outputs_equal").booleanValue()).isTrue();
    }

    @Test
    void keepsNullForWhatIsUnknown(@TempDir Path directory) throws Exception {
        JsonNode json = written(directory, Samples.foreignJob());
        assertThat(json.get("outputs_equal").isNull()).isTrue();
        assertThat(json.at("/runs/0/longest_pause_ms").isNull()).isTrue();
        assertThat(json.at("/runs/0/failure").isNull()).isTrue();
    }

    @Test
    void roundsToWhatCanBeMeasured() {
        assertThat(ComparisonJson.line(List.of(1_234_567.8, 12.34567, 0.00123456, 3.0, 0.0)))
                .isEqualTo("[1234568,12.35,0.001235,3,0]");
        assertThat(ComparisonJson.line(new Ratio(Double.NaN, -2.00049, 9999.96)))
                .isEqualTo("{\"median\":null,\"min\":-2,\"max\":10000}");
    }
}
