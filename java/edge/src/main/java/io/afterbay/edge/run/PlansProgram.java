package io.afterbay.edge.run;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import io.afterbay.command.CommandFailure;
import io.afterbay.edge.plan.PlanJson;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;

/**
 * The program that runs plans, one behind the other, on a MiniCluster of Flink's within its
 * process: a file to write, a time zone, files of plans. The file gets the processor time of each
 * as a list of JSON, in milliseconds.
 */
public final class PlansProgram {
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private PlansProgram() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        ZoneId zone = ZoneId.of(args[1]);
        List<Long> cpuMs = new ArrayList<>();
        try {
            for (String plan : List.of(args).subList(2, args.length)) {
                long before = SYSTEM.getProcessCpuTime();
                EmbeddedFlink.run(PlanJson.parse(Files.readString(Path.of(plan))), zone);
                cpuMs.add(Duration.ofNanos(SYSTEM.getProcessCpuTime() - before).toMillis());
            }
        } catch (CommandFailure e) {
            // In one line, the last one: what a parent shows.
            System.err.println(CommandFailure.reason(e).replace('\n', ' '));
            System.exit(1);
        }
        new ObjectMapper().writeValue(Path.of(args[0]).toFile(), cpuMs);
        // Threads of Flink's may be left.
        System.exit(0);
    }
}
