package io.afterbay.cli.sql;

import io.afterbay.command.flink.sql.Script;
import io.afterbay.command.flink.sql.ScriptException;
import io.afterbay.command.flink.sql.Statement;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.ExplainDetail;
import org.apache.flink.table.api.ExplainFormat;
import org.apache.flink.table.api.ResultKind;
import org.apache.flink.table.api.SqlParserEOFException;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.api.internal.TableResultInternal;
import org.apache.flink.table.operations.BeginStatementSetOperation;
import org.apache.flink.table.operations.EndStatementSetOperation;
import org.apache.flink.table.operations.ExplainOperation;
import org.apache.flink.table.operations.ModifyOperation;
import org.apache.flink.table.operations.Operation;
import org.apache.flink.table.operations.QueryOperation;
import org.apache.flink.table.operations.StatementSetOperation;
import org.apache.flink.table.operations.command.AddJarOperation;
import org.apache.flink.table.operations.command.ClearOperation;
import org.apache.flink.table.operations.command.HelpOperation;
import org.apache.flink.table.operations.command.QuitOperation;
import org.apache.flink.table.operations.command.ResetOperation;
import org.apache.flink.table.operations.command.SetOperation;
import org.apache.flink.table.utils.print.PrintStyle;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.jspecify.annotations.Nullable;

/**
 * Runs the statements of a script one after the other; those that start a job wait for its end.
 * What Flink's SQL client adds to the table environment is here: SET, RESET, statement sets over
 * several statements, and the rows of a SELECT.
 */
final class SqlSession {
    private final StreamExecutionEnvironment environment;
    private final boolean remote;
    private final ScriptRun selections;
    private final ScriptRun.OptionCheck options;
    private final PrintStream out;
    private final List<String> jars = new ArrayList<>();
    private StreamTableEnvironment tables;
    private @Nullable List<ModifyOperation> statementSet;
    private boolean onlySettings = true;
    private boolean quit;

    SqlSession(
            ScriptRun selections,
            StreamExecutionEnvironment environment,
            boolean remote,
            ScriptRun.OptionCheck options,
            PrintStream out) {
        this.environment = environment;
        this.remote = remote;
        this.selections = selections;
        this.options = options;
        this.out = out;
        this.tables = tables(environment.getConfiguration().get(ExecutionOptions.RUNTIME_MODE));
    }

    private StreamTableEnvironment tables(RuntimeExecutionMode mode) {
        EnvironmentSettings.Builder settings = EnvironmentSettings.newInstance();
        return StreamTableEnvironment.create(
                environment,
                mode == RuntimeExecutionMode.BATCH
                        ? settings.inBatchMode().build()
                        : settings.inStreamingMode().build());
    }

    /** Runs a whole script; its name is for messages. */
    void run(String name, String text) throws ScriptException {
        Script script = new Script(text);
        Statement last = null;
        for (Statement statement = script.next(this::isComplete);
                statement != null && !quit;
                statement = script.next(this::isComplete)) {
            run(name, statement);
            last = statement;
        }
        if (last != null && statementSet != null) {
            throw new ScriptException(name, last, "BEGIN STATEMENT SET has no END behind it");
        }
    }

    private void run(String name, Statement statement) throws ScriptException {
        try {
            run(statement);
        } catch (Exception e) {
            throw new ScriptException(name, statement, e);
        }
    }

    /** Wrong statements are complete, too: running them says what is wrong. */
    private boolean isComplete(Statement statement) {
        try {
            parse(statement);
            return true;
        } catch (SqlParserEOFException e) {
            return false;
        } catch (RuntimeException e) {
            return true;
        }
    }

    private Operation parse(Statement statement) {
        return internal().getParser().parse(statement.text()).get(0);
    }

    private TableEnvironmentInternal internal() {
        return (TableEnvironmentInternal) tables;
    }

    private void run(Statement statement) throws Exception {
        Operation operation = parse(statement);
        if (operation instanceof SetOperation set) {
            set(set);
        } else if (operation instanceof ResetOperation reset) {
            reset(reset);
        } else if (operation instanceof QuitOperation) {
            quit = true;
        } else if (!(operation instanceof HelpOperation || operation instanceof ClearOperation)) {
            onlySettings = false;
            execute(operation, statement);
        }
    }

    private void execute(Operation operation, Statement statement) throws Exception {
        if (operation instanceof BeginStatementSetOperation) {
            statementSet = new ArrayList<>();
        } else if (operation instanceof EndStatementSetOperation) {
            endStatementSet();
        } else if (statementSet != null) {
            addToStatementSet(operation, statementSet);
        } else if (operation instanceof QueryOperation && !(operation instanceof ModifyOperation)) {
            select(statement);
        } else {
            executeInternally(operation);
        }
    }

