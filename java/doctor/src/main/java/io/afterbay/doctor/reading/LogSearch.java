package io.afterbay.doctor.reading;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds info logs: {@code LOG}, {@code NAME_LOG} (RocksDB with a log directory, as Flink sets it),
 * {@code rocksdb.LOG}, and the rotated {@code .old.TIME} of each; also if they end with {@code
 * .gz}. A file that is named outright is taken whatever its name.
 */
final class LogSearch extends SimpleFileVisitor<Path> {
    private static final Pattern LOG =
            Pattern.compile("(?:LOG|.*_LOG|rocksdb\\.LOG)(?:\\.old(?:\\.(\\d{1,18}))?)?(?:\\.gz)?");
    private static final int MAX_DEPTH = 64;

    private final Set<Path> found = new LinkedHashSet<>();
    private final Tally tally;

    private LogSearch(Tally tally) {
        this.tally = tally;
    }

    /** All logs at or below the paths, each once: rotated ones in the order of their time first. */
    static List<Path> find(List<Path> paths, Tally tally) {
        LogSearch search = new LogSearch(tally);
        for (Path path : paths) {
            search.add(path);
        }
        List<Path> result = new ArrayList<>(search.found);
        result.sort(Comparator.comparingLong(LogSearch::rotatedAt));
        return result;
    }

    private void add(Path path) {
        if (!Files.isDirectory(path)) {
            found.add(path.toAbsolutePath().normalize());
            return;
        }
        try {
            Files.walkFileTree(
                    path.toAbsolutePath().normalize(),
                    EnumSet.of(FileVisitOption.FOLLOW_LINKS),
                    MAX_DEPTH,
                    this);
        } catch (IOException e) {
            visitFileFailed(path, e);
        }
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        if (attributes.isRegularFile() && LOG.matcher(file.getFileName().toString()).matches()) {
            found.add(file);
        }
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) {
        tally.unreadable().add(new Tally.Unreadable(file.toString(), LogReading.reason(e)));
        return FileVisitResult.CONTINUE;
    }

    private static long rotatedAt(Path log) {
        Matcher matcher = LOG.matcher(log.getFileName().toString());
        boolean isRotated = matcher.matches() && matcher.group(1) != null;
        return isRotated ? Long.parseLong(matcher.group(1)) : Long.MAX_VALUE;
    }
}
