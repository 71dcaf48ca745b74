package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.Engine;
import io.afterbay.cli.engine.FlinkOptions;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.sql.ScriptRun;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.flink.sql.ScriptException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/** A script of Flink SQL in a worker. */
public final class SqlProgram extends Program {
    private final Path file;
    private final @Nullable String output;
    private final ProgramRules rules;
    private final ScriptRun script;

    /**
     * @param output for the rows of the SELECT, or null to show the first ones
     * @param out for what statements print
     */
    public SqlProgram(Path file, @Nullable String output, PrintStream out, ProgramRules rules) {
        super(file, rules);
        this.file = file;
        this.output = output;
        this.rules = rules;
        this.script =
                new ScriptRun(
                        file,
                        output == null ? null : Path.of(output),
                        WorkDirectory.ofWorker().orElseThrow(),
                        out);
    }

    @Override
    void submitJobs(Engine engine) throws CommandFailure {
        StreamExecutionEnvironment environment =
                new StreamExecutionEnvironment(
                        engine.submissions(), engine.jobSettings(false), classLoader());
        try {
            script.run(environment, engine.isRemote(), FlinkOptions.onClassPath()::problem);
        } catch (ScriptException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        } catch (IOException e) {
            throw new CommandFailure(file + ": " + CommandFailure.reason(e), e);
        }
    }

    /** Lets {@link #rowSum} know the rows. */
    public SqlProgram summing() {
        script.sumRows();
        return this;
    }

    @Override
    public @Nullable String rowSum() {
        return script.sum().isEmpty() ? null : script.sum();
    }

    @Override
    String code() {
        return file.toString();
    }

    @Override
    ClassLoader classLoader() {
        return SqlProgram.class.getClassLoader();
    }

    @Override
    boolean needsJob() {
        return false;
    }

    @Override
    public @Nullable String output() {
        return output;
    }

    @Override
    public Job writingTo(String other) {
        return new SqlProgram(file, other, System.err, rules);
    }

    @Override
    public void printResult(SummaryText text) {
        try {
            script.show();
        } catch (IOException e) {
            text.line("%s: the rows cannot be read: %s", file, CommandFailure.reason(e));
        }
    }

    @Override
    public void figures(ObjectNode root, RunFigures run) {
        super.figures(root, run);
        ArrayNode rows = root.putArray("rows");
        script.rows().forEach(rows::add);
    }
}
