package io.afterbay.experiments.bench;

import io.afterbay.bench.CodeHistory;
import io.afterbay.bench.Part;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Adds to {@code bench/code.jsonl} what git knows of the revisions that were measured. Of those
 * that it does not know (a change that was never submitted), nothing.
 */
final class CodeHistoryWriter {
    private static final Pattern REVISION = Pattern.compile("\"revision\":\"([0-9a-f]+)\"");
    private static final Pattern BLOB = Pattern.compile("\\d+ blob ([0-9a-f]+)\\t(.*)");

    private CodeHistoryWriter() {}

    static void write(Path project) throws IOException {
        Set<String> missing = measured(project.resolve("bench/results"));
        missing.removeAll(CodeHistory.read(project).recorded().keySet());
        for (String revision : missing) {
            if (git(project, "cat-file", "-e", revision + "^{commit}") != null) {
                CodeHistory.file(project).append(line(project, revision));
            }
        }
    }

    private static Set<String> measured(Path results) throws IOException {
        Set<String> revisions = new TreeSet<>();
        try (Stream<Path> files = Files.list(results)) {
            for (Path file : files.sorted().toList()) {
                Matcher matcher = REVISION.matcher(Files.readString(file));
                while (matcher.find()) {
                    revisions.add(matcher.group(1));
                }
            }
        }
        return revisions;
    }

    private static CodeHistory.Line line(Path project, String revision) throws IOException {
        Map<Part, String> code = new EnumMap<>(Part.class);
        for (Part part : Part.values()) {
            List<String> command =
                    new ArrayList<>(List.of("ls-tree", "-r", "--full-tree", revision));
            command.addAll(part.code());
            SortedMap<String, String> blobs = new TreeMap<>();
            String listing = git(project, command.toArray(String[]::new));
            for (String line : listing == null ? List.<String>of() : listing.lines().toList()) {
                Matcher matcher = BLOB.matcher(line);
                if (matcher.matches()) {
                    blobs.put(matcher.group(2), matcher.group(1));
                }
            }
            code.put(part, CodeHistory.fingerprint(blobs));
        }
        return new CodeHistory.Line(revision, code);
    }

    /** What it says, or null if it fails. */
    private static String git(Path project, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("git", "-C", project.toString()));
        command.addAll(List.of(arguments));
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            return process.waitFor() == 0 ? said : null;
        } catch (InterruptedException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }
}
