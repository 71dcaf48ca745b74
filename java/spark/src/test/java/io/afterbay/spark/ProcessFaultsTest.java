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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Driver and executors are processes, storage is slow and flaky, and processes are killed with -9.
 * Then vanilla Spark goes on from what they left.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class ProcessFaultsTest {
    private static final boolean IS_LONG = Boolean.getBoolean("afterbay.long");
    private static final int PHASES = 50;
    private static final int BACKLOG = 8;
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(90);

    @TempDir Path all;
    private Path dir;

    /** The query that the test looks at. */
    private Subject query;

    /** One query, its input and what it leaves. */
    private final class Subject {
        final QueryKind kind;
        final InputFiles input;
        final Path directory;
        final TransactionalSink sink;

        Subject(QueryKind kind) throws IOException {
            this.kind = kind;
            input = new InputFiles(Files.createDirectories(inputs().resolve(kind.name())));
            directory = dir.resolve(kind.name());
            sink = new TransactionalSink(Files.createDirectories(directory.resolve("sink")));
        }

        void feed() throws IOException {
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
    void create() throws IOException {
        dir = Files.createDirectories(all.resolve("ours"));
        query = new Subject(QueryKind.WINDOWS);
    }

    private Path inputs() {
        return all.resolve("input");
    }

    /** A query and the mode in which it runs, until an executor and then the driver are killed. */
    private record Phase(QueryKind kind, Mode mode) {}

    private static List<Phase> phases() {
        if (!IS_LONG) {
            return List.of(
                    new Phase(QueryKind.WINDOWS, Mode.STRICT),
                    new Phase(QueryKind.WINDOWS, Mode.PIPELINED),
                    new Phase(QueryKind.PROCESSOR, Mode.PIPELINED),
                    new Phase(QueryKind.JOIN, Mode.STRICT));
        }
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
    @Test
    void killsOfDriverAndExecutorsLoseNothingAndDoubleNothing() throws Exception {
        Random random = new Random(Long.getLong("test.seed", 1));
        Map<QueryKind, Subject> subjects = new EnumMap<>(Map.of(query.kind, query));
        List<Application> applications = new ArrayList<>();
        try {
            for (Phase phase : phases()) {
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
        checkLikeVanilla(List.copyOf(subjects.values()));
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

    static List<Mode> strictOrBoth() {
        return IS_LONG ? List.of(Mode.STRICT, Mode.PIPELINED) : List.of(Mode.STRICT);
    }

    static List<Mode> pipelinedOrBoth() {
        return IS_LONG ? List.of(Mode.STRICT, Mode.PIPELINED) : List.of(Mode.PIPELINED);
    }

    @ParameterizedTest
    @MethodSource("strictOrBoth")
    void aBatchWhoseStateDiedWithItsExecutorsRunsAgain(Mode mode) throws Exception {
        try (Application application =
                Application.onCluster(mode, query.kind, inputs(), dir, flaky("3000"))) {
            awaitBatch(application);
            awaitBatch(application);
            long batch = query.sink.last();
            assertThat(query.directory.resolve("checkpoint/commits/" + batch)).doesNotExist();
            assertThat(application.executors()).hasSize(2).allMatch(ProcessHandle::destroyForcibly);
            awaitBatch(application);
            assertThat(Application.failures(dir))
                    .contains("commits/" + batch + ": state file " + (batch + 1) + "_")
                    .contains("no executor has it");

            while (!query.isDone()) {
                pause(application);
            }
            Thread.sleep(500); // the commit is written, and its state is not published
            assertThat(application.stop()).isZero();
            assertThat(query.last("commits")).isEqualTo(query.sink.last());
        }
        checkLikeVanilla(List.of(query));
    }

    /**
     * Spark believes for two minutes that it lives; its late files are nobody's. In strict mode the
     * driver finds out before; in pipelined mode it waits for tasks that hang, too.
     */
    @ParameterizedTest
    @MethodSource("strictOrBoth")
    void anExecutorThatHangsIsTakenForDeadAndDoesNoHarmWhenItComesBack(Mode mode) throws Exception {
        query = new Subject(QueryKind.FIRST_ONES);
        try (Application application =
                Application.onCluster(mode, query.kind, inputs(), dir, flaky("3000"))) {
            awaitBatch(application);
            long batch = query.sink.last();
            application.signalExecutors("STOP");
            while (!Application.failures(dir).contains("no executor has it")) {
                assertThat(query.last("commits")).isLessThan(batch);
                pause(application);
            }
            application.signalExecutors("CONT");
            awaitBatch(application);
            application.killAll();
        }
        checkLikeVanilla(List.of(query));
    }

    @ParameterizedTest
    @MethodSource("pipelinedOrBoth")
    void nothingIsCommittedThatExecutorsHaveNotPublished(Mode mode) throws Exception {
        query = new Subject(QueryKind.ONE_PARTITION);
        try (Application application =
                Application.onCluster(mode, query.kind, inputs(), dir, flaky("60000"))) {
            awaitBatch(application);
            query.feed();
            Thread.sleep(3_000); // time to go wrong
            assertThat(query.last("commits")).isEqualTo(-1);
            assertThat(query.last("offsets")).isZero();
            assertThat(query.sink.last()).isZero(); // tasks of the next batch are held
            application.killAll();
        }
        checkLikeVanilla(List.of(query));
    }

    /** The control. */
    @Test
    void withoutAcknowledgementsVanillaSparkDoesNotGoOn() throws Exception {
        try (Application application =
                Application.onCluster(Mode.UNGATED, query.kind, inputs(), dir, flaky("60000"))) {
            while (query.last("commits") < 0) {
                query.feed();
                pause(application);
            }
            application.killAll();
        }
        query.input.add(1);
        try (Application vanilla = Application.vanilla(List.of(query.kind), inputs(), dir)) {
            assertThat(vanilla.awaitEnd()).isEqualTo(1);
        }
        assertThat(Application.failures(dir)).contains(".changelog");
    }

    private Application startFlaky(Mode mode) throws IOException {
        return Application.onCluster(
                mode,
                query.kind,
                inputs(),
                dir,
                Map.of(
                        "spark.hadoop.fs.flaky.delay-ms", "8",
                        "spark.hadoop.fs.flaky.state-delay-ms", "400",
                        "spark.hadoop.fs.flaky.errors", "2",
                        "spark.hadoop.fs.flaky.hangs", "1",
                        "spark.afterbay.commit.hangMax", "2s"));
    }

    private static Map<String, String> flaky(String stateDelayMs) {
        return Map.of(
                "spark.hadoop.fs.flaky.state-delay-ms",
                stateDelayMs,
                "spark.afterbay.commit.hangMax",
                "100s");
    }

    /** Until the sink has one more than now. */
    private void awaitBatch(Application application) throws Exception {
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

    private void pause(Application application) throws Exception {
        assertThat(application.isAlive()).as(Application.failures(dir)).isTrue();
        Thread.sleep(100);
    }

    /** Vanilla Spark goes on from here to the end; the rows are those that it has by itself. */
    private void checkLikeVanilla(List<Subject> subjects) throws Exception {
        for (Subject subject : subjects) {
            subject.input.add(3);
        }
        runVanilla(dir, subjects);
        Path reference = Files.createDirectories(all.resolve("vanilla"));
        runVanilla(reference, subjects);
        for (Subject subject : subjects) {
            assertThat(subject.rows(dir))
                    .as("%s", subject.kind)
                    .isEqualTo(subject.rows(reference))
                    .isEqualTo(
                            subject.kind.expected(subject.input.steps()).stream()
                                    .sorted()
                                    .toList());
        }
        assertThat(Application.failures(dir)).doesNotContain("AssertionError");
    }

    private void runVanilla(Path application, List<Subject> subjects) throws Exception {
        List<QueryKind> kinds = subjects.stream().map(s -> s.kind).toList();
        try (Application vanilla = Application.vanilla(kinds, inputs(), application)) {
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
