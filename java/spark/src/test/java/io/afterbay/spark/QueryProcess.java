package io.afterbay.spark;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;

/**
 * An application in a process of its own, which may be killed at any time. It starts its queries
 * again when they fail, as whoever looks after a query would, until {@code stop} is there in its
 * directory. It writes to there why they failed.
 *
 * <pre>
 *   INPUT/KIND/ or topic KIND-SUFFIX of INPUT, kafka:HOST:PORT-SUFFIX
 *   DIR/KIND/checkpoint/  DIR/KIND/sink/  DIR/failures  DIR/stop  DIR/versions
 * </pre>
 */
public final class QueryProcess {
    /** How the query runs. */
    enum Mode {
        STRICT,
        PIPELINED,
        UNGATED,
        VANILLA
    }

    /** How an input begins that is a broker, which then has a topic for each query. */
    static final String KAFKA = "kafka:";

    private final Mode mode;
    private final Path dir;
    private final int failuresMax;
    private final Map<QueryKind, StatefulQuery> queries = new EnumMap<>(QueryKind.class);

    private QueryProcess(Mode mode, String input, Path dir, int failuresMax, List<QueryKind> kinds)
            throws IOException {
        this.mode = mode;
        this.dir = dir;
        this.failuresMax = failuresMax;
        for (QueryKind kind : kinds) {
            queries.put(kind, query(kind, numbers(kind, input)));
        }
    }

    private static Function<SparkSession, Dataset<Row>> numbers(QueryKind kind, String input) {
        if (!input.startsWith(KAFKA)) {
            return StatefulQuery.files(Path.of(input, kind.name()));
        }
        String[] broker = input.substring(KAFKA.length()).split("-", 2);
        return StatefulQuery.kafka(broker[0], kind.name() + "-" + broker[1]);
    }

    private StatefulQuery query(QueryKind kind, Function<SparkSession, Dataset<Row>> numbers)
            throws IOException {
        Path to = dir.resolve(kind.name());
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

    /** Arguments: mode, input, directory, failures allowed, kinds, then settings as KEY=VALUE. */
    public static void main(String[] args) throws Exception {
        QueryProcess process =
                new QueryProcess(
                        Mode.valueOf(args[0]),
                        args[1],
                        Path.of(args[2]),
                        Integer.parseInt(args[3]),
                        Stream.of(args[4].split(",")).map(QueryKind::valueOf).toList());
        Map<String, String> settings = new HashMap<>();
        for (int i = 5; i < args.length; i++) {
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
        switch (mode) {
            case STRICT, PIPELINED -> TestSpark.plugin(builder, AfterbaySparkPlugin.class);
            case UNGATED -> TestSpark.plugin(builder, UngatedPlugin.class);
            case VANILLA -> {}
        }
        if (mode != Mode.VANILLA) {
            builder.config(
                    QuerySettings.FILE_MANAGER, AfterbayCheckpointFileManager.class.getName());
        }
        builder.config("spark.hadoop.fs.flaky.impl", FlakyFileSystem.class.getName());
        if (mode == Mode.PIPELINED) {
            builder.config(QuerySettings.MODE, "pipelined");
        }
        settings.forEach(builder::config);
        SparkSession spark = builder.getOrCreate();
        append("versions", spark.version() + " on Java " + Runtime.version().feature() + "\n");
        int failures = 0;
        while (!runQueries(spark)) {
            if (++failures > failuresMax) {
                return 1;
            }
        }
        spark.stop();
        return 0;
    }

    /** Whether they ended since they should. One that fails takes the others with it. */
    private boolean runQueries(SparkSession spark) throws Exception {
        List<StreamingQuery> running = new ArrayList<>();
        try {
            for (Map.Entry<QueryKind, StatefulQuery> query : queries.entrySet()) {
                running.add(query.getValue().start(query.getKey().session(spark)));
            }
            while (!Files.exists(dir.resolve("stop"))) {
                for (StreamingQuery query : running) {
                    if (query.awaitTermination(50)) {
                        throw new AssertionError("the query ended by itself");
                    }
                }
            }
            return true;
        } catch (Exception e) { // of a query, or of its start
            note(e);
            return false;
        } finally {
            for (StreamingQuery query : running) {
                query.stop();
            }
        }
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
