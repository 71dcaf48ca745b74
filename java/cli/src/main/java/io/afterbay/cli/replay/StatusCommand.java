package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code afterbay replay status}. */
@Command(
        name = "status",
        description = {"Tell how far replays are.", ""},
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true)
final class StatusCommand implements Callable<Integer> {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "ID",
            description = "The name of the replay (default: all).")
    private @Nullable String id;

    @Option(names = "--json", description = "Print a list in JSON.")
    private boolean json;

    @Mixin private final ReplayPlace place = new ReplayPlace();

    @Override
    public Integer call() throws Exception {
        List<ReplayDirectory> chosen =
                id == null ? place.replays().all() : List.of(place.replays().find(id));
        ArrayNode list = MAPPER.createArrayNode();
        int code = ExitCode.OK;
        for (ReplayDirectory directory : chosen) {
            try {
                tell(directory, list);
            } catch (CommandFailure e) {
                if (id != null) {
                    throw e;
                }
                if (directory.exists()) { // else nothing had come of it
                    tell(String.valueOf(directory.path().getFileName()), e, list);
                    code = ExitCode.FAILURE;
                }
            }
        }
        if (json) {
            System.out.println(MAPPER.writeValueAsString(list));
        } else if (chosen.isEmpty()) {
            System.out.println("no replays in " + place.root());
        }
        return code;
    }

    private void tell(ReplayDirectory directory, ArrayNode list) throws CommandFailure {
        if (json) {
            ReplayReport.of(directory).json(list.addObject());
        } else {
            System.out.println(text(directory));
        }
    }

    static String text(ReplayDirectory directory) throws CommandFailure {
        ReplayReport report = ReplayReport.of(directory);
        return report.line() + report.precedence() + checkpoints(directory, report) + report.way();
    }

    /** Nothing about them, if they come. */
    private static String checkpoints(ReplayDirectory directory, ReplayReport report)
            throws CommandFailure {
        ReplayDirectory.Session session = directory.session().orElse(null);
        if (session == null || !report.state().isAlive()) {
            return "";
        }
        try {
            return CheckpointWatch.of(directory)
                    .note(
                            session.startedMs(),
                            directory.newestCheckpointAt().orElse(null),
                            Instant.now());
        } catch (CommandFailure e) {
            return ", nobody knows whether it makes checkpoints: " + CommandFailure.reason(e);
        }
    }

    /** The others are not to be hidden by one that is damaged, or another version's. */
    private void tell(String replay, CommandFailure problem, ArrayNode list) {
        String reason = CommandFailure.reason(problem);
        if (json) {
            list.addObject().put("id", replay).put("state", "unreadable").put("problem", reason);
        } else {
            System.out.println(replay + ": cannot be read: " + reason);
        }
    }
}
