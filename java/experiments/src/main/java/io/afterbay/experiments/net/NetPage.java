package io.afterbay.experiments.net;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialHistory;
import io.afterbay.bench.TrialPage;
import io.afterbay.command.ByteSize;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The tables about shared-memory sockets, in Markdown, with what is aimed at and whether it is met
 * (FreeFlow, HotNets '16, figures 3 and 4, compares the same ways between containers).
 */
public final class NetPage extends TrialPage<NetPage.Kind, NetTrial> {
    private static final String MEMORY = NetWay.MEMORY.label();
    private static final String VETH = NetWay.VETH.label();
    private static final String VXLAN = NetWay.VXLAN.label();
    private static final String UNIX = NetWay.UNIX.label();
    private static final String SOCKMAP = NetWay.SOCKMAP.label();
    private static final String NO_AGENT = NetWay.NO_AGENT.label();
    private static final String COMMAND = "./afterbay bench net";
    private static final String NOT_COMPARED = "not compared";
    private static final long SMALL = 64;
    private static final long KIBIBYTE = 1024;
    private static final long LARGE = 128 * KIBIBYTE;

    private static final MeasuredValue<NetTrial> RATE = run -> run.rates().operationsPerS();
    private static final MeasuredValue<NetTrial> MB = run -> run.rates().mbPerS();
    private static final MeasuredValue<NetTrial> MEAN = run -> run.rates().meanUs();
    private static final MeasuredValue<NetTrial> P50 = run -> run.rates().p50Us();
    private static final MeasuredValue<NetTrial> CPU_PER_GB = run -> run.cost().cpuSecondsPerGb();
    private static final MeasuredValue<NetTrial> CPU_PER_OPERATION =
            run -> run.cost().cpuUsPerOperation();

    /** Runs of one kind; compared with others of the same load. */
    record Kind(Load load, String way, String spin) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparing(Kind::load, Load.ORDER)
                        .thenComparing(kind -> NetWay.named(kind.way))
                        .thenComparing(Kind::spin);

        private static Kind of(NetTrial trial) {
            NetTrial.Setting setting = trial.setting();
            // Only rings are waited for in one way or another.
            String spin = setting.variant().equals(MEMORY) ? setting.spin() : "";
            return new Kind(Load.of(setting), setting.variant(), spin);
        }

        private Kind as(String other) {
            return new Kind(load, other, "");
        }

        private boolean is(String one) {
            return way.equals(one);
        }

        private String text() {
            return spin.equals("off") ? way + ", spin off" : way;
        }
    }

    /** What ways have in common that are compared. */
    record Load(NetWork work, long sizeBytes, int connections, int busyThreads) {
        private static final Comparator<Load> ORDER =
                Comparator.comparing(Load::work)
                        .thenComparing(Load::sizeBytes)
                        .thenComparing(Load::connections)
                        .thenComparing(Load::busyThreads);

        private static Load of(NetTrial.Setting of) {
            return new Load(
                    NetWork.named(of.work()), of.sizeBytes(), of.connections(), of.busyThreads());
        }

        private boolean is(NetWork one) {
            return work == one;
        }

        private String text() {
            String busy = busyThreads == 0 ? "" : ", %d busy threads".formatted(busyThreads);
            return "%s, %s, %d %s%s"
                    .formatted(
                            work.label(),
                            new ByteSize(sizeBytes),
                            connections,
                            connections == 1 ? "connection" : "connections",
                            busy);
        }
    }

    public NetPage(List<RecordedTrial<NetTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    public static List<RecordedTrial<NetTrial>> read(Path directory) throws IOException {
        return read(directory, "net", NetTrial.class);
    }

    @Override
    public List<Aim> aims() {
        Predicate<Load> isIdle = load -> load.busyThreads == 0;
        Predicate<Load> isPing =
                isIdle.and(load -> load.is(NetWork.PING) && load.sizeBytes == SMALL);
        Predicate<Load> isLargeStream =
                isIdle.and(load -> load.is(NetWork.STREAM) && load.sizeBytes == LARGE);
        Predicate<Load> isSmallStream =
                isIdle.and(load -> load.is(NetWork.STREAM) && load.sizeBytes == KIBIBYTE);
        Predicate<Load> isRedis = isIdle.and(load -> load.is(NetWork.REDIS));
        Predicate<Load> isShort = isIdle.and(load -> load.is(NetWork.CONNECT));
        return List.of(
                atMost(
                                "P50 of 64 bytes there and back, memory to TCP over veth",
                                0.5,
                                isPing,
                                VETH,
                                P50)
                        .asHeadline(),
                atMost(
                        "P50 of 64 bytes there and back, memory to a Unix socket",
                        0.7,
                        isPing,
                        UNIX,
                        P50),
                atMost(
                        "P50 of 64 bytes there and back, memory to eBPF's sockmap",
                        0.7,
                        isPing,
                        SOCKMAP,
                        P50),
                atMost(
                        "P50 of 64 bytes there and back, memory to TCP over VXLAN",
                        0.2,
                        isPing,
                        VXLAN,
                        P50),
                atMost(
                        "CPU of both ends per GB, blocks of 128 KiB, memory to TCP over veth",
                        0.3,
                        isLargeStream,
                        VETH,
                        CPU_PER_GB),
                atMost(
                        "CPU of both ends per GB, blocks of 1 KiB, memory to TCP over veth",
                        0.5,
                        isSmallStream,
                        VETH,
                        CPU_PER_GB),
                atLeast(
                        "bytes/s, blocks of 128 KiB, memory to TCP over VXLAN",
                        3,
                        isLargeStream,
                        MEMORY,
                        VXLAN,
                        MB),
                atMost("mean latency of redis, memory to TCP over veth", 0.5, isRedis, VETH, MEAN),
                atLeast(
                        "short connections/s, memory to TCP over veth",
                        0.9,
                        isShort,
                        MEMORY,
                        VETH,
                        RATE),
                atLeast(
                        "operations/s beside busy threads, memory to TCP over veth",
                        0.9,
                        isIdle.negate(),
                        MEMORY,
                        VETH,
                        RATE),
                atLeast(
                        "64 bytes there and back without an agent, operations/s, to TCP over veth",
                        0.97,
                        isPing,
                        NO_AGENT,
                        VETH,
                        RATE));
    }

    private Aim atMost(
            String measure,
            double bound,
            Predicate<Load> loads,
            String other,
            MeasuredValue<NetTrial> figure) {
        String goal = "%s: at most %sx".formatted(measure, bound);
        return new Aim(
                measure, goal, false, bound, "x", medians(loads, MEMORY, other, figure), COMMAND);
    }

    private Aim atLeast(
            String measure,
            double bound,
            Predicate<Load> loads,
            String way,
            String other,
            MeasuredValue<NetTrial> figure) {
        String goal = "%s: at least %sx".formatted(measure, bound);
        String command =
                way.equals(NO_AGENT) ? COMMAND + " --works ping --ways veth,no-agent" : COMMAND;
        return new Aim(
                measure, goal, true, bound, "x", medians(loads, way, other, figure), command);
    }

    private List<Aim.Value> medians(
            Predicate<Load> loads, String way, String other, MeasuredValue<NetTrial> figure) {
        return kinds().filter(kind -> kind.is(way) && loads.test(kind.load))
                .flatMap(
                        kind ->
                                value(
                                        kind,
                                        kind.load.text()
                                                + (kind.spin.equals("off") ? ", spin off" : ""),
                                        ratios(kind, kind.as(other), figure)))
                .toList();
    }

    @Override
    protected Stream<String> tables() {
        return Stream.of(rates(), costs());
    }

    private String rates() {
        List<String> header =
                List.of(
                        "load",
                        "way",
                        "operations/s",
                        "MB/s",
                        "P50, us",
                        "P99, us",
                        "P99.9, us",
                        "P50 to veth",
                        "operations/s to veth",
                        "bytes");
        return "Closed loop: each connection has one message under way, or as many blocks as go into it."
                + " Median of the runs [lowest..highest]:\n\n"
                + table(kinds(), header, this::rate);
    }

    private List<String> rate(Kind kind) {
        return List.of(
                kind.load.text(),
                kind.text(),
                range(kind, RATE),
                range(kind, MB),
                range(kind, P50),
                range(kind, run -> run.rates().p99Us()),
                range(kind, run -> run.rates().p999Us()),
                toVeth(kind, P50),
                toVeth(kind, RATE),
                bytes(kind));
    }

    private String toVeth(Kind kind, MeasuredValue<NetTrial> figure) {
        return kind.is(VETH) ? ResultsPage.MISSING : ratio(ratios(kind, kind.as(VETH), figure));
    }

    private String bytes(Kind kind) {
        if (!of(kind).stream().allMatch(NetTrial::isCompared)) {
            return NOT_COMPARED;
        }
        return TrialHistory.counts(
                of(kind).stream()
                        .flatMap(run -> Stream.ofNullable(run.outcome().wrong()))
                        .map(wrong -> wrong == 0));
    }

    private String costs() {
        List<String> header =
                List.of(
                        "load",
                        "way",
                        "CPU-s/GB",
                        "CPU us/operation",
                        "server, CPU us/operation",
                        "CPU per operation to veth",
                        "bytes on interfaces for each that was sent");
        return "Processor time of both ends. What the kernel does for them in interrupts is not in it:\n\n"
                + table(kinds(), header, this::cost);
    }

    private List<String> cost(Kind kind) {
        return List.of(
                kind.load.text(),
                kind.text(),
                range(kind, CPU_PER_GB),
                range(kind, CPU_PER_OPERATION),
                range(kind, run -> run.cost().serverCpuUsPerOperation()),
                toVeth(kind, CPU_PER_OPERATION),
                range(kind, run -> run.outcome().networkBytesPerByte()));
    }
}
