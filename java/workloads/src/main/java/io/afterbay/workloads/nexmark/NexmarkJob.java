package io.afterbay.workloads.nexmark;

import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * A NEXMark query as a main class for {@code flink run}. Paths are those of the machine that runs
 * the task: on more than one machine, of a shared file system.
 */
@Command(
        name = "nexmark",
        description = "Runs a NEXMark query on generated events.",
        mixinStandardHelpOptions = true)
public final class NexmarkJob {

    @Mixin private final NexmarkArguments arguments = new NexmarkArguments();

    private NexmarkJob() {}

    public static void main(String[] args) throws Exception {
        NexmarkJob job = new NexmarkJob();
        CommandLine.ParseResult parsed = new CommandLine(job).parseArgs(args);
        if (!CommandLine.printHelpIfRequested(parsed)) {
            job.run();
        }
    }

    private void run() throws Exception {
        NexmarkOptions options = arguments.options("nexmark");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        Nexmark.build(env, options);
        env.execute("nexmark " + options.query());
    }
}
