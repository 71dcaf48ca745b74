package io.afterbay.workloads;

import io.afterbay.workloads.trafficjam.TrafficJam;
import io.afterbay.workloads.trafficjam.TrafficJamArguments;
import io.afterbay.workloads.trafficjam.TrafficJamOptions;
import java.util.concurrent.Callable;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * The traffic-jam job as a main class for {@code flink run}. Paths are those of the machine that
 * runs the task: on more than one machine, of a shared file system.
 */
@Command(
        name = "traffic-jam",
        description = "Ranks the most jammed streets of every ten seconds.",
        mixinStandardHelpOptions = true)
public final class TrafficJamJob implements Callable<Integer> {

    @Mixin private final TrafficJamArguments arguments = new TrafficJamArguments();

    private TrafficJamJob() {}

    public static void main(String[] args) throws Exception {
        TrafficJamJob job = new TrafficJamJob();
        CommandLine.ParseResult parsed = new CommandLine(job).parseArgs(args);
        if (!CommandLine.printHelpIfRequested(parsed)) {
            job.call();
        }
    }

    @Override
    public Integer call() throws Exception {
        TrafficJamOptions options = arguments.options("traffic-jam", null);
        if (options.trace().isStandardInput()) {
            throw new IllegalArgumentException(
                    "--input -: a cluster cannot read this terminal; name a file");
        }
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        TrafficJam.build(env, options);
        env.execute("traffic-jam");
        return 0;
    }
}