    private void endStatementSet() throws Exception {
        if (statementSet == null) {
            throw new TableException("END without BEGIN STATEMENT SET");
        }
        StatementSetOperation set = new StatementSetOperation(statementSet);
        statementSet = null;
        executeInternally(set);
    }

    private static void addToStatementSet(Operation operation, List<ModifyOperation> set) {
        if (!(operation instanceof ModifyOperation modify)) {
            throw new TableException("only INSERT may stand between BEGIN STATEMENT SET and END");
        }
        set.add(modify);
    }

    private void executeInternally(Operation operation) throws Exception {
        if (operation instanceof AddJarOperation jar) {
            String path = jar.getPath();
            jars.add(path.contains(":/") ? path : Path.of(path).toUri().toString());
        }
        TableResultInternal result = internal().executeInternal(operation);
        if (result.getJobClient().isPresent()) {
            await(result.getJobClient().get());
        } else if (result.getResultKind() == ResultKind.SUCCESS_WITH_CONTENT) {
            print(operation, result);
        }
    }

    private void print(Operation operation, TableResultInternal result) throws Exception {
        if (operation instanceof ExplainOperation) {
            try (var rows = result.collect()) {
                rows.forEachRemaining(row -> out.println(row.getField(0)));
            }
        } else {
            PrintStyle.tableauWithDataInferredColumnWidths(
                            result.getResolvedSchema(), result.getRowDataToStringConverter())
                    .print(result.collectInternal(), new PrintWriter(out, true));
        }
    }

    private void select(Statement statement) throws Exception {
        Selection selection = selections.next(statement);
        Table table = TimeAttributes.plain(tables.sqlQuery(statement.text()));
        if (remote) {
            fetch(table, selection);
        } else {
            runWithSink(table, selection);
        }
        selections.show();
    }

    /** In this process, a sink is the shortest way into a file. */
    private void runWithSink(Table table, Selection selection) throws Exception {
        boolean changes = isChangelog(table);
        DataStream<Row> rows =
                changes ? tables.toChangelogStream(table) : tables.toDataStream(table);
        rows.sinkTo(selection.sink(columns(table), changes)).setParallelism(1).name("rows");
        Configuration settings = new Configuration(tables.getConfig().getConfiguration());
        if (!jars.isEmpty()) {
            settings.set(PipelineOptions.JARS, jars);
        }
        environment.configure(settings);
        await(environment.executeAsync("SELECT in line " + selection.statement().line()));
    }

    private void fetch(Table table, Selection selection) throws Exception {
        TableResult result = table.execute();
        try (CloseableIterator<Row> rows = result.collect()) {
            selection.write(rows, columns(table), isChangelog(table));
        }
    }

    private static List<String> columns(Table table) {
        return table.getResolvedSchema().getColumnNames();
    }

    /** Whether rows may be taken back. What else is wrong with a query is wrong for both kinds. */
    private boolean isChangelog(Table table) {
        List<String> plan =
                table.explain(ExplainFormat.TEXT, ExplainDetail.CHANGELOG_MODE).lines().toList();
        return plan.stream()
                .filter(line -> line.contains("changelogMode=["))
                .findFirst()
                .map(line -> !line.contains("changelogMode=[I]"))
                .orElse(false);
    }

    private static void await(JobClient job) throws InterruptedException, ExecutionException {
        var unused = job.getJobExecutionResult().get();
    }

    private void set(SetOperation operation) {
        String key = operation.getKey().orElse(null);
        String value = operation.getValue().orElse(null);
        if (key == null || value == null) {
            new TreeMap<>(tables.getConfig().getConfiguration().toMap())
                    .forEach((k, v) -> out.printf("'%s' = '%s'%n", k, v));
            return;
        }
        String problem = options.problem(key, value);
        if (problem != null) {
            throw new TableException("SET '" + key + "': " + problem);
        }
        if (key.equals(ExecutionOptions.RUNTIME_MODE.key())) {
            setMode(RuntimeExecutionMode.valueOf(value.toUpperCase(Locale.ROOT)));
        }
        tables.getConfig().set(key, value);
    }

    private void setMode(RuntimeExecutionMode mode) {
        if (!onlySettings) {
            throw new TableException(
                    "SET 'execution.runtime-mode' must come before the other statements");
        }
        Configuration before = tables.getConfig().getConfiguration();
        tables = tables(mode);
        tables.getConfig().addConfiguration(before);
    }

    private void reset(ResetOperation operation) {
        Configuration settings = tables.getConfig().getConfiguration();
        operation
                .getKey()
                .ifPresentOrElse(
                        settings::removeKey,
                        () -> List.copyOf(settings.keySet()).forEach(settings::removeKey));
    }
}
