package io.afterbay.doctor.reading;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.zip.ZipException;

/** Reads all logs that are found, one after the other. */
public final class LogReading {
    /** A power of two: so many lines are less than a tenth of a second. */
    private static final int LINES_PER_STEP = 4096;

    private final Tally tally = new Tally();
    private final Map<String, LogParser> parsers = new LinkedHashMap<>();
    private final Consumer<Supplier<String>> progress;

    private LogReading(Consumer<Supplier<String>> progress) {
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
     * @param progress takes what makes a line, from time to time
     */
    public static Logs read(List<Path> paths, Consumer<Supplier<String>> progress) {
        return new LogReading(progress).read(paths);
    }

    private Logs read(List<Path> paths) {
        List<Path> files = LogSearch.find(paths, tally);
        ReadingProgress read = new ReadingProgress(files);
        files.forEach(file -> read(file, read));
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

    private void read(Path file, ReadingProgress read) {
        read.beginFile();
        InstanceName name = InstanceName.of(file);
        LogParser parser =
                parsers.computeIfAbsent(
                        name.key(), key -> new LogParser(new InstanceLog(name), tally));
        long eventsBefore = tally.events;
        try (LogLines lines = new LogLines(InputFile.openText(file, read::read))) {
            parser.beginFile(InstanceName.databaseOf(file));
            read(lines, parser, read);
            tally.files++;
            if (tally.events == eventsBefore) {
                tally.withoutEvents().add(file.toString());
            }
        } catch (IOException e) {
            tally.unreadable().add(new Tally.Unreadable(file.toString(), reason(e)));
        }
    }

    private void read(LogLines lines, LogParser parser, ReadingProgress read) throws IOException {
        long before = tally.bytes;
        while (lines.next()) {
            parser.line(lines);
            tally.bytes = before + lines.bytes();
            if (++tally.lines % LINES_PER_STEP == 0) {
                progress.accept(() -> read.text(tally.events));
            }
        }
    }

    /** For tests and other sources than files. */
    static Logs read(InstanceName name, InputStream in) throws IOException {
        LogReading reading = new LogReading(line -> {});
        LogParser parser = new LogParser(new InstanceLog(name), reading.tally);
        try (LogLines lines = new LogLines(in)) {
            parser.beginFile("");
            reading.read(lines, parser, new ReadingProgress(List.of()));
        }
        parser.finish();
        return new Logs(List.of(parser.log()), reading.tally, true);
    }

    /** Why a file cannot be read, and the way out. */
    public static String reason(IOException e) {
        if (e instanceof NoSuchFileException) {
            return "there is no such file; check the path";
        }
        if (e instanceof AccessDeniedException) {
            return "it may not be read; run as its owner, or copy it";
        }
        if (e instanceof FileSystemLoopException) {
            return "it is a symbolic link to a folder above it; what is there was read once";
        }
        if (e instanceof ZipException || e instanceof EOFException) {
            return "it is no whole gzip file, and was read up to the damage; unpack it with zcat, and name the result";
        }
        String message = e.getMessage();
        if (message != null && message.equals("Is a directory")) {
            return "it is a directory; name the file";
        }
        return message == null ? e.getClass().getSimpleName() : message;
    }
}
