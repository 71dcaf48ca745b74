package io.afterbay.workloads.nexmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.TestForm;
import io.afterbay.workloads.run.Backends;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every query on every backend, with checkpoints, against the answer without an engine. */
class QueriesTest {
    private static final String AFTERBAY = "io.afterbay.flink.AfterbayStateBackendFactory";
    private static final List<String> OTHERS = List.of("hashmap", "rocksdb", "rocksdb-heap-timers");

    @TempDir private Path directory;

    /** In the normal form, all on ours, and one on each of the others. */
    static Stream<Arguments> queriesAndBackends() {
        Stream<Query> onOthers =
                TestForm.IS_LONG ? Stream.of(Query.values()) : Stream.of(Query.Q7_SESSION);
        return Stream.concat(
                Stream.of(Query.values()).map(query -> Arguments.of(query, AFTERBAY)),
                onOthers.flatMap(
                        query -> OTHERS.stream().map(other -> Arguments.of(query, other))));
    }

    static List<Query> oneOrAll() {
        return TestForm.IS_LONG ? List.of(Query.values()) : List.of(Query.Q7);
    }

    @ParameterizedTest
    @MethodSource("queriesAndBackends")
    void everyBackendGivesTheRightRows(Query query, String backend) throws Exception {
        Path output = directory.resolve("rows.csv");
        NexmarkOptions options = Samples.options(query).writingTo(output.toString());
        run(options, backend);
        Verification verification = Verification.ofFile(options, output);
        assertThat(verification.examples()).isEmpty();
        assertThat(verification.isEqual()).isTrue();
        assertThat(verification.rows()).isGreaterThan(Samples.rowsAtLeast(query));
        NexmarkStatistics statistics = NexmarkStatistics.of(options.run());
        assertThat(statistics.accepted()).isEqualTo(options.events());
        assertThat(statistics.rows()).isEqualTo(verification.rows());
        assertThat(statistics.latencyMicros().getTotalCount()).isPositive();
    }

    /** The negative control: a comparison that cannot fail would prove nothing. */
    @ParameterizedTest
    @MethodSource("oneOrAll")
    void aWrongDoubledOrMissingRowIsFound(Query query) throws Exception {
        Path output = directory.resolve("rows.csv");
        NexmarkOptions options = Samples.options(query).writingTo(output.toString());
        List<String> right = new ArrayList<>(List.of(query.header()));
        query.reference().run(options, row -> right.add(row.csv()));
        assertThat(verify(options, right).isEqual()).isTrue();

        List<String> doubled = new ArrayList<>(right);
        doubled.add(right.get(1));
        assertThat(verify(options, doubled)).matches(v -> v.surplus() == 1 && v.missing() == 0);

        List<String> lost = new ArrayList<>(right);
        String row = lost.remove(lost.size() / 2);
        assertThat(verify(options, lost)).matches(v -> v.surplus() == 0 && v.missing() == 1);
        assertThat(verify(options, lost).examples()).containsExactly(row + " missing 1");

        List<String> wrong = new ArrayList<>(lost);
        wrong.add(row + "0");
        assertThat(verify(options, wrong)).matches(v -> v.surplus() == 1 && v.missing() == 1);
    }

    private static Verification verify(NexmarkOptions options, List<String> lines)
            throws IOException {
        Path output = Path.of(options.output());
        Files.write(output, lines);
        return Verification.ofFile(options, output);
    }

    private void run(NexmarkOptions options, String backend) throws Exception {
        NexmarkStatistics.forget(options.run());
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(
                        2, Backends.settings(backend, directory, Duration.ofMillis(200)));
        Nexmark.build(env, options);
        env.execute();
    }
}
