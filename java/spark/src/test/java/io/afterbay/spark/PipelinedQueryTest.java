package io.afterbay.spark;

import static org.apache.spark.sql.functions.col;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.DataStreamReader;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which queries may run in pipelined mode. */
class PipelinedQueryTest {
    private static final String SOCKET =
            "org.apache.spark.sql.execution.streaming.sources.TextSocketSourceProvider";
    private static SparkSession spark;

    @TempDir Path dir;

    @BeforeAll
    static void startSpark() {
        spark = TestSpark.settings(SparkSession.builder().master("local[1]")).getOrCreate();
    }

    @AfterAll
    static void stopSpark() {
        spark.stop();
    }

    private static void check(Dataset<Row> query, String... alsoReplayable) {
        new PipelinedQuery(
                        new UUID(0, 7), query.queryExecution().analyzed(), Set.of(alsoReplayable))
                .check();
    }

    private Dataset<Row> files(String... option) {
        DataStreamReader reader = spark.readStream().schema("value BIGINT");
        for (int i = 0; i < option.length; i += 2) {
            reader = reader.option(option[i], option[i + 1]);
        }
        return reader.csv(dir.toString());
    }

    private static Dataset<Row> socket() {
        return spark.readStream()
                .format("socket")
                .option("host", "localhost")
                .option("port", "1")
                .load();
    }

    private static Dataset<Row> generated() {
        return spark.readStream().format("rate").load();
    }

    private static Dataset<Row> counts(Dataset<Row> rows) {
        return rows.groupBy("value").count();
    }

    @Test
    void acceptsSourcesThatKeepTheirInput() {
        for (Dataset<Row> rows : List.of(generated(), files(), files("cleanSource", "OFF"))) {
            assertThatCode(() -> check(counts(rows))).doesNotThrowAnyException();
        }
        Dataset<Row> table = spark.range(5).toDF("value");
        assertThatCode(() -> check(counts(generated().join(table, "value"))))
                .doesNotThrowAnyException();
    }

    @Test
    void acceptsEachKindOfState() {
        Dataset<Row> rows = generated().withWatermark("timestamp", "1 second");
        Dataset<Row> others = rows.select(col("value"), col("timestamp").as("time"));
        for (Dataset<Row> query :
                List.of(
                        rows.dropDuplicates("value"),
                        rows.dropDuplicatesWithinWatermark("value"),
                        rows.distinct(),
                        rows.limit(7),
                        rows.join(others, "value"))) {
            assertThatCode(() -> check(query)).doesNotThrowAnyException();
        }
    }

    @Test
    void refusesQueriesWithoutState() {
        Dataset<Row> table = counts(spark.range(5).toDF("value"));
        for (Dataset<Row> query :
                List.of(
                        generated(),
                        generated().join(table, "value").select("value"),
                        counts(generated()).select("value").union(generated().select("value")))) {
            assertThatThrownBy(() -> check(query))
                    .hasMessageContaining("cannot run query 00000000-0000-0000-0000-000000000007")
                    .hasMessageContaining("rows reach its sink past all state")
                    .hasMessageEndingWith("Set spark.afterbay.commit.mode=strict in its session");
        }
    }

    @Test
    void refusesSourcesThatMayDiscardTheirInput() {
        for (Dataset<Row> rows : List.of(socket(), generated().select("value").union(socket()))) {
            assertThatThrownBy(() -> check(counts(rows)))
                    .hasMessageContaining("its source socket (" + SOCKET + ") may discard")
                    .hasMessageContaining("Set spark.afterbay.commit.mode=strict in its session")
                    .hasMessageEndingWith(
                            "add " + SOCKET + " to spark.afterbay.commit.replayableSources");
        }
        assertThatCode(() -> check(counts(socket()), SOCKET)).doesNotThrowAnyException();
    }

    @Test
    void refusesFilesThatAreCleanedUp() {
        for (String how : new String[] {"delete", "archive"}) {
            Dataset<Row> rows = files("cleanSource", how, "sourceArchiveDir", "/archive");
            assertThatThrownBy(() -> check(counts(rows)))
                    .hasMessageContaining("has cleanSource=" + how)
                    .hasMessageEndingWith("in its session, or the option cleanSource=off");
        }
    }
}
