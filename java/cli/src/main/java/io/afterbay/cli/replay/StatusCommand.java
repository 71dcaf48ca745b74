package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.afterbay.command.ExitCode;
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
                id == null
                        ? ReplayDirectory.all(place.root())
                        : List.of(ReplayDirectory.find(place.root(), id));
        ArrayNode list = MAPPER.createArrayNode();
        for (ReplayDirectory directory : chosen) {
            ReplayReport report = ReplayReport.of(directory);
            if (json) {
                report.json(list.addObject());
            } else {
                System.out.println(report.line() + report.way());
            }
        }
        if (json) {
            System.out.println(MAPPER.writeValueAsString(list));
        } else if (chosen.isEmpty()) {
            System.out.println("no replays in " + place.root());
        }
        return ExitCode.OK;
    }
}
