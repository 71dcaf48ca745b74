package io.afterbay.cli.measure;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.afterbay.cli.job.Job;
import io.afterbay.command.CommandText;
import java.time.Duration;
import picocli.CommandLine;

/**
 * What is compared: a job that can run for as many events, and as fast, as a phase needs. One
 * process tells another of it.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "target")
@JsonSubTypes({
    @JsonSubTypes.Type(value = NexmarkTarget.class, name = "nexmark"),
    @JsonSubTypes.Type(value = TrafficJamTarget.class, name = "traffic-jam"),
    @JsonSubTypes.Type(value = JarTarget.class, name = "jar"),
    @JsonSubTypes.Type(value = SqlTarget.class, name = "sql")
})
public interface Target {
    /** Short, for a file name. */
    String name();

    /** Counted events of a closed loop. */
    long events();

    /** Events after which the state has its full size, give or take. */
    long rampUpEvents();

    /** The same target with a shorter closed loop, if it has more events than that. */
    Target limitedTo(long events);

    /** A job with statistics of its own. */
    Job job(Phase phase);

    /**
     * Whether the job brings its own events, of which Flink's metrics tell: it runs as it is, and
     * latencies are those of Flink's markers.
     */
    default boolean isForeign() {
        return false;
    }

    /** How long a foreign job is measured at most, from its first event; zero: until its end. */
    default Duration duration() {
        return Duration.ZERO;
    }

    /** As a user would type it. */
    default String title(CommandLine command) {
        return CommandText.job(command);
    }
}
