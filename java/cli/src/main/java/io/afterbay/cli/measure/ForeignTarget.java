package io.afterbay.cli.measure;

import io.afterbay.cli.job.Job;
import io.afterbay.cli.job.Program;
import io.afterbay.command.CommandText;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine;

/**
 * Somebody else's job.
 *
 * @param name of its file
 * @param words what a user would type to name it
 * @param duration see {@link Target#duration}
 * @param program makes the job anew for each run
 */
public record ForeignTarget(
        String name, List<String> words, Duration duration, Supplier<? extends Program> program)
        implements Target {
    private static final Duration QUICK = Duration.ofSeconds(20);

    @Override
    public long events() {
        return Long.MAX_VALUE;
    }

    @Override
    public long rampUpEvents() {
        return 0;
    }

    /** Its events cannot be limited, but its time. */
    @Override
    public Target limitedTo(long events) {
        boolean isShort = !duration.isZero() && duration.compareTo(QUICK) < 0;
        return isShort ? this : new ForeignTarget(name, words, QUICK, program);
    }

    @Override
    public boolean isForeign() {
        return true;
    }

    @Override
    public String title(CommandLine command) {
        return CommandText.quoted(words.stream());
    }

    @Override
    public Job job(Phase phase) {
        return program.get();
    }
}
