package io.afterbay.experiments.net;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.experiments.JsonProgram;
import io.afterbay.experiments.TrialWorker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The process of the experiment on sockets: has a program lay the network and measure a server and
 * its clients on it, and makes what it says a trial.
 */
final class NetWorker extends TrialWorker<NetPlan, NetTrial> {
    private static final double MEGA = 1e6;
    private static final double GIGA = 1e9;

    private NetWorker(Start<NetPlan> start) {
        super(start);
    }

    public static void main(String[] args) throws Exception {
        main(NetPlan.class, NetWorker::new);
    }

    @Override
    protected NetTrial failed(String reason) {
        return NetTrial.none(plan.setting()).failed(reason);
    }

    @Override
    protected NetTrial trial() throws Exception {
        JsonNode counted =
                new JsonProgram(directory).run(plan.setting().work(), command(), Map.of());
        handover.cpuOfChildren(Duration.ofNanos(ProcessFigures.cpuNanosOfChildren()));
        NetWork work = NetWork.named(plan.setting().work());
        long operations = counted.get("operations").asLong();
        long bytes = counted.get("bytes").asLong();
        double seconds = counted.get("seconds").asDouble();
        double serverCpu = counted.get("server_cpu_s").asDouble();
        double cpu = serverCpu + counted.get("client_cpu_s").asDouble();
        return NetTrial.none(plan.setting())
                .with(
                        new NetTrial.Outcome(
                                null,
                                counted.get("wrong").asLong(),
                                per(
                                        counted.get("network_bytes").asDouble(),
                                        bytes * work.crossings())),
                        new NetTrial.Rates(
                                operations,
                                seconds,
                                operations / seconds,
                                bytes == 0 ? null : bytes / seconds / MEGA,
                                figure(counted, "mean_us"),
                                figure(counted, "p50_us"),
                                figure(counted, "p99_us"),
                                figure(counted, "p999_us"),
                                figure(counted, "max_us")),
                        new NetTrial.Cost(
                                per(cpu * GIGA, bytes),
                                per(cpu * MEGA, operations),
                                per(serverCpu * MEGA, operations)));
    }

    private static @Nullable Double per(double what, long of) {
        return of == 0 ? null : what / of;
    }

    private static @Nullable Double figure(JsonNode counted, String name) {
        JsonNode value = counted.get(name);
        return value.isNull() ? null : value.asDouble();
    }

    /** It ends with this process, whatever happens to it. */
    private List<String> command() {
        NetTrial.Setting setting = plan.setting();
        NetWay way = NetWay.named(setting.variant());
        String load = plan.tools().load();
        List<String> command = new ArrayList<>(List.of(load, "become", load, "run"));
        command.add("--way=" + (plan.hasAgent() ? way : NetWay.NO_AGENT).label());
        command.add("--work=" + setting.work());
        command.add("--size=" + setting.sizeBytes());
        command.add("--connections=" + setting.connections());
        command.add("--spin=" + setting.spin());
        command.add("--busy=" + setting.busyThreads());
        command.add(seconds("--warmup-s", plan.times().warmUpMs()));
        command.add(seconds("--seconds", plan.times().countedMs()));
        if (!plan.tools().redis().isEmpty()) {
            command.add("--redis=" + plan.tools().redis());
        }
        return command;
    }

    private static String seconds(String option, long millis) {
        return String.format(Locale.ROOT, "%s=%.3f", option, millis / 1000.0);
    }
}
