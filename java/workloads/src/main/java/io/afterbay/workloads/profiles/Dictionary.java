package io.afterbay.workloads.profiles;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What words of titles mean. The place of the machine-learned model of the paper: it is derived
 * offline, a new one is there now and then, and no job can be right with the one before. Immutable.
 */
public final class Dictionary {
    /** Versions from 1 on. */
    public static final int VERSIONS = 2;

    private static final Dictionary[] ALL = {new Dictionary(1), new Dictionary(2)};
    private static final Pattern NO_LETTERS = Pattern.compile("[^a-z]+");

    private final int version;
    private final Map<String, String> meanings;

    private Dictionary(int version) {
        this.version = version;
        this.meanings = read("dictionary-" + version + ".csv");
    }

    /**
     * The one of a version.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Dictionary of(int version) {
        if (version < 1 || version > VERSIONS) {
            throw new IllegalArgumentException(
                    "there is no dictionary %d: use 1 to %d".formatted(version, VERSIONS));
        }
        return ALL[version - 1];
    }

    /** Words as they are written, in small letters, and what each of them means. */
    private static Map<String, String> read(String resource) {
        Map<String, String> meanings = new HashMap<>();
        try (InputStream file = Dictionary.class.getResourceAsStream(resource)) {
            if (file == null) {
                throw new IllegalStateException(resource + " is not beside its class");
            }
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8));
            lines.lines()
                    .map(line -> line.split(",", 2))
                    .forEach(pair -> meanings.put(pair[0], pair[1]));
            return meanings;
        } catch (IOException e) {
            throw new UncheckedIOException(resource, e);
        }
    }

    public int version() {
        return version;
    }

    /** The title in words of the dictionary; a word that it does not know stays as it is. */
    public String standard(String title) {
        return Stream.of(NO_LETTERS.split(title.toLowerCase(Locale.ROOT)))
                .filter(word -> !word.isEmpty())
                .map(word -> meanings.getOrDefault(word, word))
                .collect(Collectors.joining(" "));
    }
}
