package io.afterbay.cli;

import io.afterbay.cli.doctor.analysis.Diagnosis;
import io.afterbay.cli.doctor.live.LiveCounters;
import io.afterbay.cli.doctor.live.LiveJson;
import io.afterbay.cli.doctor.live.LiveText;
import io.afterbay.cli.doctor.reading.LatencyLog;
import io.afterbay.cli.doctor.reading.LogReading;
import io.afterbay.cli.doctor.reading.Tally;
import io.afterbay.cli.doctor.report.DoctorJson;
import io.afterbay.cli.doctor.report.DoctorPage;
import io.afterbay.cli.doctor.report.DoctorText;
import io.afterbay.cli.doctor.report.Report;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code afterbay doctor LOG...}, and its subjects. */
@Command(
        name = "doctor",
        description = {
            "Find out whether RocksDB instances flush and compact at the same time, and what to set.",
            "",
            "Reads the info logs of all instances of a worker, of Flink, Kafka Streams or any other"
                    + " program with RocksDB 6 to 11; or the counters of a running TaskManager that"
                    + " has Afterbay's options factory. More: docs/doctor.md.",
            ""
        },
        subcommands = {DoctorOrphansCommand.class},
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay doctor $FLINK_HOME/log",
            "  ./afterbay doctor /var/lib/kafka-streams --html overlap.html",
            "  ./afterbay doctor db-*/LOG --latency latency.csv --json",
            "  ./afterbay doctor --live localhost:9250",
            "",
            "Exit codes: 0 done, 1 nothing could be read or a file could not be written, 2 wrong",
            "options, 130 Ctrl-C, 143 SIGTERM."
        })
final class DoctorCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "LOG",
            arity = "0..*",
            description =
                    "An info log of RocksDB, or a directory that is searched for them: LOG, *_LOG and"
                            + " rocksdb.LOG, with those that were rotated (.old.TIME).")
    private List<Path> logs = new ArrayList<>();

    @Option(
            names = "--latency",
            paramLabel = "FILE",
            description =
                    "Latency of the same time: an interval log of HdrHistogram (nanoseconds), or CSV"
                            + " with a line per window of 50 ms: its begin (seconds since 1970, or ISO"
                            + " 8601), and the worst latency in milliseconds.")
    private @Nullable Path latency;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Write a page with a timeline to this file; it works offline.")
    private @Nullable Path html;

    @Option(
            names = "--live",
            paramLabel = "HOST:PORT",
            description =
                    "Read the counters of a running process from its JMX port (or service:jmx: URL),"
                            + " rather than logs.")
    private @Nullable String live;

    @Option(names = "--json", description = "Print the report as JSON instead of the text.")
    private boolean json;

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws CommandFailure {
        CommandLine command = Afterbay.commandOf(spec);
        if (live != null) {
            return look(command, live);
        }
        if (logs.isEmpty()) {
            throw Afterbay.missingVerb(spec, "logs, or a subject");
        }
        @Nullable LatencyLog latencyLog = latency == null ? null : readLatency(latency);
        LogReading.Logs read = readLogs();
        sayWhatCannotBeRead(command.getErr(), read.tally());
        if (read.tally().files() == 0) {
            throw new CommandFailure(nothingRead(read));
        }
        Diagnosis diagnosis = Diagnosis.of(read.instances(), latencyLog);
        if (latencyLog != null && diagnosis.latency().isEmpty()) {
            sayOtherTime(command.getErr());
        }
        write(command.getOut(), Report.of(diagnosis, read.tally(), latencyLog));
        return ExitCode.OK;
    }

    private int look(CommandLine command, String address) throws CommandFailure {
        if (!logs.isEmpty() || latency != null || html != null) {
            throw new ParameterException(
                    command, "--live: counters have no logs, --latency or --html; leave these out");
        }
        List<LiveCounters> counters = readCounters(address);
        if (counters.isEmpty()) {
            throw new CommandFailure(
                    "--live %s: nothing counts its RocksDB instances, so nothing can be said; set state.backend.rocksdb.options-factory: io.afterbay.flink.DesyncRocksDBOptionsFactory in Flink's conf/config.yaml (docs/desync.md), or name its logs instead"
                            .formatted(address));
        }
        if (json) {
            command.getOut().print(LiveJson.of(counters));
            command.getOut().flush();
        } else {
            LiveText.print(command.getOut(), counters);
        }
        return ExitCode.OK;
    }

    private static List<LiveCounters> readCounters(String address) throws CommandFailure {
        try {
            return LiveCounters.read(address);
        } catch (IOException e) {
            throw new CommandFailure(
                    "--live %s: no JMX there: %s; set jmx.server.port: 9250-9260 in Flink's conf/config.yaml; the TaskManager's log says which port it has (docs/desync.md)"
                            .formatted(address, Failures.reason(e)),
                    e);
        }
    }

    private LogReading.Logs readLogs() {
        ProgressLine line = new ProgressLine(System.err, true);
        LogReading.Logs read = LogReading.read(logs, progress(line));
        line.clear();
        return read;
    }

    private static Consumer<String> progress(ProgressLine line) {
        if (!Terminal.isStandardError()) {
            return message -> {};
        }
        return message -> {
            if (line.isDue()) {
                line.show(message);
            }
        };
    }

    private static LatencyLog readLatency(Path file) throws CommandFailure {
        try {
            return LatencyLog.read(file);
        } catch (NoSuchFileException e) {
            throw new CommandFailure("--latency " + file + ": there is no such file", e);
        } catch (IOException e) {
            throw new CommandFailure("--latency " + file + ": " + Failures.reason(e), e);
        }
    }

    private static void sayWhatCannotBeRead(PrintWriter err, Tally tally) {
        tally.unreadable()
                .forEach(
                        one ->
                                err.println(
                                        "afterbay doctor: not read: "
                                                + one.path()
                                                + ": "
                                                + one.reason()));
        err.flush();
    }

    private static void sayOtherTime(PrintWriter err) {
        err.println(
                "afterbay doctor: no window of --latency lies in the time of the logs; its times"
                        + " must be UTC, in seconds since 1970 or ISO 8601. It is left out.");
        err.flush();
    }

    private String nothingRead(LogReading.Logs read) {
        return read.hasLogs()
                ? "none of the logs could be read"
                : "there is no info log of RocksDB in %s (LOG, *_LOG, rocksdb.LOG); name the log itself, or with Flink set state.backend.rocksdb.log.dir and state.backend.rocksdb.log.level: INFO_LEVEL"
                        .formatted(logs);
    }

    private void write(PrintWriter out, Report report) throws CommandFailure {
        if (json) {
            out.print(DoctorJson.of(report));
            out.flush();
        } else {
            DoctorText.print(out, report);
        }
        if (html != null) {
            writePage(html, report);
            if (!json) {
                out.println();
                out.println("Timeline: " + html);
                out.flush();
            }
        }
    }

    private static void writePage(Path file, Report report) throws CommandFailure {
        try {
            Files.writeString(file, DoctorPage.of(report));
        } catch (IOException e) {
            throw new CommandFailure(
                    "--html %s cannot be written: %s; make room or choose another place"
                            .formatted(file, Failures.reason(e)),
                    e);
        }
    }
}
