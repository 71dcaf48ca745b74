package io.afterbay.cli.compare;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Which jobs may run many times. */
class CompareProgramArgumentsTest {
    private final StreamExecutionEnvironment env =
            StreamExecutionEnvironment.getExecutionEnvironment();
    private final CompareProgramArguments arguments = new CompareProgramArguments();

    private void check() throws CommandFailure {
        arguments.comparedRules().check(env.getStreamGraph(), null);
    }

    @Test
    void printingAndDiscardingAreHarmless() {
        DataStream<Long> numbers = env.fromSequence(1, 2);
        numbers.print();
        numbers.sinkTo(new DiscardingSink<>());
        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"print", "blackhole"})
    void tablesThatLeaveNothingBehindAreHarmless(String connector) {
        insertInto("'connector' = '" + connector + "'");
        assertThatCode(this::check).doesNotThrowAnyException();
    }

    private void insertInto(String options) {
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.executeSql("CREATE TABLE t (n BIGINT) WITH (" + options + ")");
        var set = tables.createStatementSet();
        set.addInsertSql("INSERT INTO t VALUES (1)");
        set.attachAsDataStream();
    }

    @Test
    void aTableOfFilesIsRefusedByNameUnlessAllowed() {
        insertInto("'connector' = 'filesystem', 'path' = '/tmp/x', 'format' = 'csv'");
        assertThatThrownBy(this::check)
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("may write to the outside")
                .hasMessageContaining("--allow-side-effects");
    }

    @Test
    void sideEffectsMayBeAllowed() {
        insertInto("'connector' = 'filesystem', 'path' = '/tmp/x', 'format' = 'csv'");
        new CommandLine(new AllArguments(arguments)).parseArgs("--allow-side-effects");
        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @CommandLine.Command
    private record AllArguments(@CommandLine.Mixin CompareProgramArguments arguments) {}

    @Test
    void aJobWithoutAnEndNeedsADuration() {
        GeneratorFunction<Long, Long> same = n -> n;
        DataGeneratorSource<Long> bounded = new DataGeneratorSource<>(same, 5, Types.LONG);
        env.fromSource(bounded, WatermarkStrategy.noWatermarks(), "bounded").print();
        assertThatCode(this::check).doesNotThrowAnyException();
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.executeSql("CREATE TABLE endless (n BIGINT) WITH ('connector' = 'datagen')");
        tables.toDataStream(tables.from("endless")).print();
        assertThatThrownBy(this::check).hasMessageContaining("name --duration D");
    }

    @Test
    void withADurationItMayRun() {
        new CommandLine(new AllArguments(arguments)).parseArgs("--duration=1s");
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.executeSql("CREATE TABLE endless (n BIGINT) WITH ('connector' = 'datagen')");
        tables.toDataStream(tables.from("endless")).print();
        assertThatCode(this::check).doesNotThrowAnyException();
    }

    @Test
    void anotherBackendThanTheOneThatIsMeasuredIsRefused() {
        env.fromSequence(1, 2).print();
        assertThatThrownBy(
                        () ->
                                arguments
                                        .comparedRules()
                                        .check(env.getStreamGraph(), "it is another"))
                .hasMessageContaining("it is another");
    }
}
