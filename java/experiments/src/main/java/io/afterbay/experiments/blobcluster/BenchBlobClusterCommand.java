package io.afterbay.experiments.blobcluster;

import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.blob.BlobPrograms;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code afterbay bench blob-cluster}. */
@Command(
        name = "blob-cluster",
        description = {
            "What the blob store does on three nodes, processes of this machine, with a copy of each"
                    + " object on each of them.",
            "",
            "put and get: clients at all nodes, one request after the other. kill: clients at two nodes"
                    + " put and get by a schedule, and every byte that they get is compared; the third"
                    + " node is killed with -9 and comes back. No request may fail, and in the end"
                    + " nothing may be missing anywhere. Then every object that was acknowledged is read"
                    + " at that node alone, and, after another node has lost its disk and filled it"
                    + " again, at that one alone.",
            "",
            "Variants: afterbay (two of three copies acknowledge a put, each synced), control (the same"
                    + " nodes without copies: requests have to fail, and the lost disk's objects have to"
                    + " be lost, each of them). There is no peer among them yet.",
            "",
            "Runs are appended to bench/results/blob-cluster.jsonl round by round. Rounds that are there"
                    + " for this revision and as long are left out, so the experiment can be stopped and"
                    + " continued. Data is in --work-dir, whose disk is measured: all nodes share it, and"
                    + " the processors.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench blob-cluster --quick",
            "  ./afterbay bench blob-cluster --operations kill --rate 500 --phase 10s --pairs 3",
            "  ./afterbay bench blob-cluster --operations put,get --sizes 25k,1m --clients 4 --work-dir /data",
            "",
            "Exit codes: 0 done, 1 a run failed, a request did, a byte differed, something was lost or",
            "stayed under-replicated, or the control lost nothing, 2 wrong options, 130 Ctrl-C,",
            "143 SIGTERM."
        })
public final class BenchBlobClusterCommand extends TrialCommand<ClusterPlan, ClusterTrial> {
    @Mixin private final ClusterArguments cluster = new ClusterArguments(() -> arguments.quick);

    public BenchBlobClusterCommand() {
        super(Options.WITHOUT_FLINK);
    }

    @Override
    protected void check(CommandLine command) {
        cluster.check(command);
    }

    @Override
    protected TrialKind<ClusterPlan, ClusterTrial> kind(CommandLine command) {
        ClusterPlan.Tools tools =
                new ClusterPlan.Tools(
                        BlobPrograms.load(cluster.build).toString(),
                        BlobPrograms.server(cluster.build).toString());
        return new ClusterKind(cluster.rounds(arguments.pairs(), tools), cluster.build);
    }

    /** Of the process between this one and the nodes. */
    @Override
    protected @Nullable MemorySplit memoryOfWorker() {
        return MemorySplit.OF_CLIENT;
    }
}
