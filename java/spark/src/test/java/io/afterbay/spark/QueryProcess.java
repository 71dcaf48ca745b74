package io.afterbay.spark;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;

/**
 * An application in a process of its own, which may be killed at any time. It starts its query
 * again when that fails, as whoever looks after a query would, until {@code stop} is there in its
 * directory. It writes to there why the query failed.
 *
 * <pre>
 *   DIR/input/  DIR/NAME/checkpoint/  DIR/NAME/sink/  DIR/NAME/failures  DIR/NAME/stop
 * </pre>
 */
public final class QueryProcess {
    /** How the query runs. */
    enum Mode {
        OURS,
        UNGATED,
        VANILLA
    }

    private final Mode mode;
    private final Path dir;
    private final int failuresMax;
    private final StatefulQuery query;

    private QueryProcess(Mode mode, Path input, Path dir, int failuresMax) throws IOException {
        this.mode = mode;
        this.dir = dir;
        this.failuresMax = failuresMax;
        Path sink = Files.createDirectories(dir.resolve("sink"));
        query =
                new StatefulQuery(
                        checkpoint(), new TransactionalSink(sink), StatefulQuery.files(input));
    }

    /** Vanilla Spark has the files as they are. */
    private String checkpoint() {
        String path = dir.resolve("checkpoint").toString();
        return mode == Mode.VANILLA ? path : FlakyFileSystem.SCHEME + "://" + path;
    }

    /** Arguments: mode, input, directory, failures allowed, then settings as KEY=VALUE. */
    public static void main(String[] args) throws Exception {
        QueryProcess process =
                new QueryProcess(
                        Mode.valueOf(args[0]),
                        Path.of(args[1]),
                        Path.of(args[2]),
                        Integer.parseInt(args[3]));
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
        switch (mode) {
            case OURS -> TestSpark.plugin(builder, AfterbaySparkPlugin.class);
            case UNGATED -> TestSpark.plugin(builder, UngatedPlugin.class);
            case VANILLA -> {}
        }
        if (mode != Mode.VANILLA) {
            builder.config(
                            QuerySettings.FILE_MANAGER,
                            AfterbayCheckpointFileManager.class.getName())
                    .config("spark.hadoop.fs.flaky.impl", FlakyFileSystem.class.getName());
        }
        settings.forEach(builder::config);
        SparkSession spark = builder.getOrCreate();
        int failures = 0;
        while (!runQuery(spark)) {
            if (++failures > failuresMax) {
                return 1;
            }
        }
        spark.stop();
        return 0;
    }

    /** Whether it ended since it should. */
    private boolean runQuery(SparkSession spark) throws IOException {
        try {
            StreamingQuery running = query.start(spark);
            while (!running.awaitTermination(50)) {
                if (Files.exists(dir.resolve("stop"))) {
                    running.stop();
                    return true;
                }
            }
            throw new AssertionError("the query ended by itself");
        } catch (Exception e) { // of the query, or of its start
            note(e);
            return false;
        }
    }

    private void note(Throwable failure) throws IOException {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        Files.writeString(
                dir.resolve("failures"),
                text + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }
}
