package io.afterbay.cli;

import io.afterbay.command.CommandLines;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * {@code afterbay doctor SUBJECT}, of the subjects that need Flink. The launcher gives logs to
 * {@code io.afterbay.doctor.Doctor}, which needs no engine.
 */
@Command(
        name = "doctor",
        description = "Look after checkpoint storage.",
        subcommands = {DoctorOrphansCommand.class},
        mixinStandardHelpOptions = true)
final class CheckpointDoctorCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        throw CommandLines.missingVerb(spec, "a subject");
    }
}
