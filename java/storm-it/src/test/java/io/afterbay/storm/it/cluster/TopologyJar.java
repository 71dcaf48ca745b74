package io.afterbay.storm.it.cluster;

import io.afterbay.storm.Stragglers;
import io.afterbay.stragglers.TwoChoices;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.HdrHistogram.Histogram;

/** What a user submits: the topology's classes, and those of the library that it brings along. */
final class TopologyJar {
    private TopologyJar() {}

    /**
     * Writes one.
     *
     * @param topology a class of it; all of its package comes into the jar
     */
    static void write(Path jar, Class<?> topology) throws IOException, URISyntaxException {
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file)) {
            addPackage(out, topology);
            addLibrary(out);
        }
    }

    /** Its jar is all that it needs. Maven's phase {@code test} has none yet, only its parts. */
    private static void addLibrary(JarOutputStream out) throws IOException, URISyntaxException {
        Path code = code(Stragglers.class);
        if (Files.isDirectory(code)) {
            addPackage(out, Stragglers.class);
            addPackage(out, TwoChoices.class);
            addPackage(out, Histogram.class);
        } else {
            addAll(out, code, "io");
        }
    }

    private static void addPackage(JarOutputStream out, Class<?> of)
            throws IOException, URISyntaxException {
        addAll(out, code(of), of.getPackageName().replace('.', '/'));
    }

    private static Path code(Class<?> of) throws URISyntaxException {
        return Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /**
     * Adds all files below a folder.
     *
     * @param code a directory of classes, or another jar
     */
    private static void addAll(JarOutputStream out, Path code, String folder) throws IOException {
        if (Files.isDirectory(code)) {
            addFiles(out, code, folder);
            return;
        }
        try (FileSystem zip = FileSystems.newFileSystem(code, Map.of())) {
            addFiles(out, zip.getPath("/"), folder);
        }
    }

    private static void addFiles(JarOutputStream out, Path root, String folder) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(root.resolve(folder))) {
            files = all.filter(Files::isRegularFile).sorted().toList();
        }
        for (Path file : files) {
            out.putNextEntry(new ZipEntry(root.relativize(file).toString()));
            Files.copy(file, out);
            out.closeEntry();
        }
    }
}
