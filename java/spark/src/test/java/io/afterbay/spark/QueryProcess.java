package io.afterbay.spark;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;

/**
 * An application in a process of its own, which may be killed at any time. It starts a query again
 * when it fails, as whoever looks after it would, until {@code stop} is there in its directory. It
 * writes to there why they failed. With several directories, the same queries run in each of them.
 *
 * <pre>
 *   INPUT/KIND/ or topic KIND-SUFFIX of INPUT, kafka:HOST:PORT-SUFFIX
 *   DIR/KIND/checkpoint/  DIR/KIND/sink/  and, in the first, failures  stop  versions
 * </pre>
 */
public final class QueryProcess {
    /** How a query runs. */
    enum Mode {
        STRICT,
        PIPELINED,
        UNGATED,
        UNGATED_PIPELINED,
        VANILLA;

        boolean isPipelined() {
            return this == PIPELINED || this == UNGATED_PIPELINED;
        }
    }

    /** How an input begins that is a broker, which then has a topic for each query. */
    static final String KAFKA = "kafka:";

    private static final int LOOK_MILLIS = 50;

    /** Before a query that has ended by itself is started again. */
    private static final int PAUSE_MILLIS = 200;

    private static final Trigger ALWAYS = Trigger.ProcessingTime(0);

    /** A batch of vanilla Spark may have more, to be done sooner, and fewer than a repetition. */
    private static final int STEPS_MAX = 2;

    private static final int STEPS_MAX_VANILLA = 4;

    private final Path dir;
    private final int failuresMax;
    private final List<Restarted> queries = new ArrayList<>();

    /** A query that is started again. */
    private static final class Restarted {
        private final StatefulQuery query;
        private final QueryKind kind;
        private final Mode mode;
        private StreamingQuery running;
        private long notBeforeMillis;

        Restarted(StatefulQuery query, QueryKind kind, Mode mode) {
            this.query = query;
            this.kind = kind;
            this.mode = mode;
        }

        void look(SparkSession spark, int millis) throws Exception {
            if (running == null && System.currentTimeMillis() >= notBeforeMillis) {
                running = query.start(session(spark), trigger());
            }
            if (running != null && running.awaitTermination(millis)) {
                if (trigger().equals(ALWAYS)) {
                    throw new AssertionError("the query ended by itself");
                }
                running = null;
                notBeforeMillis = System.currentTimeMillis() + PAUSE_MILLIS;
            }
        }

        private Trigger trigger() {
            return mode == Mode.VANILLA ? ALWAYS : kind.trigger();
        }

        private SparkSession session(SparkSession spark) {
            SparkSession session = spark.newSession();
            kind.settings().forEach(session.conf()::set);
            if (mode.isPipelined()) {
                session.conf().set(QuerySettings.MODE, "pipelined");
            }
            return session;
        }

        void failed() {
            running = null;
        }

        /** Vanilla Spark reads all of its input before. */
        void stop() throws Exception {
            if (running != null) {
                if (mode == Mode.VANILLA) {
                    running.processAllAvailable();
                }
                running.stop();
            }
        }
    }

    private QueryProcess(
            Map<QueryKind, Mode> kinds, String input, List<Path> directories, int failuresMax)
            throws IOException {
        this.dir = directories.get(0);
        this.failuresMax = failuresMax;
        for (Path directory : directories) {
            for (Map.Entry<QueryKind, Mode> entry : kinds.entrySet()) {
                QueryKind kind = entry.getKey();
                Mode mode = entry.getValue();
                int stepsMax = mode == Mode.VANILLA ? STEPS_MAX_VANILLA : STEPS_MAX;
                StatefulQuery query =
                        query(kind, directory.resolve(kind.name()), numbers(kind, input, stepsMax));
                queries.add(new Restarted(query, kind, mode));
            }
        }
    }

