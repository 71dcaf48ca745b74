package io.afterbay.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Tells which figures are of code that has changed since. {@code bench/code.jsonl} has a
 * fingerprint of each part's code at each revision that was measured; a source tree without its
 * history can be compared with them, too.
 *
 * @param recorded by revision
 * @param now of the source tree as it is
 */
public record CodeHistory(Map<String, Map<Part, String>> recorded, Map<Part, String> now) {
    private static final int DIGITS = 16;

    /** One line of the file. */
    public record Line(String revision, Map<Part, String> code) {}

    /** Of a project's directory. */
    public static CodeHistory read(Path project) throws IOException {
        Map<String, Map<Part, String>> recorded = new HashMap<>();
        for (Line line : file(project).read(text -> text.as(Line.class))) {
            recorded.put(line.revision, line.code);
        }
        Map<Part, String> now = new HashMap<>();
        for (Part part : Part.values()) {
            now.put(part, fingerprint(blobs(project, part.code())));
        }
        return new CodeHistory(recorded, now);
    }

    public static ResultFile file(Path project) {
        return new ResultFile(project.resolve("bench/code.jsonl"));
    }

    /** Whether that code has changed since, or nobody knows what it was. */
    boolean isStale(Part part, String revision) {
        String then = recorded.getOrDefault(revision, Map.of()).get(part);
        return then == null || !then.equals(now.get(part));
    }

    /**
     * Of files.
     *
     * @param blobs by path, the ids that git gives to their content
     */
    public static String fingerprint(SortedMap<String, String> blobs) {
        StringBuilder all = new StringBuilder();
        blobs.forEach((path, id) -> all.append(path).append(' ').append(id).append('\n'));
        return sha1(all.toString().getBytes(StandardCharsets.UTF_8)).substring(0, DIGITS);
    }

    private static SortedMap<String, String> blobs(Path project, List<String> directories)
            throws IOException {
        SortedMap<String, String> blobs = new TreeMap<>();
        for (String directory : directories) {
            try (Stream<Path> files = Files.walk(project.resolve(directory))) {
                files.filter(Files::isRegularFile)
                        .forEach(
                                file -> {
                                    String path = project.relativize(file).toString();
                                    blobs.put(path.replace('\\', '/'), blob(file));
                                });
            }
        }
        return blobs;
    }

    private static String blob(Path file) {
        try {
            byte[] content = Files.readAllBytes(file);
            byte[] header = ("blob " + content.length + '\0').getBytes(StandardCharsets.US_ASCII);
            return sha1(header, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sha1(byte[]... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-1");
            for (byte[] part : parts) {
                digest.update(part);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
