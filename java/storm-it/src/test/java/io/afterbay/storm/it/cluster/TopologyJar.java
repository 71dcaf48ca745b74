package io.afterbay.storm.it.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
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

/** What a user submits: the topology's classes, and those of the libraries that it brings along. */
final class TopologyJar {
    private TopologyJar() {}

    /**
     * Writes one.
     *
     * @param packages by a class of each; all below it comes into the jar
     */
    static void write(Path jar, Class<?>... packages) throws IOException, URISyntaxException {
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file)) {
            for (Class<?> one : packages) {
                add(out, one);
            }
        }
    }

    /** From a directory of classes, or from another jar. */
    private static void add(JarOutputStream out, Class<?> of)
            throws IOException, URISyntaxException {
        URI code = of.getProtectionDomain().getCodeSource().getLocation().toURI();
        Path path = Path.of(code);
        String folder = of.getPackageName().replace('.', '/');
        if (Files.isDirectory(path)) {
            addAll(out, path, folder);
            return;
        }
        try (FileSystem zip = FileSystems.newFileSystem(path, Map.of())) {
            addAll(out, zip.getPath("/"), folder);
        }
    }

    private static void addAll(JarOutputStream out, Path root, String folder) throws IOException {
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
