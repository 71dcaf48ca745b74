package io.afterbay.cli.measure;

import io.afterbay.cli.job.Job;
import io.afterbay.cli.job.SqlProgram;
import io.afterbay.command.CommandText;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import picocli.CommandLine;

/**
 * A script of SQL.
 *
 * @param durationMs see {@link Target#duration}
 */
public record SqlTarget(String script, long durationMs, ComparedRules rules)
        implements ForeignTarget {
    private static final PrintStream NOWHERE =
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);

    @Override
    public String name() {
        return Path.of(script).getFileName().toString();
    }

    @Override
    public Duration duration() {
        return Duration.ofMillis(durationMs);
    }

    @Override
    public Target lasting(Duration duration) {
        return new SqlTarget(script, duration.toMillis(), rules);
    }

    @Override
    public String title(CommandLine command) {
        return CommandText.quoted(Stream.of(script));
    }

    @Override
    public Job job(Phase phase) {
        return new SqlProgram(Path.of(script), null, NOWHERE, rules).summing();
    }
}
