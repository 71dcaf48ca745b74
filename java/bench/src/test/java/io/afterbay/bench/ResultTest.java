package io.afterbay.bench;

import static io.afterbay.bench.Figure.EVENTS_PER_S;
import static io.afterbay.bench.RunBuilder.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.bench.Result.Circumstances;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultTest {
    private static final Circumstances CIRCUMSTANCES =
            new Circumstances(
                    "nexmark",
                    Cell.LIMITED,
                    "q7",
                    4_000_000,
                    true,
                    "7d5850f",
                    Map.of("flink", "2.3.0"),
                    "./afterbay bench nexmark",
                    "2026-11-21T09:00:00Z",
                    0.25,
                    null);

    @Test
    void comesBackFromItsLine(@TempDir Path directory) throws IOException {
        Result first =
                new Result(CIRCUMSTANCES, run("afterbay", 1).with(EVENTS_PER_S, 412_000).build());
        Result second =
                new Result(CIRCUMSTANCES, run("hashmap", 1).failed("out of memory").build());
        Path results = directory.resolve("results");
        Result.append(results, List.of(first));
        Result.append(results, List.of(second));
        assertThat(Result.read(results.resolve("nexmark.jsonl"))).containsExactly(first, second);
    }

    @Test
    void isOneFlatObject(@TempDir Path directory) throws IOException {
        Run run = run("afterbay", 1).with(EVENTS_PER_S, 412_000.4).build();
        Result.append(directory, List.of(new Result(CIRCUMSTANCES, run)));
        assertThat(Files.readString(directory.resolve("nexmark.jsonl")))
                .startsWith(
                        """
                        {"experiment":"nexmark","cell":"4x-cgroup","query":"q7","events":4000000,\
                        "outputs_equal":true,"revision":"7d5850f","versions":{"flink":"2.3.0"},\
                        "command":"./afterbay bench nexmark","date":"2026-11-21T09:00:00Z",\
                        "load_before":0.25,"load_after":null,"backend":"afterbay","pair":1,\
                        "failure":null,"events_per_s":412000,"cpu_us_per_event":null,""")
                .endsWith("}\n");
    }

    @Test
    void namesTheLineThatIsNone(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("x.jsonl"), "{\"cell\":\"5x\"}\n");
        assertThatThrownBy(() -> Result.read(file))
                .hasMessageContaining("x.jsonl, line 1")
                .hasMessageContaining("cell '5x' is none of memory, 4x-page-cached, 4x-cgroup");
    }
}
