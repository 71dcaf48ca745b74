package io.afterbay.cli.measure;

import io.afterbay.cli.job.JarProgram;
import io.afterbay.cli.job.Job;
import io.afterbay.command.CommandText;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine;

/**
 * A job jar.
 *
 * @param words what a user would type to name it
 * @param durationMs see {@link Target#duration}
 */
public record JarTarget(
        String jar,
        String mainClass,
        List<String> arguments,
        List<String> words,
        long durationMs,
        ComparedRules rules)
        implements ForeignTarget {

    @Override
    public String name() {
        return Path.of(jar).getFileName().toString();
    }

    @Override
    public Duration duration() {
        return Duration.ofMillis(durationMs);
    }

    @Override
    public Target lasting(Duration duration) {
        return new JarTarget(jar, mainClass, arguments, words, duration.toMillis(), rules);
    }

    @Override
    public String title(CommandLine command) {
        return CommandText.quoted(words.stream());
    }

    @Override
    public Job job(Phase phase) {
        return new JarProgram(Path.of(jar), mainClass, arguments, rules);
    }
}
