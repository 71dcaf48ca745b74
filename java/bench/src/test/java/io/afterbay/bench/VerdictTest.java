package io.afterbay.bench;

import static io.afterbay.bench.Figure.CPU_US_PER_EVENT;
import static io.afterbay.bench.Figure.EVENTS_PER_S;
import static io.afterbay.bench.Figure.LONGEST_PAUSE_MS;
import static io.afterbay.bench.Figure.MAX_MS;
import static io.afterbay.bench.RunBuilder.run;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Verdict.Warning;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class VerdictTest {
    private static Verdict of(Boolean outputsEqual, Run... runs) {
        return of(Map.of(), outputsEqual, runs);
    }

    private static Verdict of(Map<String, String> environment, Boolean outputsEqual, Run... runs) {
        List<Run> all = List.of(runs);
        return new Verdict(
                new Comparison(
                        "q7",
                        "compare q7",
                        environment,
                        "results",
                        null,
                        all,
                        Ratios.of(all),
                        outputsEqual,
                        List.of()));
    }

    private static Run fast(String backend, int pair, double eventsPerS) {
        return run(backend, pair).with(EVENTS_PER_S, eventsPerS).build();
    }

    @Test
    void namesTheStrongestOther() {
        Verdict verdict =
                of(
                        true,
                        run("afterbay", 1)
                                .with(EVENTS_PER_S, 180)
                                .with(CPU_US_PER_EVENT, 3)
                                .with(LONGEST_PAUSE_MS, 40)
                                .build(),
                        fast("rocksdb", 1, 60),
                        run("rocksdb-heap-timers", 1)
                                .with(EVENTS_PER_S, 100)
                                .with(CPU_US_PER_EVENT, 5)
                                .with(LONGEST_PAUSE_MS, 4200)
                                .build());
        assertThat(verdict.headline())
                .isEqualTo(
                        "Afterbay is fastest: it processed 1.80x the events of rocksdb-heap-timers,"
                                + " with 0.60x the CPU per event; the longest stall was 40 ms against"
                                + " 4.2 s");
    }

    /** Of two seconds in which the JIT has the processors: three times too slow in one case. */
    @Test
    void aQuickComparisonHasNoVerdict() {
        Run[] runs = {fast("afterbay", 1, 30), fast("hashmap", 1, 90)};
        assertThat(of(true, runs).headline()).startsWith("hashmap is faster");
        Map<String, String> quick = Map.of(Comparison.QUICK, "proves that it runs");
        assertThat(of(quick, true, runs).headline()).startsWith("No verdict: --quick");
        assertThat(of(quick, false, runs).headline()).contains("did not give the same rows");
    }

    @Test
    void saysWhenAfterbayLoses() {
        Verdict verdict =
                of(
                        true,
                        fast("afterbay", 1, 80),
                        fast("hashmap", 1, 100),
                        fast("rocksdb", 1, 40),
                        fast("afterbay", 2, 90),
                        fast("hashmap", 2, 100),
                        fast("rocksdb", 2, 30));
        assertThat(verdict.headline())
                .isEqualTo(
                        "hashmap is faster: Afterbay processed 0.85x [0.80..0.90] its events;"
                                + " Afterbay processed 2.50x [2.00..3.00] the events of rocksdb");
    }

    @Test
    void claimsNothingWherePairsDisagree() {
        Verdict verdict =
                of(
                        true,
                        run("afterbay", 1).with(EVENTS_PER_S, 110).with(MAX_MS, 0.4).build(),
                        run("hashmap", 1).with(EVENTS_PER_S, 100).with(MAX_MS, 12).build(),
                        fast("afterbay", 2, 90),
                        fast("hashmap", 2, 100));
        assertThat(verdict.headline())
                .isEqualTo(
                        "Afterbay and hashmap are equally fast: 1.00x [0.90..1.10] the events; the"
                                + " worst latency was 0.4 ms against 12 ms");
    }

    @Test
    void isNoneWhereNothingCanBeCompared() {
        Run ours = fast("afterbay", 1, 1);
        Run oursFailed = run("afterbay", 1).failed("disk full").build();
        Run otherFailed = run("hashmap", 1).failed("out of memory").build();
        assertThat(of(true, ours).headline()).isEqualTo("No verdict: only Afterbay ran");
        assertThat(of(true, ours, otherFailed).headline())
                .isEqualTo("Only Afterbay finished; hashmap did not");
        assertThat(of(true, oursFailed, fast("hashmap", 1, 1)).headline())
                .isEqualTo("Afterbay did not finish; hashmap did");
        assertThat(of(null, oursFailed, otherFailed).headline())
                .isEqualTo("No verdict: no run finished");
        assertThat(of(false, ours, fast("hashmap", 1, 1)).headline())
                .isEqualTo("No verdict: the backends did not give the same rows");
        assertThat(of(true, ours, run("hashmap", 1).build()).headline())
                .isEqualTo("No verdict: no pair has the throughput of both backends");
    }

    @Test
    void warnsOfWhatPutsFiguresInDoubt() {
        Verdict verdict =
                of(
                        false,
                        fast("afterbay", 1, 1),
                        fast("hashmap", 1, 1),
                        fast("afterbay", 2, 1),
                        run("hashmap", 2).failed("out of memory").build());
        assertThat(verdict.warnings()).allMatch(Warning::bad);
        assertThat(verdict.warnings())
                .extracting(Warning::text)
                .satisfiesExactly(
                        text -> assertThat(text).startsWith("The backends gave different rows"),
                        text ->
                                assertThat(text)
                                        .isEqualTo("hashmap failed in 1 of 2 runs: out of memory"));
    }

    @Test
    void warnsOfWhatFiguresDoNotSay() {
        assertThat(new Verdict(Samples.quick()).warnings())
                .extracting(Warning::bad, warning -> warning.text().contains("one pair only"))
                .containsExactly(org.assertj.core.api.Assertions.tuple(false, true));
        assertThat(new Verdict(Samples.foreignJob()).warnings())
                .extracting(Warning::text)
                .satisfiesExactly(
                        text -> assertThat(text).contains("were not compared"),
                        text -> assertThat(text).contains("latency markers"));
    }
}
