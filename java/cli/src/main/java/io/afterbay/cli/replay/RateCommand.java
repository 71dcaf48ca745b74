package io.afterbay.cli.replay;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code afterbay replay rate}. */
@Command(
        name = "rate",
        description = {"Change the rate of a replay, also while it runs.", ""},
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true)
final class RateCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "ID", description = "The name of the replay.")
    private String id = "";

    @Parameters(
            index = "1",
            paramLabel = "N",
            converter = RateChoice.Converter.class,
            description = "Records per second, max, or adaptive.")
    private RateChoice rate = new RateChoice(Rate.MAX, false);

    @Mixin private final ReplayPlace place = new ReplayPlace();

    @Override
    public Integer call() throws Exception {
        ReplayDirectory directory = place.replays().find(id);
        if (rate.isAdaptive() && directory.budget().isEmpty()) {
            throw new CommandFailure(
                    "replay %s was not begun with --rate adaptive, so its live job was not measured before it; name records per second, or max"
                            .formatted(id));
        }
        ReplayState state = directory.state();
        if (state.isOver()) {
            throw new CommandFailure("replay %s is %s".formatted(id, state));
        }
        directory.rate(rate);
        System.out.println(ReplayReport.of(directory).line());
        return ExitCode.OK;
    }
}
