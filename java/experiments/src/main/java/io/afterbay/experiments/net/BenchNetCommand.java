package io.afterbay.experiments.net;

import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code afterbay bench net}. */
@Command(
        name = "net",
        description = {
            "What two programs of a host get from shared-memory sockets, beside TCP and Unix sockets.",
            "",
            "A server and its clients run on each way in turn, and with each pair another one begins."
                    + " Networks are in namespaces of their own and need no root. All that is read is"
                    + " checked (of redis, values that are read back before and after its load),"
                    + " what interfaces carry is counted, and processor time is that of both ends.",
            "",
            "Ways: loopback (TCP over the loopback interface), unix (a Unix socket), veth (TCP between"
                    + " two containers: a veth pair each, and a bridge), vxlan (the same between two"
                    + " hosts, with VXLAN between the bridges), sockmap (as veth, and eBPF passes bytes"
                    + " from socket to socket; both programs put theirs into its map, which needs root),"
                    + " memory (as veth, and both programs run"
                    + " by 'afterbay net run'), no-agent (the control: as memory, and no agent runs).",
            "",
            "Runs are appended to bench/results/net.jsonl round by round. Rounds that are there for this"
                    + " revision and as long are left out, so the experiment can be stopped and"
                    + " continued.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench net --quick",
            "  ./afterbay bench net --quick --agent off             # ends with 1",
            "  ./afterbay bench net --works ping --sizes 64,1k --connections 1,16,64 --pairs 3",
            "  ./afterbay bench net --works stream --ways veth,memory --spin auto,off --busy 0,8",
            "  ./afterbay bench net --works redis --pairs 3",
            "",
            "Exit codes: 0 done, 1 a run failed, a byte was wrong, memory was not used or the control",
            "used it, 2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchNetCommand extends TrialCommand<NetPlan, NetTrial> {
    @Mixin private final NetArguments net = new NetArguments(() -> arguments.quick, isRoot());

    private static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    public BenchNetCommand() {
        super(Options.WITHOUT_FLINK);
    }

    @Override
    protected void check(CommandLine command) {
        net.check(command);
    }

    @Override
    protected TrialKind<NetPlan, NetTrial> kind(CommandLine command) {
        return kind(net.tools());
    }

    /** The same with other programs. */
    NetKind kind(NetPlan.Tools tools) {
        return new NetKind(net.rounds(arguments.pairs(), tools), net.build, net.notRun(tools));
    }

    /** Of the process between this one and the programs. */
    @Override
    protected @Nullable MemorySplit memoryOfWorker() {
        return MemorySplit.OF_CLIENT;
    }
}
