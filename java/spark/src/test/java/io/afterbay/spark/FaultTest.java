package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.QueryProcess.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * What tests of applications have in common whose driver and executors are processes. Sources
 * differ; the sink and the comparison with plain Java and with vanilla Spark do not.
 */
abstract class FaultTest {
    static final boolean IS_LONG = Boolean.getBoolean("afterbay.long");

    /** In each, an executor and a driver are killed: a hundred kills in each mode. */
    private static final int PHASES = Integer.getInteger("test.phases", 100);

    private static final int BACKLOG = 8;
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(90);

    @TempDir Path all;
    Path dir;

    /** The query that the test looks at. */
    Subject query;

    /** Empty, for a query of that kind. */
    abstract Input newInput(QueryKind kind) throws Exception;

    /** Where processes find them all, as {@link QueryProcess} takes it. */
    abstract String inputs();

    /** Where applications run. */
    Platform platform() {
        return Platform.own();
    }

    /** One query, its input and what it leaves. */
    final class Subject {
        final QueryKind kind;
        final Input input;
        final Path directory;
        final TransactionalSink sink;

        Subject(QueryKind kind) throws Exception {
            this.kind = kind;
            input = newInput(kind);
            directory = dir.resolve(kind.name());
            sink = new TransactionalSink(Files.createDirectories(directory.resolve("sink")));
        }

        void feed() throws Exception {
            if (input.steps() - kind.steps(sink.rows().size()) < BACKLOG) {
                input.add(1);
            }
        }

        /** Whether all rows are out. */
        boolean isDone() throws IOException {
            return rows(dir).size() >= kind.expected(input.steps()).size();
        }

        List<String> rows(Path application) throws IOException {
            Path of = application.resolve(kind.name()).resolve("sink");
            return new TransactionalSink(of).rows().stream().sorted().toList();
        }

        long last(String log) throws IOException {
            Path files = directory.resolve("checkpoint").resolve(log);
            if (!Files.exists(files)) {
                return -1;
            }
            try (Stream<Path> names = Files.list(files)) {
                return names.map(f -> f.getFileName().toString())
                        .filter(n -> n.matches("\\d+"))
                        .mapToLong(Long::parseLong)
                        .max()
                        .orElse(-1);
            }
        }

        /** Where the batches are: what is published, and what the sink has. */
        String phase() throws IOException {
            return kind
                    + ": offsets "
                    + last("offsets")
                    + ", sink "
                    + sink.last()
                    + ", commits "
                    + last("commits");
        }
    }

    @BeforeEach
    final void createSubject() throws Exception {
        dir = Files.createDirectories(all.resolve("ours"));
        query = new Subject(QueryKind.WINDOWS);
    }

    /** A query and the mode in which it runs, until an executor and then the driver are killed. */
    record Phase(QueryKind kind, Mode mode) {}

    /** All kinds of queries, each of which goes on in the other mode. */
    static List<Phase> longPhases() {
        QueryKind[] kinds = QueryKind.values();
        return IntStream.range(0, PHASES)
                .mapToObj(
                        i ->
                                new Phase(
                                        kinds[i / 2 % kinds.length],
                                        i % 2 == 0 ? Mode.STRICT : Mode.PIPELINED))
                .toList();
    }

    /** A query goes on in the other mode while executors of its dead driver may still write. */
    final List<Subject> killInAll(List<Phase> phases) throws Exception {
        Random random = new Random(Long.getLong("test.seed", 1));
        Map<QueryKind, Subject> subjects = new EnumMap<>(Map.of(query.kind, query));
        List<Application> applications = new ArrayList<>();
        try {
            for (Phase phase : phases) {
                query = subjects.get(phase.kind());
                if (query == null) {
                    query = new Subject(phase.kind());
                    subjects.put(phase.kind(), query);
                }
                Application application = startFlaky(phase.mode());
                applications.add(application);
                killTwice(application, phase.mode(), random);
            }
        } finally {
            for (Application application : applications) {
                application.close();
            }
        }
        Application.reasons(dir).forEach(System.out::println);
        return List.copyOf(subjects.values());
    }

