package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.Durations;
import io.afterbay.command.ExitCode;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code afterbay replay remove}. */
@Command(
        name = "remove",
        description = {
            "Remove what is kept of replays: plan, progress, checkpoints. What they have written to"
                    + " their outputs stays. A replay that runs, or has stopped its live job, is not"
                    + " removed. One that was interrupted or has failed is removed by its name only,"
                    + " because it cannot be resumed afterwards.",
            ""
        },
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footer = {"", "Exit codes: 0 all are removed, 1 some are still there, 2 wrong options."})
final class RemoveCommand implements Callable<Integer> {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    @Parameters(arity = "0..*", paramLabel = "ID", description = "The names of the replays.")
    private List<String> ids = new ArrayList<>();

    @Option(
            names = "--ended",
            description = "Instead of names: all that have finished or were cancelled.")
    private boolean ended;

    @Option(
            names = "--older-than",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "With --ended: only those that ended at least that long ago, for example 7d or 12h.")
    private @Nullable Duration olderThan;

    @Option(
            names = "--with-savepoints",
            description =
                    "Also remove the savepoint with which the live job was stopped and started again. The"
                            + " job needs it until it has made a checkpoint of its own.")
    private boolean withSavepoints;

    @Option(
            names = "--json",
            description = "Print a JSON list, with id, removed and problem of each replay.")
    private boolean json;

    @Mixin private final ReplayPlace place = new ReplayPlace();
    @Spec private @Nullable CommandSpec spec;
    private final ArrayNode list = MAPPER.createArrayNode();
    private int code = ExitCode.OK;

    @Override
    public Integer call() throws Exception {
        checkOptions(CommandLines.commandOf(spec));
        if (ended) {
            removeEnded();
        } else {
            for (String id : new LinkedHashSet<>(ids)) {
                remove(id);
            }
        }
        place.replays().sweep();
        if (json) {
            System.out.println(MAPPER.writeValueAsString(list));
        } else if (list.isEmpty()) {
            System.out.println("no replays to remove in " + place.root());
        }
        return code;
    }

    private void checkOptions(CommandLine command) {
        if (ids.isEmpty() != ended) {
            throw new ParameterException(
                    command, "name replays, or all that have ended by --ended, and not both");
        }
        if (olderThan != null && !ended) {
            throw new ParameterException(command, "--older-than is for --ended: add it");
        }
    }

    private void remove(String id) throws InterruptedException {
        try {
            remove(id, place.replays().find(id));
        } catch (CommandFailure e) {
            tell(id, e);
        }
    }

    private void removeEnded() throws CommandFailure, InterruptedException {
        for (ReplayDirectory directory : place.replays().all()) {
            String id = String.valueOf(directory.path().getFileName());
            try {
                if (isChosen(directory)) {
                    remove(id, directory);
                }
            } catch (CommandFailure e) {
                if (directory.exists()) { // else another command was first
                    tell(id, e);
                }
            }
        }
    }

    private boolean isChosen(ReplayDirectory directory) throws CommandFailure {
        if (!directory.state().isOver()) {
            return false;
        }
        Duration age = olderThan == null ? Duration.ZERO : olderThan;
        return directory.endedAt().filter(at -> !at.isAfter(Instant.now().minus(age))).isPresent();
    }

    private void remove(String id, ReplayDirectory directory)
            throws CommandFailure, InterruptedException {
        new Removal(directory, withSavepoints).remove();
        list.addObject().put("id", id).put("removed", true).putNull("problem");
        if (!json) {
            System.out.println("replay " + id + " is removed");
        }
    }

    /** The others are removed all the same. */
    private void tell(String id, CommandFailure problem) {
        String reason = CommandFailure.reason(problem);
        list.addObject().put("id", id).put("removed", false).put("problem", reason);
        code = ExitCode.FAILURE;
        if (!json) {
            CommandLine command = CommandLines.commandOf(spec);
            PrintWriter err = command.getErr();
            err.println(command.getCommandSpec().qualifiedName() + ": " + reason);
            err.flush();
        }
    }
}
