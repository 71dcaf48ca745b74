package io.afterbay.doctor;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.ExitCode;
import io.afterbay.command.ProgressLine;
import io.afterbay.command.Terminal;
import io.afterbay.doctor.live.LiveCounters;
import io.afterbay.doctor.live.LiveJson;
import io.afterbay.doctor.live.LiveText;
import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.GcLog;
import io.afterbay.doctor.reading.LatencyLog;
import io.afterbay.doctor.reading.LogReading;
import io.afterbay.doctor.reading.Tally;
import io.afterbay.doctor.report.DoctorJson;
import io.afterbay.doctor.report.DoctorPage;
import io.afterbay.doctor.report.DoctorText;
import io.afterbay.doctor.report.Report;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.MalformedURLException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code afterbay doctor LOG...}: the program. */
@Command(
        name = "afterbay doctor",
        description = {
            "Find out whether RocksDB instances flush and compact at the same time, and what to set.",
            "",
            "Reads the info logs of all instances of a worker, of Flink, Kafka Streams or any other"
                    + " program with RocksDB 6 to 11; or the counters of a running process that has"
                    + " Afterbay's options factory (Flink) or config setter (Kafka Streams). Of a few"
                    + " databases with many column families, these are compared. More:"
                    + " docs/doctor.md.",
            "",
            "Files in checkpoint storage that nobody needs: ./afterbay doctor orphans --help.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay doctor $FLINK_HOME/log",
            "  ./afterbay doctor /var/lib/kafka-streams --html overlap.html",
            "  ./afterbay doctor log --latency latency.csv --gc-log gc.log --html overlap.html",
            "  ./afterbay doctor db-*/LOG --json",
            "  ./afterbay doctor --live localhost:9250",
            "",
            "Exit codes: 0 done, 1 nothing could be read or a file could not be written, 2 wrong",
            "options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class Doctor implements Callable<Integer> {
    private static final Duration LIVE_TIMEOUT = Duration.ofSeconds(10);

    /** Without counters nothing is claimed. */
    private static final String NO_COUNTERS =
            """
            --live %s: nothing there counts its RocksDB instances, so nothing can be said. Name its logs instead, or switch the counters on and start it again (docs/desync.md):

              Flink, conf/config.yaml, with the Afterbay jar in lib/:
                state.backend.rocksdb.options-factory: io.afterbay.flink.DesyncRocksDBOptionsFactory
                jmx.server.port: 9250-9260

              Kafka Streams, the application's properties, with the Afterbay jar on its class path:
                rocksdb.config.setter=io.afterbay.kafka.DesyncRocksDBConfigSetter""";

    @Parameters(
            paramLabel = "LOG",
            arity = "0..*",
            description =
                    "An info log of RocksDB, or a directory that is searched for them: LOG, *_LOG and"
                            + " rocksdb.LOG, with those that were rotated (.old.TIME) or packed (.gz).")
    private List<Path> logs = new ArrayList<>();

    @Option(
            names = "--latency",
            paramLabel = "FILE",
            description =
                    "Latency of the same time: an interval log of HdrHistogram (nanoseconds), or CSV"
                            + " with a line per window of 50 ms: its begin (seconds since 1970, or ISO"
                            + " 8601), and the worst latency in milliseconds. With a header such as"
                            + " time_ms,latency_ms,cpu,queue also the part of all processors that is"
                            + " busy (0 to 1), and the events that wait.")
    private @Nullable Path latency;

    @Option(
            names = "--gc-log",
            paramLabel = "FILE",
            description =
                    "The garbage collector's log of the same process (-Xlog:gc* of JDK 9 and later), once"
                            + " for each file, to tell its pauses from the work of RocksDB.")
    private List<Path> gcLogs = new ArrayList<>();

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

    private Doctor() {}

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    /** As users type it, without the name. */
    public static CommandLine commandLine() {
        return CommandLines.of(new Doctor());
    }

    @Override
    public Integer call() throws CommandFailure {
        CommandLine command = CommandLines.commandOf(spec);
        if (live != null) {
            return look(command, live);
        }
        try {
            return diagnose(command);
        } catch (OutOfMemoryError e) {
            throw new CommandFailure(
                    "the logs have more flushes and compactions than fit into memory; name those of a"
                            + " shorter time, or of every other instance",
                    e);
        }
    }

    private int diagnose(CommandLine command) throws CommandFailure {
        if (logs.isEmpty()) {
            throw CommandLines.missingVerb(spec, "logs, --live or a subject (orphans)");
        }
        Evidence evidence =
                Evidence.of(
                        latency == null ? null : readLatency(latency),
                        gcLogs.isEmpty() ? null : readGcLogs());
        LogReading.Logs read = readLogs();
        sayWhatCannotBeRead(command.getErr(), read.tally());
        if (read.tally().files() == 0) {
            throw new CommandFailure(nothingRead(read));
        }
        Report report = Report.of(read.instances(), read.tally(), evidence);
        if (evidence.latency().isPresent() && report.diagnosis().latency().isEmpty()) {
            sayOtherTime(command.getErr(), "window of --latency");
        }
        if (evidence.gc().isPresent() && report.diagnosis().gcPauses().isEmpty()) {
            sayOtherTime(command.getErr(), "pause of --gc-log");
        }
        write(command.getOut(), report);
        return ExitCode.OK;
    }

    private int look(CommandLine command, String address) throws CommandFailure {
        if (!logs.isEmpty() || latency != null || !gcLogs.isEmpty() || html != null) {
            throw new ParameterException(
                    command,
                    "--live: counters have no logs, --latency, --gc-log or --html; leave these out");
        }
        List<LiveCounters> counters = readCounters(address);
        if (counters.isEmpty()) {
            throw new CommandFailure(NO_COUNTERS.formatted(address));
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
            return LiveCounters.read(address, LIVE_TIMEOUT);
        } catch (MalformedURLException e) {
            throw new CommandFailure(
                    "--live %s: %s; for example localhost:9250"
                            .formatted(address, CommandFailure.reason(e)),
                    e);
        } catch (IOException e) {
            throw new CommandFailure(
                    "--live %s: no JMX there: %s; set jmx.server.port: 9250-9260 in Flink's conf/config.yaml; the TaskManager's log says which port it has (docs/desync.md)"
                            .formatted(address, CommandFailure.reason(e)),
                    e);
        }
    }

    /** Shows how far it is: on a terminal in one line, else in a line every few seconds. */
    private LogReading.Logs readLogs() {
        ProgressLine line = new ProgressLine(System.err, Terminal.isStandardError());
        LogReading.Logs read =
                LogReading.read(
                        logs,
                        message -> {
                            if (line.isDue()) {
                                line.show(message.get());
                            }
                        });
        line.clear();
        return read;
    }

    private static LatencyLog readLatency(Path file) throws CommandFailure {
        try {
            return LatencyLog.read(file);
        } catch (IOException e) {
            throw new CommandFailure("--latency " + file + ": " + LogReading.reason(e), e);
        }
    }

    private GcLog readGcLogs() throws CommandFailure {
        try {
            return GcLog.read(gcLogs);
        } catch (IOException e) {
            throw new CommandFailure("--gc-log " + CommandFailure.reason(e), e);
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

    private static void sayOtherTime(PrintWriter err, String what) {
        err.println(
                "afterbay doctor: no "
                        + what
                        + " lies in the time of the logs; its times must be since 1970 (UTC), or have"
                        + " their zone, as in ISO 8601. It is left out.");
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
                            .formatted(file, CommandFailure.reason(e)),
                    e);
        }
    }
}