    private void killTwice(Application application, Mode mode, Random random) throws Exception {
        awaitKillableBatch(application, random);
        while (!application.killExecutor(random)) {
            pause(application);
        }
        System.out.println(mode + ", executor killed: " + query.phase());
        awaitKillableBatch(application, random);
        application.killDriver();
        System.out.println(mode + ", driver killed: " + query.phase());
    }

    private void awaitKillableBatch(Application application, Random random) throws Exception {
        awaitBatch(application);
        Thread.sleep(random.nextInt(1_000));
    }

    final Application startFlaky(Mode mode) throws IOException {
        return start(
                mode,
                Map.of(
                        "spark.hadoop.fs.flaky.delay-ms", "8",
                        "spark.hadoop.fs.flaky.state-delay-ms", "400",
                        "spark.hadoop.fs.flaky.errors", "2",
                        "spark.hadoop.fs.flaky.hangs", "1",
                        "spark.afterbay.commit.hangMax", "2s"));
    }

    final Application start(Mode mode, Map<String, String> more) throws IOException {
        return Application.onCluster(platform(), mode, query.kind, inputs(), dir, more);
    }

    final Application startVanilla(List<QueryKind> kinds, Path application) throws IOException {
        return Application.vanilla(platform(), kinds, inputs(), application);
    }

    static Map<String, String> flaky(String stateDelayMs) {
        return Map.of(
                "spark.hadoop.fs.flaky.state-delay-ms",
                stateDelayMs,
                "spark.afterbay.commit.hangMax",
                "100s");
    }

    /** Until the sink has one more than now. */
    final void awaitBatch(Application application) throws Exception {
        long batch = query.sink.last();
        long began = System.nanoTime();
        while (query.sink.last() == batch) {
            query.feed();
            pause(application);
            assertThat(System.nanoTime() - began)
                    .as("a batch after %s; %s", batch, query.phase())
                    .isLessThan(WAIT_NANOS);
        }
    }

    final void pause(Application application) throws Exception {
        assertThat(application.isAlive()).as(Application.failures(dir)).isTrue();
        Thread.sleep(100);
    }

    /** Vanilla Spark goes on from here to the end; the rows are those that it has by itself. */
    final void checkLikeVanilla(List<Subject> subjects) throws Exception {
        checkGoesOn(subjects);
        Path reference = Files.createDirectories(all.resolve("vanilla"));
        runVanilla(reference, subjects);
        for (Subject subject : subjects) {
            assertThat(subject.rows(dir)).as("%s", subject.kind).isEqualTo(subject.rows(reference));
        }
    }

    /** Vanilla Spark goes on from here to the end; the rows are those of plain Java. */
    final void checkGoesOn(List<Subject> subjects) throws Exception {
        for (Subject subject : subjects) {
            subject.input.add(3);
        }
        runVanilla(dir, subjects);
        for (Subject subject : subjects) {
            assertThat(subject.rows(dir))
                    .as("%s", subject.kind)
                    .isEqualTo(
                            subject.kind.expected(subject.input.steps()).stream()
                                    .sorted()
                                    .toList());
        }
        assertThat(Application.failures(dir)).doesNotContain("AssertionError");
    }

    private void runVanilla(Path application, List<Subject> subjects) throws Exception {
        List<QueryKind> kinds = subjects.stream().map(s -> s.kind).toList();
        try (Application vanilla = startVanilla(kinds, application)) {
            for (Subject subject : subjects) {
                int rows = subject.kind.expected(subject.input.steps()).size();
                Files.createDirectories(application.resolve(subject.kind.name()).resolve("sink"));
                while (subject.rows(application).size() < rows) {
                    assertThat(vanilla.isAlive()).as(Application.failures(application)).isTrue();
                    Thread.sleep(100);
                }
            }
            assertThat(vanilla.stop()).isZero();
        }
    }
}
