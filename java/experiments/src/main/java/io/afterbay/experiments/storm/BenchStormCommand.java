package io.afterbay.experiments.storm;

import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code afterbay bench storm}. */
@Command(
        name = "storm",
        description = {
            "What slow tasks and long queues do to the latency on Storm, and what is done about it.",
            "",
            "Tuples come by a schedule, whatever Storm does, at random times (a Poisson process), and"
                    + " pass bolts that sleep for each of them (in cgroups: work). Latency is from when a tuple was due"
                    + " to its ack. Each run is a process of its own with Storm in it, whose workers"
                    + " are threads, and a warm-up. Variants run in turn, and with each pair another one begins.",
            "",
            "Variants: shuffle (round robin), load-aware (Storm's default: the load-aware shuffle, with"
                    + " queues of 32768 tuples), load-aware-64 (the same with queues of 64, whose load"
                    + " it sees sooner), load-aware-anywhere and"
                    + " load-aware-64-anywhere (both without"
                    + " locality, which fills tasks in the sender's worker first), algorithm-2 (Du & Gupta's balance: 1 %% of the tuples every 5"
                    + " s), jitter (the rule of Storm 3: the one of two random tasks whose times differ"
                    + " less, told every 10 s), blind-20, blind-50, blind-100 (so many percent of the"
                    + " tuples are sent twice at once, and the first to be done counts), shared (the"
                    + " tasks have one queue), balanced (senders give each task as much as it can"
                    + " take), replay (late tuples are sent a second time, 2 %% of them at most, while"
                    + " queues are at work for up to 58 %% of the time and processors for up to 49"
                    + " %%), replay-always (the same without these limits).",
            "",
            "Runs are appended to bench/results/storm.jsonl round by round. Rounds that are there for"
                    + " this revision, as long, are left out, so the experiment can be stopped and"
                    + " continued. docs/storm-results.md says which command makes which table and"
                    + " figure of Du & Gupta's paper.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench storm --quick",
            "  ./afterbay bench storm --quick --policy off          # ends with 1",
            "  ./afterbay bench storm --cells slow,overload --pairs 3 --open 30s",
            "  ./afterbay bench storm --cells queue --tasks 4 --utilisations 78,90 --pairs 3",
            "  ./afterbay bench storm --cells queue --tasks 4 --operations 20000 --pairs 3",
            "  ./afterbay bench storm --cells replication --pairs 3 --open 60s",
            "  ./afterbay bench storm --cells pageload-high,processing-high --utilisations 60 --pairs 3",
            "  ./afterbay bench storm --cells uneven,beside,mixed --pairs 3 --open 60s",
            "  ./afterbay bench storm --cells limits --utilisations 40 --busy 0,60 --open 60s",
            "  ./afterbay bench storm --cells mixed --variants shuffle,balanced,replay --utilisations 9,27",
            "  ./afterbay bench storm --cells slow --variants load-aware-64,balanced --stages 3",
            "",
            "Exit codes: 0 done, 1 a run failed, a tuple was not acked once, a technique did nothing or",
            "a baseline did something, 2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchStormCommand extends TrialCommand<StormPlan, StormTrial> {
    @Mixin private final StormArguments storm = new StormArguments(() -> arguments.quick);

    public BenchStormCommand() {
        super(Options.WITHOUT_FLINK);
    }

    @Override
    protected void check(CommandLine command) {
        storm.check(command);
    }

    @Override
    protected TrialKind<StormPlan, StormTrial> kind(CommandLine command) {
        return new StormKind(storm.rounds(arguments.pairs()));
    }

    /** Of the process between this one and that with Storm. */
    @Override
    protected @Nullable MemorySplit memoryOfWorker() {
        return MemorySplit.OF_CLIENT;
    }
}
