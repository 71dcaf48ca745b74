package io.afterbay.cli.doctor.reading;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Reads all logs that are found, one after the other. */
public final class LogReading {
    private static final long MIB = 1 << 20;

    private final Tally tally = new Tally();
    private final Map<String, LogParser> parsers = new LinkedHashMap<>();
    private final Consumer<String> progress;

    private LogReading(Consumer<String> progress) {
        this.progress = progress;
    }

    /**
     * What was read: instances in the order of their names, those without any event left out.
     *
     * @param hasLogs whether there was any file at all to read
     */
    public record Logs(List<InstanceLog> instances, Tally tally, boolean hasLogs) {}

    /**
     * Reads the logs at and below the paths. What cannot be read is in the tally.
     *
     * @param progress takes a line from time to time
     */
    public static Logs read(List<Path> paths, Consumer<String> progress) {
        return new LogReading(progress).read(paths);
    }

    private Logs read(List<Path> paths) {
        List<Path> files = LogSearch.find(paths, tally);
        for (int i = 0; i < files.size(); i++) {
            read(files.get(i), "log " + (i + 1) + " of " + files.size());
        }
        List<InstanceLog> instances = new ArrayList<>();
        for (LogParser parser : parsers.values()) {
            parser.finish();
            if (parser.hasEvents()) {
                instances.add(parser.log());
            }
        }
        instances.sort(NaturalOrder.INSTANCES);
        return new Logs(instances, tally, !files.isEmpty());
    }

    private void read(Path file, String place) {
        InstanceName name = InstanceName.of(file);
        LogParser parser =
                parsers.computeIfAbsent(
                        name.key(), key -> new LogParser(new InstanceLog(name), tally));
        long eventsBefore = tally.events;
        try (LogLines lines = new LogLines(Files.newInputStream(file))) {
            read(lines, parser, place);
            tally.files++;
            if (tally.events == eventsBefore) {
                tally.withoutEvents().add(file.toString());
            }
        } catch (IOException e) {
            tally.unreadable().add(new Tally.Unreadable(file.toString(), reason(e)));
        }
    }

    private void read(LogLines lines, LogParser parser, String place) throws IOException {
        long before = tally.bytes;
        parser.beginFile();
        while (lines.next()) {
            parser.line(lines);
            if (++tally.lines % 4096 == 0) {
                tally.bytes = before + lines.bytes();
                progress.accept(
                        "%s, %,d MiB, %,d events"
                                .formatted(place, tally.bytes / MIB, tally.events));
            }
        }
        tally.bytes = before + lines.bytes();
    }

    /** For tests and other sources than files. */
    static Logs read(InstanceName name, InputStream in) throws IOException {
        LogReading reading = new LogReading(line -> {});
        LogParser parser = new LogParser(new InstanceLog(name), reading.tally);
        try (LogLines lines = new LogLines(in)) {
            reading.read(lines, parser, "");
        }
        parser.finish();
        return new Logs(List.of(parser.log()), reading.tally, true);
    }

    static String reason(IOException e) {
        if (e instanceof NoSuchFileException) {
            return "there is no such file; check the path";
        }
        if (e instanceof AccessDeniedException) {
            return "it may not be read; run as its owner, or copy it";
        }
        String message = e.getMessage();
        return (message == null ? e.getClass().getSimpleName() : message)
                + "; copy the file elsewhere and name the copy";
    }
}
