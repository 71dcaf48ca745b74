package io.afterbay.experiments.blob;

import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code afterbay bench blob}. */
@Command(
        name = "blob",
        description = {
            "What the blob store does with the machine, beside its limits and MinIO.",
            "",
            "Clients put or get objects whose bytes follow from their number, one request after the"
                    + " other, at a server in a process of its own. Every object that was"
                    + " acknowledged is read and compared byte by byte, apart from the counted time."
                    + " Variants run in turn, and with each pair another one begins.",
            "",
            "Variants: afterbay-native and afterbay-s3 (the blob store, each acknowledged put synced),"
                    + " minio (on one drive, with what it syncs by default), bare (a server that"
                    + " answers gets from memory and computes the MD5 of puts), loopback (one TCP"
                    + " stream), disk (appends in groups with one fdatasync each), disk-read (reads"
                    + " around the page cache, for cold gets), control and control-s3"
                    + " (afterbay-native and afterbay-s3, and one byte of one object is put as another"
                    + " one: it has to be found).",
            "",
            "Runs are appended to bench/results/blob.jsonl round by round. Rounds that are there for"
                    + " this revision, as long and with as much memory, are left out, so the experiment can be stopped and continued."
                    + " Data is in --work-dir, whose disk is measured.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench blob --quick",
            "  ./afterbay bench blob --operations get --sizes 1m --clients 1,2,8 --pairs 3",
            "  ./afterbay bench blob --variants afterbay-s3,minio --sizes 25k,100k --work-dir /data",
            "  ./afterbay bench blob --operations get --cache cold --sizes 25k,1m --pairs 3",
            "  ./afterbay bench blob --index 1000000,10000000 --pairs 1",
            "  ./afterbay bench blob --s3-tests ../s3-tests",
            "",
            "Exit codes: 0 done, 1 a run failed, a byte differed or a control's did not,",
            "2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchBlobCommand extends TrialCommand<BlobPlan, BlobTrial> {
    @Mixin private final BlobArguments blob = new BlobArguments(() -> arguments.quick);

    public BenchBlobCommand() {
        super(Options.WITHOUT_FLINK);
    }

    @Override
    protected void check(CommandLine command) {
        blob.check(command);
    }

    @Override
    protected TrialKind<BlobPlan, BlobTrial> kind(CommandLine command) {
        return kind(BlobPrograms.tools(blob.build));
    }

    /** The same with other programs. */
    BlobKind kind(BlobPlan.Tools tools) {
        return new BlobKind(blob.rounds(arguments.pairs(), tools), blob.build, blob.notRun(tools));
    }

    @Override
    protected OptionalInt instead() throws CommandFailure, InterruptedException {
        Optional<S3Tests> tests = blob.s3Tests();
        return tests.isEmpty() ? OptionalInt.empty() : OptionalInt.of(tests.get().run());
    }

    /** Of the process between this one and the servers. */
    @Override
    protected @Nullable MemorySplit memoryOfWorker() {
        return MemorySplit.OF_CLIENT;
    }
}
