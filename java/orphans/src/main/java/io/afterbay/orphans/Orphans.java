package io.afterbay.orphans;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.Durations;
import io.afterbay.command.ExitCode;
import io.afterbay.command.ProgressLine;
import io.afterbay.command.Terminal;
import io.afterbay.command.flink.FlinkFileSystems;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.apache.flink.core.fs.UnsupportedFileSystemSchemeException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code afterbay doctor orphans CHECKPOINT-DIR}: the command line. */
@Command(
        name = "afterbay doctor orphans",
        description = {
            "List files in checkpoint storage that no checkpoint refers to, and delete them.",
            "",
            "Such files are left by processes that were killed during an upload. Every checkpoint and"
                    + " savepoint below CHECKPOINT-DIR is read; if that is the directory of one job,"
                    + " those of the other jobs beside it as well, because a job that restored a"
                    + " checkpoint may need its files for long. Nothing is deleted without --delete,"
                    + " and nothing at all if a checkpoint cannot be read completely. More:"
                    + " docs/flink.md, \"Files nobody needs\".",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay doctor orphans /data/checkpoints",
            "  ./afterbay doctor orphans /data/checkpoints/6a0f5f5b1e9c4a0f8f0e6a0b6f4f2c11 --delete",
            "  ./afterbay doctor orphans file:///data/checkpoints --referenced-from"
                    + " /data/savepoints --delete",
            "  FLINK_PLUGINS_DIR=$FLINK_HOME/plugins FLINK_CONF_DIR=$FLINK_HOME/conf \\",
            "    ./afterbay doctor orphans s3://bucket/checkpoints --older-than 6h",
            "",
            "Exit codes: 0 done, 1 something was held back that should be looked at (a checkpoint that",
            "cannot be read, or one under way) or a file failed, 2 wrong options, 130 Ctrl-C,",
            "143 SIGTERM."
        })
public final class Orphans implements Callable<Integer> {
    /** Default of execution.checkpointing.timeout in Flink. */
    private static final Duration OLDER_THAN_MIN = Duration.ofMinutes(10);

    private static final String STANDARD_OUTPUT = "-";

    @Parameters(
            paramLabel = "CHECKPOINT-DIR",
            description =
                    "The directory of a job (with chk-*, shared, taskowned), or that of"
                            + " execution.checkpointing.dir with several jobs; a path or a URI.")
    private String directory = "";

    @Option(names = "--delete", description = "Delete what nobody needs.")
    private boolean delete;

    @Option(
            names = "--older-than",
            paramLabel = "D",
            converter = Durations.class,
            defaultValue = "1h",
            description =
                    "Delete only files of that age, for example 2h or 90min (default:"
                            + " ${DEFAULT-VALUE}). Must be more than a checkpoint of any job here can"
                            + " take (execution.checkpointing.timeout, 10min by default), and with"
                            + " file merging, ForSt or the changelog backend more than their"
                            + " interval as well.")
    private Duration olderThan = Duration.ofHours(1);

    @Option(
            names = "--force",
            description =
                    "Allow less than 10min for --older-than: no job writes here, or its timeout is"
                            + " shorter.")
    private boolean force;

    @Option(
            names = "--referenced-from",
            paramLabel = "PATH",
            description =
                    "Also keep what checkpoints and savepoints there refer to: a savepoint, or the"
                            + " checkpoint directory of a job that restored a checkpoint from here;"
                            + " may be given several times.")
    private List<String> referencedFrom = new ArrayList<>();

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description =
                    "Write the report as JSON to this file as well; with - to standard output,"
                            + " instead of the text.")
    private @Nullable String json;

    @Spec private @Nullable CommandSpec spec;

    private Orphans() {}

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    /** As users type it, without the name. */
    static CommandLine commandLine() {
        return CommandLines.of(new Orphans());
    }

    @Override
    public Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        checkLimit(command);
        FlinkFileSystems.initialize();
        ProgressLine line = new ProgressLine(System.err, true);
        OrphanReport report = report(progress(line));
        line.clear();
        write(command, report);
        return report.isComplete() ? ExitCode.OK : ExitCode.FAILURE;
    }

    private void checkLimit(CommandLine command) {
        if (!force && olderThan.compareTo(OLDER_THAN_MIN) < 0) {
            throw new ParameterException(
                    command,
                    "--older-than: less than 10min, which a checkpoint may take by Flink's default;"
                            + " its uploads would be deleted. Use --force if no job writes here.");
        }
    }

    private static Consumer<String> progress(ProgressLine line) {
        if (!Terminal.isStandardError()) {
            return message -> {};
        }
        return message -> {
            if (line.isDue()) {
                line.show(message);
            }
        };
    }

    private OrphanReport report(Consumer<String> progress)
            throws CommandFailure, InterruptedException {
        try {
            OrphanReport found =
                    new OrphanSearch(CheckpointPaths.ofAllHandles(), progress)
                            .run(directory, referencedFrom, olderThan);
            return delete ? new OrphanDeletion(progress).run(found) : found;
        } catch (UnsupportedFileSystemSchemeException e) {
            throw new CommandFailure(
                    CommandFailure.reason(e)
                            + " Set FLINK_PLUGINS_DIR to the plugins folder of Flink.",
                    e);
        } catch (IOException e) {
            throw new CommandFailure(directory + ": " + CommandFailure.reason(e), e);
        }
    }

    private void write(CommandLine command, OrphanReport report) throws CommandFailure {
        PrintWriter out = command.getOut();
        if (STANDARD_OUTPUT.equals(json)) {
            out.print(OrphanJson.of(report, delete));
            out.flush();
        } else {
            OrphanText.print(out, report, delete);
        }
        sayWhatIsHeldBack(command.getErr(), report);
        if (json != null && !json.equals(STANDARD_OUTPUT)) {
            writeJson(Path.of(json), report);
        }
    }

    private static void sayWhatIsHeldBack(PrintWriter err, OrphanReport report) {
        report.problems()
                .forEach(
                        problem ->
                                err.println(
                                        "afterbay doctor orphans: nothing may be deleted because of "
                                                + problem.path()
                                                + ": "
                                                + problem.reason()));
        report.jobs().stream()
                .flatMap(job -> job.unfinished().stream())
                .forEach(
                        checkpoint ->
                                err.println(
                                        "afterbay doctor orphans: kept what may belong to "
                                                + checkpoint
                                                + ": it is not complete, and younger than the limit;"
                                                + " run this again when it is complete or older"));
        err.flush();
    }

    private void writeJson(Path file, OrphanReport report) throws CommandFailure {
        try {
            Files.writeString(file, OrphanJson.of(report, delete));
        } catch (IOException e) {
            throw new CommandFailure(
                    "--json %s cannot be written: %s; make room or choose another place"
                            .formatted(file, CommandFailure.reason(e)),
                    e);
        }
    }
}
