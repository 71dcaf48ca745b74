package io.afterbay.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay doctor SUBJECT}. */
@Command(
        name = "doctor",
        description = "Look after what jobs leave behind.",
        subcommands = {DoctorOrphansCommand.class},
        mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        throw Afterbay.missingVerb(spec, "a subject");
    }
}
