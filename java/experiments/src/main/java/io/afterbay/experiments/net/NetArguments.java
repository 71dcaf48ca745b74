package io.afterbay.experiments.net;

import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import io.afterbay.experiments.OnOff;
import io.afterbay.experiments.RustPrograms;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** What {@code afterbay bench net} runs: which ways, and what connections are used for. */
final class NetArguments {
    private static final int CONNECTIONS_MAX = 1024;
    private static final int BUSY_MAX = 64;

    /** A block has its number in it. */
    private static final ByteSize SIZE_MIN = new ByteSize(8);

    private static final ByteSize SIZE_MAX = ByteSize.parse("64m");

    /** Where {@code rust/net/tests/programs/fetch} puts redis. */
    private static final String FETCHED = "net-programs/root/usr/bin";

    private static final String REDIS_SERVER = "redis-server";

    private static final List<NetWay> WAYS =
            List.of(NetWay.LOOPBACK, NetWay.UNIX, NetWay.VETH, NetWay.VXLAN, NetWay.MEMORY);
    private static final List<NetWay> WAYS_OF_ROOT =
            Stream.concat(WAYS.stream(), Stream.of(NetWay.SOCKMAP)).toList();
    private static final List<NetWay> WAYS_OF_QUICK =
            List.of(NetWay.VETH, NetWay.MEMORY, NetWay.NO_AGENT);
    private static final List<NetWork> WORKS_OF_QUICK = List.of(NetWork.PING, NetWork.STREAM);

    /** What was not given may be that of the short form. */
    private final BooleanSupplier isQuick;

    /** Only root may change how the kernel passes bytes on. */
    private final boolean isRoot;

    @Option(
            names = "--ways",
            paramLabel = "LIST",
            split = ",",
            converter = NetWay.Converter.class,
            description =
                    "How the two programs talk, with commas (default: loopback,unix,veth,vxlan,memory,"
                            + " and sockmap for root; quick: veth,memory,no-agent).")
    private List<NetWay> ways = List.of();

    @Option(
            names = "--works",
            paramLabel = "LIST",
            split = ",",
            converter = NetWork.Converter.class,
            description =
                    "What connections are used for, with commas: ping (a message there and back, one at"
                            + " a time), stream (blocks one way), connect (a connection for each"
                            + " message), redis (its own load, 16 commands at a time; default: all"
                            + " four; quick: ping,stream).")
    private List<NetWork> works = List.of();

    @Option(
            names = "--sizes",
            paramLabel = "LIST",
            split = ",",
            converter = ByteSize.Converter.class,
            description =
                    "Bytes of a message or a block, with commas (default: 64,8k for ping, 1k,128k for"
                            + " stream, 64 for connect).")
    private List<ByteSize> sizes = List.of();

    @Option(
            names = "--connections",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Connections, each with a thread at both ends, with commas (default: 1,16 for ping,"
                            + " 1,4 for stream and connect; quick: 1).")
    private List<Integer> connections = List.of();

    @Option(
            names = "--spin",
            paramLabel = "LIST",
            split = ",",
            converter = SpinConverter.class,
            description =
                    "As in net run, with commas: auto, off (default: auto). Of meaning for memory.")
    private List<String> spins = List.of("auto");

    @Option(
            names = "--busy",
            paramLabel = "LIST",
            split = ",",
            description = "Threads that do nothing but work, beside it, with commas (default: 0).")
    private List<Integer> busy = List.of(0);

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            description = "How long it runs before it counts (default: 2s; quick: 500ms).")
    private @Nullable Duration warmUp;

    @Option(
            names = "--open",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "Counted time (default: 5s; quick: 1s). redis gets 100,000 commands for each second"
                            + " of it.")
    private @Nullable Duration open;

    @Option(
            names = "--agent",
            paramLabel = "on|off",
            converter = OnOff.Converter.class,
            description =
                    "off: way memory runs without its agent, with --quick only, which then has to end"
                            + " with 1 (default: on).")
    private OnOff agent = OnOff.ON;

    @Option(
            names = "--build",
            paramLabel = "KIND",
            converter = RustPrograms.Build.Converter.class,
            description =
                    "How the programs are compiled: release, or dev, as their tests are: slower, and"
                            + " only for --quick (default: release).")
    RustPrograms.Build build = RustPrograms.Build.RELEASE;

    NetArguments(BooleanSupplier isQuick, boolean isRoot) {
        this.isQuick = isQuick;
        this.isRoot = isRoot;
    }

