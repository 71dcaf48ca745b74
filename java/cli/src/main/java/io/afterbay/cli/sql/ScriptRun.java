package io.afterbay.cli.sql;

import io.afterbay.command.flink.sql.ScriptException;
import io.afterbay.command.flink.sql.Statement;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/** One run of a script: where the rows of its SELECTs go, and what became of them. */
public final class ScriptRun {
    private final Path script;
    private final @Nullable Path output;
    private final Path directory;
    private final PrintStream out;
    private final List<Selection> selections = new ArrayList<>();
    private boolean sums;
    private int shown;

    /** Tells what is wrong with the value of an option, if it knows. */
    public interface OptionCheck {
        @Nullable String problem(String key, String value);
    }

    /**
     * @param output takes all rows of the script's SELECT; null to show the first ones of each
     * @param directory for rows that are only shown
     * @param out for what statements print
     */
    public ScriptRun(Path script, @Nullable Path output, Path directory, PrintStream out) {
        this.script = script;
        this.output = output;
        this.directory = directory;
        this.out = out;
    }

    /**
     * Runs all statements; returns when all their jobs have ended.
     *
     * @param remote whether the environment's jobs run in other processes, so that rows have to be
     *     fetched
     */
    public void run(StreamExecutionEnvironment environment, boolean remote, OptionCheck options)
            throws ScriptException, IOException {
        new SqlSession(this, environment, remote, options, out)
                .run(script.toString(), text(script));
    }

    /** Identifies rows from now on, which costs about a microsecond for each. */
    public void sumRows() {
        sums = true;
    }

    /** Identifies what is left of the rows of all SELECTs; empty without a SELECT. */
    public synchronized String sum() {
        return selections.stream().map(Selection::sum).collect(Collectors.joining(", "));
    }

    /** The text of a script. */
    public static String text(Path script) throws IOException {
        try {
            return Files.readString(script);
        } catch (MalformedInputException e) {
            throw new IOException("is no text in UTF-8", e);
        }
    }

    /** The place for the rows of one more SELECT. */
    synchronized Selection next(Statement statement) throws IOException {
        if (output != null && !selections.isEmpty()) {
            throw new IOException(
                    "the rows of the SELECT in line %d are in the --output; make this one an INSERT or a script of its own"
                            .formatted(selections.get(0).statement().line()));
        }
        Path file =
                output != null ? output : directory.resolve("rows-" + statement.number() + ".csv");
        Selection selection = new Selection(statement, file, output != null, sums);
        selections.add(selection);
        return selection;
    }

    /** Shows what SELECTs have yielded and was not shown yet, also of one that was cut short. */
    public synchronized void show() throws IOException {
        for (; shown < selections.size(); shown++) {
            selections.get(shown).show(out);
        }
    }

    /** The number of rows that each SELECT has yielded, in the order of the script. */
    public synchronized List<Long> rows() {
        return selections.stream().map(Selection::rows).toList();
    }
}
