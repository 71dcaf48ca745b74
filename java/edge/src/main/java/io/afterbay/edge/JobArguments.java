package io.afterbay.edge;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.flink.sql.ScriptException;
import io.afterbay.edge.app.AppFile;
import io.afterbay.edge.app.AppScript;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.plan.Planning;
import io.afterbay.edge.plan.ScriptPlan;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.program.EdgeProgram.WrongAppFile;
import io.afterbay.edge.run.WorkFiles;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Which job is cut: that of a script, or of an app. */
final class JobArguments {
    private static final String APP_ENDING = ".toml";
    private static final String APP_OF_FOLDER = "app.toml";
    private static final String SITES_OF_FOLDER = "sites.sql";

    @Parameters(
            index = "0",
            paramLabel = "APP",
            description = {
                "SCRIPT.sql: CREATE TABLE and CREATE VIEW statements, and one INSERT or SELECT; in UTF-8."
                        + " Or an app file, APP.toml, or a folder with an app.toml."
            })
    private Path app = Path.of("");

    @Option(
            names = "--local",
            paramLabel = "COLUMN",
            split = ",",
            description = {
                "Columns whose values each occur at one site only, COLUMN or TABLE.COLUMN: windows with one of"
                        + " them in their key are final at the site. This is not checked. Those of an app file"
                        + " count, too."
            })
    private List<String> local = List.of();

    @Option(
            names = "--jar",
            paramLabel = "FILE",
            description = {
                "A jar with a connector, a format or functions that Flink does not bring along, such as"
                        + " flink-sql-connector-kafka-5.0.0-2.2.jar; may be given several times. ADD JAR in"
                        + " the script does the same."
            })
    private List<Path> jars = List.of();

    /**
     * What Flink makes of it.
     *
     * @param command for an app file that is wrong: that is wrong usage
     * @param filesForKafka whether files stand for tables of Kafka; see {@link Planning}
     */
    ScriptPlan plan(CommandLine command, boolean filesForKafka)
            throws CommandFailure, IOException, InterruptedException {
        ScriptPlan plan = declared(command, planning(filesForKafka));
        return plan.withLocal(
                Stream.concat(plan.local().stream(), local.stream()).distinct().toList());
    }

    private Planning planning(boolean filesForKafka) throws CommandFailure {
        for (Path jar : jars) {
            if (!Files.isReadable(jar) || Files.isDirectory(jar)) {
                throw new CommandFailure("--jar " + jar + ": no file that can be read");
            }
        }
        return new Planning(
                jars.stream().map(jar -> jar.toAbsolutePath().toString()).toList(), filesForKafka);
    }

    private ScriptPlan declared(CommandLine command, Planning planning)
            throws CommandFailure, IOException, InterruptedException {
        Path file = Files.isDirectory(app) ? app.resolve(APP_OF_FOLDER) : app;
        if (!Files.exists(file)) {
            throw new CommandFailure(file + ": no such file");
        }
        if (!file.toString().endsWith(APP_ENDING)) {
            return script(file, planning);
        }
        try (WorkFiles work = new WorkFiles()) {
            return AppScript.plan(
                    AppFile.of(EdgeProgram.installed().app(file, work.directory())),
                    file,
                    planning);
        } catch (WrongAppFile e) {
            throw new ParameterException(command, CommandFailure.reason(e));
        }
    }

    /** What Flink makes of a script that says what the job's sites see. */
    ScriptPlan sites(Path script) throws CommandFailure {
        return script(script, planning(false));
    }

    private static ScriptPlan script(Path file, Planning planning) throws CommandFailure {
        try {
            return PlanMaker.plan(file.toString(), Files.readString(file), planning);
        } catch (ScriptException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        } catch (NoSuchFileException e) {
            throw new CommandFailure(file + ": no such file", e);
        } catch (MalformedInputException e) {
            throw new CommandFailure(file + ": is no text in UTF-8", e);
        } catch (IOException e) {
            throw new CommandFailure(file + ": " + CommandFailure.reason(e), e);
        }
    }

    /** The script beside an app that says what its sites see; null if there is none. */
    @Nullable Path sites() {
        Path file = app.resolve(SITES_OF_FOLDER);
        return Files.isDirectory(app) && Files.exists(file) ? file : null;
    }
}
