package io.afterbay.edge.live;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import io.afterbay.command.CommandFailure;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.Session;
import io.afterbay.edge.run.EmbeddedFlink;
import io.afterbay.handover.Abandonment;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;

/**
 * The process of {@link SiteCluster}: runs plans, one behind the other, each on a MiniCluster of
 * Flink's. Its argument is a file with its {@link Work}. If its standard input ends, it ends at
 * once: a parent that is killed cannot forget that.
 */
public final class SiteClusterProgram {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private SiteClusterProgram() {}

    /**
     * What it has to do, as JSON.
     *
     * @param zone of the jobs' session
     * @param jars of the session
     * @param plans files of plans
     * @param usage a file for the {@link Usage}
     */
    record Work(String zone, List<String> jars, List<String> plans, String usage) {}

    /**
     * What it writes, as JSON.
     *
     * @param peakBytes resident memory behind the first plan, since clusters of further ones are
     *     there beside what the first has left; 0 if the system does not tell
     * @param cpuMs processor time, plan by plan
     */
    record Usage(long peakBytes, List<Long> cpuMs) {}

    public static void main(String[] args) throws IOException, InterruptedException {
        Abandonment.withInput();
        Work work = JSON.readValue(Path.of(args[0]).toFile(), Work.class);
        Session session = new Session(ZoneId.of(work.zone()), work.jars());
        long peakBytes = 0;
        List<Long> cpuMs = new ArrayList<>();
        try {
            for (String plan : work.plans()) {
                long before = SYSTEM.getProcessCpuTime();
                EmbeddedFlink.run(PlanJson.parse(Files.readString(Path.of(plan))), session);
                cpuMs.add(Duration.ofNanos(SYSTEM.getProcessCpuTime() - before).toMillis());
                peakBytes = cpuMs.size() == 1 ? ownPeakBytes() : peakBytes;
            }
        } catch (CommandFailure e) {
            // In one line, the last one: what a parent shows.
            System.err.println(CommandFailure.reason(e).replace('\n', ' '));
            System.exit(1);
        }
        JSON.writeValue(Path.of(work.usage()).toFile(), new Usage(peakBytes, cpuMs));
        // Threads of Flink's may be left.
        System.exit(0);
    }

    private static long ownPeakBytes() {
        try {
            return ProcessUsage.peakBytes(ProcessHandle.current().pid());
        } catch (IOException e) {
            return 0; // this system tells it in another way
        }
    }
}
