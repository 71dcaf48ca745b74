package io.afterbay.experiments.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NetPageTest {
    private final List<RecordedTrial<NetTrial>> trials = new ArrayList<>();

    private void add(
            String way, String work, long size, int busy, double perS, double us, double cpu) {
        NetTrial.Setting setting = new NetTrial.Setting(way, work, size, 1, "auto", busy, 1);
        add(setting, new NetTrial.Outcome(null, 0L, 1.2), perS, us, cpu);
    }

    private void add(
            NetTrial.Setting setting,
            NetTrial.Outcome outcome,
            double perS,
            double us,
            double cpu) {
        long size = setting.sizeBytes();
        NetTrial trial =
                NetTrial.none(setting)
                        .with(
                                outcome,
                                new NetTrial.Rates(
                                        100L,
                                        1.0,
                                        perS,
                                        perS * size / 1e6,
                                        us,
                                        us,
                                        us * 2,
                                        us * 3,
                                        us * 4),
                                new NetTrial.Cost(cpu, cpu * size / 1e3, 1.0));
        trials.add(
                new RecordedTrial<>(
                        new Provenance(
                                "net",
                                "new",
                                Map.of("java", "17"),
                                "./afterbay bench net",
                                "2026-11-28T10:00:00Z",
                                0.1,
                                2.0,
                                0.05),
                        trial));
    }

    private String page() {
        return new NetPage(trials).details();
    }

    @Test
    void nothingIsMeasuredYet() {
        assertThat(page()).isEqualTo(ResultsPage.NONE);
    }

    @Test
    void aimsAreMet() {
        add("veth", "ping", 64, 0, 100, 10, 1);
        add("vxlan", "ping", 64, 0, 50, 30, 1);
        add("unix", "ping", 64, 0, 120, 8, 1);
        add("memory", "ping", 64, 0, 250, 4, 1);
        add("no-agent", "ping", 64, 0, 98, 10, 1);
        add("veth", "stream", 131_072, 0, 100, 10, 1);
        add("vxlan", "stream", 131_072, 0, 40, 10, 1);
        add("memory", "stream", 131_072, 0, 150, 10, 0.2);
        add("veth", "redis", 3, 0, 100, 10, 1);
        add("memory", "redis", 3, 0, 100, 4, 1);
        add("veth", "ping", 64, 8, 100, 10, 1);
        add("memory", "ping", 64, 8, 91, 10, 1);
        assertThat(page())
                .contains(
                        "memory to TCP over veth: at most 0.5x. Met by 1 of 1.",
                        "memory to a Unix socket: at most 0.7x. Met by 1 of 1.",
                        "memory to TCP over VXLAN: at most 0.2x. Met by 1 of 1.",
                        "blocks of 128 KiB, memory to TCP over veth: at most 0.3x. Met by 1 of 1.",
                        "memory to TCP over VXLAN: at least 3.0x. Met by 1 of 1.",
                        "mean latency of redis, memory to TCP over veth: at most 0.5x. Met by 1 of 1.",
                        "beside busy threads, memory to TCP over veth: at least 0.9x. Met by 1 of 1.",
                        "without an agent, operations/s, to TCP over veth: at least 0.97x. Met by 1 of 1.",
                        "| ping, 64 bytes, 1 connection | memory | 250 [250..250] |",
                        "8 busy threads");
    }

    /** The first runs of redis have no bytes, and nobody looked at what they read. */
    @Test
    void whatNobodyComparedIsNotRight() {
        NetTrial.Setting before = new NetTrial.Setting("veth", "redis", 3, 50, "auto", 0, 1);
        add(before, new NetTrial.Outcome(null, 0L, null), 100, 10, 1);
        assertThat(page()).contains("| not compared |").doesNotContain("| right |");
        trials.clear();
        add("veth", "redis", 3, 0, 100, 10, 1);
        assertThat(page()).contains("| right |").doesNotContain("not compared");
    }

    /** Negative control: what is not enough is not met, and no other load is compared. */
    @Test
    void aimsAreMissed() {
        add("veth", "ping", 64, 0, 100, 10, 1);
        add("memory", "ping", 64, 0, 150, 6, 1);
        add("veth", "ping", 8192, 0, 100, 100, 1);
        add("memory", "stream", 131_072, 0, 150, 10, 0.2);
        assertThat(page()).contains("memory to TCP over veth: at most 0.5x. Met by 0 of 1.");
        assertThat(page().lines().filter(line -> line.contains("blocks of 128 KiB")))
                .allSatisfy(line -> assertThat(line).doesNotContain("Met by 1"));
    }
}