    /** For picocli. */
    static final class SpinConverter implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            if (text.equals("auto") || text.equals("off")) {
                return text;
            }
            throw new TypeConversionException("'%s' is none; use auto or off".formatted(text));
        }
    }

    /** Wrong values are the command's usage errors. */
    void check(CommandLine command) {
        checkDistinct(command, "--ways", ways());
        checkDistinct(command, "--works", works());
        checkDistinct(command, "--spin", spins);
        checkDistinct(command, "--busy", busy);
        checkNoneTwice(command, "--sizes", sizes);
        checkNoneTwice(command, "--connections", connections);
        for (ByteSize size : sizes) {
            checkRange(command, "--sizes", size.bytes(), SIZE_MIN.bytes(), SIZE_MAX.bytes());
        }
        for (int count : connections) {
            checkRange(command, "--connections", count, 1, CONNECTIONS_MAX);
        }
        for (int count : busy) {
            checkRange(command, "--busy", count, 0, BUSY_MAX);
        }
        if (!isQuick.getAsBoolean() && agent == OnOff.OFF) {
            throw new ParameterException(command, "--agent off: only with --quick");
        }
        if (!isQuick.getAsBoolean() && build == RustPrograms.Build.DEV) {
            throw new ParameterException(command, "--build dev: only with --quick");
        }
        if (counted().isZero()) {
            throw new ParameterException(command, "--open: use more than 0");
        }
    }

    private static void checkDistinct(CommandLine command, String option, List<?> values) {
        if (values.isEmpty()) {
            throw new ParameterException(command, option + ": name each of them once");
        }
        checkNoneTwice(command, option, values);
    }

    private static void checkNoneTwice(CommandLine command, String option, List<?> values) {
        if (new HashSet<>(values).size() < values.size()) {
            throw new ParameterException(command, option + ": name each of them once");
        }
    }

    private static void checkRange(
            CommandLine command, String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw new ParameterException(
                    command, "%s %d: use numbers from %d to %d".formatted(option, value, min, max));
        }
    }

    private List<NetWay> ways() {
        if (!ways.isEmpty()) {
            return ways;
        }
        if (isQuick.getAsBoolean()) {
            return WAYS_OF_QUICK;
        }
        return isRoot ? WAYS_OF_ROOT : WAYS;
    }

    private List<NetWork> works() {
        if (!works.isEmpty()) {
            return works;
        }
        return isQuick.getAsBoolean() ? WORKS_OF_QUICK : List.of(NetWork.values());
    }

    private Stream<Long> sizes(NetWork work) {
        return sizes.isEmpty() || work == NetWork.REDIS
                ? work.sizes().stream()
                : sizes.stream().map(ByteSize::bytes);
    }

    private List<Integer> connections(NetWork work) {
        if (work == NetWork.REDIS) {
            return work.connections();
        }
        if (!connections.isEmpty()) {
            return connections;
        }
        return isQuick.getAsBoolean() ? List.of(1) : work.connections();
    }

    /** Where the programs are after a build. */
    NetPlan.Tools tools() {
        return new NetPlan.Tools(
                build.folder().resolve("afterbay-net-bench").toString(),
                redis().map(Path::toString).findFirst().orElse(""));
    }

    /** Folders with redis in them. */
    private static Stream<Path> redis() {
        Path fetched = RustPrograms.target().resolve(FETCHED).resolve(REDIS_SERVER);
        return Stream.concat(RustPrograms.onPath(REDIS_SERVER), Stream.of(fetched))
                .filter(Files::isExecutable)
                .map(path -> Objects.requireNonNull(path.toAbsolutePath().getParent()));
    }

    /** Why something that was asked for does not run; nothing if all of it does. */
    List<String> notRun(NetPlan.Tools tools) {
        return works().contains(NetWork.REDIS) && tools.redis().isEmpty()
                ? List.of(
                        "redis: not run, it is not installed;"
                                + " (rust/net/tests/programs/fetch rust/target/net-programs gets it)")
                : List.of();
    }

    /** One for each pair of a setting; with each pair another way begins. */
    List<List<NetPlan>> rounds(int pairs, NetPlan.Tools tools) {
        List<List<NetPlan>> rounds = new ArrayList<>();
        for (NetWork work : works()) {
            if (work == NetWork.REDIS && tools.redis().isEmpty()) {
                continue;
            }
            for (long size : sizes(work).toList()) {
                for (int count : connections(work)) {
                    for (int threads : busy) {
                        for (int pair = 1; pair <= pairs; pair++) {
                            rounds.add(round(work, size, count, threads, pair, tools));
                        }
                    }
                }
            }
        }
        return rounds;
    }

    private List<NetPlan> round(
            NetWork work, long size, int count, int threads, int pair, NetPlan.Tools tools) {
        List<NetPlan> round = new ArrayList<>();
        for (NetWay way : ways()) {
            if (way == NetWay.SOCKMAP && work == NetWork.REDIS) {
                continue;
            }
            boolean isOurs = way == NetWay.MEMORY;
            for (String spin : isOurs ? spins : List.of(spins.get(0))) {
                NetTrial.Setting setting =
                        new NetTrial.Setting(
                                way.label(), work.label(), size, count, spin, threads, pair);
                round.add(new NetPlan(setting, times(), tools, agent == OnOff.ON || !isOurs));
            }
        }
        Collections.rotate(round, 1 - pair);
        return round;
    }

    private NetPlan.Times times() {
        Duration before =
                warmUp == null ? Duration.ofMillis(isQuick.getAsBoolean() ? 500 : 2000) : warmUp;
        return new NetPlan.Times(before.toMillis(), counted().toMillis());
    }

    private Duration counted() {
        return open == null ? Duration.ofMillis(isQuick.getAsBoolean() ? 1000 : 5000) : open;
    }
}
