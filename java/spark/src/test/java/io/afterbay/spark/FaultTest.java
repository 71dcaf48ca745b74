package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.QueryProcess.Mode;
import io.afterbay.testing.Await;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * What tests of applications have in common whose driver and executors are processes. Sources
 * differ; the sink and the comparison with plain Java and with vanilla Spark do not.
 */
abstract class FaultTest {
    /** With it, the first four kills are of a driver and of an executor, in both modes. */
    private static final long SEED = 1;

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

    @BeforeEach
    final void createSubject() throws Exception {
        dir = Files.createDirectories(all.resolve("ours"));
        query = subject(QueryKind.WINDOWS);
    }

    final Subject subject(QueryKind kind) throws Exception {
        return new Subject(kind, newInput(kind), dir);
    }

    /**
     * Queries of these kinds run together, half of them in each mode. With each start they go on in
     * the other one, while executors of their dead driver may still write. Each kill hits all of
     * them.
     */
    final Kills killInAll(int usual, QueryKind... kinds) throws Exception {
        int count = Integer.getInteger("test.kills", usual);
        Map<QueryKind, Subject> subjects = new EnumMap<>(Map.of(query.kind, query));
        for (QueryKind kind : kinds) {
            if (!subjects.containsKey(kind)) {
                subjects.put(kind, subject(kind));
            }
        }
        long began = System.nanoTime();
        Kills kills = new Kills(subjects, random());
        List<Application> applications = new ArrayList<>();
        try {
            while (kills.count() < count) {
                Map<QueryKind, Mode> modes = kills.modes(applications.size());
                Application application =
                        Application.onCluster(platform(), modes, inputs(), dir, FAULTS);
                applications.add(application);
                kills.kill(application, modes, count);
            }
        } finally {
            for (Application application : applications) {
                application.close();
            }
        }
        Application.reasons(dir).forEach(System.out::println);
        System.out.printf(
                "%d kills, %d starts, %d s: %s%n",
                count,
                applications.size(),
                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began),
                kills);
        return kills;
    }

    /**
     * The same kills in the same order; what they hit depends on the time, too. Others come in the
     * long form only.
     */
    private static Random random() {
        long usual = TestForm.IS_LONG ? new Random().nextInt() : SEED;
        long seed = Long.getLong("test.seed", usual);
        System.out.println("again with: -Dtest.seed=" + seed);
        return new Random(seed);
    }

    /** Of all kinds, and some of them of some files. */
    private static final Map<String, String> FAULTS =
            Map.of(
                    "spark.hadoop.fs.flaky.seed", TestForm.IS_LONG ? "0" : "1",
                    "spark.hadoop.fs.flaky.delay-ms", "8",
                    "spark.hadoop.fs.flaky.state-delay-ms", "400",
                    "spark.hadoop.fs.flaky.log-delay-ms", "100",
                    "spark.hadoop.fs.flaky.bytes-per-s", "1000000",
                    "spark.hadoop.fs.flaky.errors", "2",
                    "spark.hadoop.fs.flaky.hangs", "1",
                    "spark.afterbay.commit.hangMax", "2s");

    final Application start(Mode mode, Map<String, String> more) throws IOException {
        return Application.onCluster(platform(), Map.of(query.kind, mode), inputs(), dir, more);
    }

    final Application startVanilla(List<QueryKind> kinds, List<Path> applications)
            throws IOException {
        return Application.vanilla(platform(), kinds, inputs(), applications);
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
        Await.until(
                () -> "a batch after %s; %s".formatted(batch, query.state()),
                () -> {
                    query.feed();
                    pause(application);
                    return query.sink.last() != batch;
                });
    }

    final void pause(Application application) throws Exception {
        assertThat(application.isAlive()).as(Application.failures(dir)).isTrue();
        Thread.sleep(100);
    }

    /** Vanilla Spark goes on from here to the end; the rows are those that it has by itself. */
    final void checkLikeVanilla(List<Subject> subjects) throws Exception {
        Path reference = Files.createDirectories(all.resolve("vanilla"));
        checkGoesOn(subjects, List.of(dir, reference));
        for (Subject subject : subjects) {
            assertThat(subject.rows(dir)).as("%s", subject.kind).isEqualTo(subject.rows(reference));
        }
    }

    /** Vanilla Spark goes on from here to the end; the rows are those of plain Java. */
    final void checkGoesOn(List<Subject> subjects) throws Exception {
        checkGoesOn(subjects, List.of(dir));
    }

    private void checkGoesOn(List<Subject> subjects, List<Path> directories) throws Exception {
        for (Subject subject : subjects) {
            subject.input.add(3);
        }
        runVanilla(subjects, directories);
        checkRows(subjects);
        assertThat(Application.failures(dir)).doesNotContain("AssertionError");
    }

    /** Those of plain Java, each once. */
    final void checkRows(List<Subject> subjects) throws Exception {
        for (Subject subject : subjects) {
            assertThat(subject.rows(dir))
                    .as("%s", subject.kind)
                    .isEqualTo(
                            subject.kind.expected(subject.input.steps()).stream()
                                    .sorted()
                                    .toList());
        }
    }

    /** Until all input is read, however many rows that makes. */
    final void runVanilla(List<Subject> subjects, List<Path> directories) throws Exception {
        List<QueryKind> kinds = subjects.stream().map(s -> s.kind).toList();
        try (Application vanilla = startVanilla(kinds, directories)) {
            int code = vanilla.stop(TestForm.SPARK_VANILLA_SECONDS_MAX);
            assertThat(code).as(Application.failures(dir)).isZero();
        }
    }

    /**
     * The control: commits do not wait for what executors publish, and vanilla Spark cannot go on.
     */
    final void checkControl(Mode ungated) throws Exception {
        query.holdState(true);
        try (Application application = start(ungated, flaky("0"))) {
            while (query.last("commits") < 0) {
                query.feed();
                pause(application);
            }
            application.killAll();
        }
        query.holdState(false);
        query.input.add(1);
        try (Application vanilla = startVanilla(List.of(query.kind), List.of(dir))) {
            assertThat(vanilla.awaitEnd()).isEqualTo(1);
        }
        assertThat(Application.failures(dir)).contains(".changelog");
    }
}
