package io.afterbay.cli.run;

import io.afterbay.workloads.nexmark.Nexmark;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.apache.flink.connector.base.source.reader.SourceReaderBase;

/** Our jobs and connector as jars for a cluster, made from where their classes are. */
final class JobLibraries {
    /** One class of each library that tasks of our jobs use. */
    private static final List<Class<?>> MARKERS =
            List.of(Nexmark.class, Histogram.class, SourceReaderBase.class);

    private JobLibraries() {}

    /**
     * @param directory for jars that have to be made
     */
    static List<Path> jars(Path directory) throws IOException {
        return jars(MARKERS, directory);
    }

    /**
     * @param markers one class of each library
     * @param directory for jars that have to be made
     */
    static List<Path> jars(List<Class<?>> markers, Path directory) throws IOException {
        List<Path> jars = new ArrayList<>();
        for (Class<?> marker : markers) {
            Path source = source(marker);
            jars.add(
                    Files.isDirectory(source)
                            ? pack(source, directory.resolve(marker.getSimpleName() + ".jar"))
                            : source);
        }
        return jars;
    }

    private static Path source(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException("where is " + type, e);
        }
    }

    private static Path pack(Path classes, Path jar) throws IOException {
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file);
                Stream<Path> found = Files.walk(classes)) {
            for (Path path : found.filter(Files::isRegularFile).toList()) {
                String name = classes.relativize(path).toString().replace('\\', '/');
                out.putNextEntry(new JarEntry(name));
                Files.copy(path, out);
            }
        }
        return jar;
    }
}