    private static Function<SparkSession, Dataset<Row>> numbers(
            QueryKind kind, String input, int stepsMax) {
        if (!input.startsWith(KAFKA)) {
            return StatefulQuery.files(Path.of(input, kind.name()), stepsMax);
        }
        String[] broker = input.substring(KAFKA.length()).split("-", 2);
        return StatefulQuery.kafka(broker[0], kind.name() + "-" + broker[1], stepsMax);
    }

    private static StatefulQuery query(
            QueryKind kind, Path to, Function<SparkSession, Dataset<Row>> numbers)
            throws IOException {
        TransactionalSink sink = new TransactionalSink(Files.createDirectories(to.resolve("sink")));
        Path checkpoint = to.resolve("checkpoint");
        sink.afterEach(batch -> checkOffsets(checkpoint, batch));
        return new StatefulQuery(kind, location(checkpoint), sink, numbers);
    }

    /** Whoever restarts must find the end of a batch that the sink may have. */
    private static void checkOffsets(Path checkpoint, long batch) {
        if (!Files.exists(checkpoint.resolve("offsets/" + batch))) {
            throw new AssertionError("batch " + batch + " is in the sink before its offsets");
        }
    }

    /** Also for vanilla Spark, without faults: operators note the scheme in the checkpoint. */
    private static String location(Path checkpoint) {
        return FlakyFileSystem.SCHEME + "://" + checkpoint;
    }

    /** Arguments: KIND=MODE,..., input, directories, failures allowed, settings as KEY=VALUE. */
    public static void main(String[] args) throws Exception {
        Map<QueryKind, Mode> kinds = new HashMap<>();
        for (String kind : args[0].split(",")) {
            String[] words = kind.split("=");
            kinds.put(QueryKind.valueOf(words[0]), Mode.valueOf(words[1]));
        }
        List<Path> directories = Stream.of(args[2].split(",")).map(Path::of).toList();
        QueryProcess process =
                new QueryProcess(kinds, args[1], directories, Integer.parseInt(args[3]));
        Map<String, String> settings = new HashMap<>();
        for (int i = 4; i < args.length; i++) {
            String[] setting = args[i].split("=", 2);
            settings.put(setting[0], setting[1]);
        }
        int code = 2;
        try {
            code = process.run(settings);
        } catch (Exception | LinkageError | AssertionError e) {
            process.note(e);
        }
        System.exit(code); // Spark's threads would go on
    }

    private int run(Map<String, String> settings) throws Exception {
        SparkSession.Builder builder = TestSpark.settings(SparkSession.builder());
        switch (queries.get(0).mode) {
            case STRICT, PIPELINED -> TestSpark.plugin(builder, AfterbaySparkPlugin.class);
            case UNGATED, UNGATED_PIPELINED -> TestSpark.plugin(builder, UngatedPlugin.class);
            case VANILLA -> {}
        }
        builder.config("spark.hadoop.fs.flaky.impl", FlakyFileSystem.class.getName());
        settings.forEach(builder::config);
        SparkSession spark = builder.getOrCreate();
        append("versions", spark.version() + " on Java " + Runtime.version().feature() + "\n");
        boolean isStopped = runUntilStopped(spark);
        if (isStopped) {
            spark.stop();
        }
        return isStopped ? 0 : 1;
    }

    /** {@code false} if they fail too often. They are started, even if they are to stop at once. */
    private boolean runUntilStopped(SparkSession spark) throws Exception {
        int failures = 0;
        do {
            for (Restarted query : queries) {
                try {
                    query.look(spark, LOOK_MILLIS / queries.size() + 1);
                } catch (Exception e) { // of a query, or of its start
                    note(e);
                    query.failed();
                    if (++failures > failuresMax) {
                        return false;
                    }
                }
            }
        } while (!Files.exists(dir.resolve("stop")));
        for (Restarted query : queries) {
            query.stop();
        }
        return true;
    }

    private void note(Throwable failure) throws IOException {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        append("failures", text + "\n");
    }

    private void append(String file, String text) throws IOException {
        Files.writeString(
                dir.resolve(file), text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
