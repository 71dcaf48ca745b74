package io.afterbay.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Job jars as users build them: sources compiled against Flink, and nothing else in the jar. */
final class JobJar {
    private JobJar() {}

    /**
     * @param sources folder with sources
     * @param mainClass for the manifest, or empty
     */
    static Path build(Path sources, String mainClass, Path directory) throws IOException {
        Path classes = Files.createDirectories(directory.resolve("classes"));
        compile(sources, classes);
        return pack(classes, mainClass, directory.resolve("job.jar"));
    }

    /** With the same classes and another main class, or none. */
    static Path again(Path directory, String mainClass, String name) throws IOException {
        return pack(directory.resolve("classes"), mainClass, directory.resolve(name));
    }

    private static Path pack(Path classes, String mainClass, Path jar) throws IOException {
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest(mainClass));
                Stream<Path> compiled = Files.walk(classes)) {
            for (Path path : compiled.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new JarEntry(classes.relativize(path).toString()));
                Files.copy(path, out);
            }
        }
        return jar;
    }

    private static void compile(Path sources, Path classes) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
                Stream<Path> found = Files.walk(sources)) {
            List<Path> java = found.filter(path -> path.toString().endsWith(".java")).toList();
            List<String> options =
                    List.of(
                            "-proc:none",
                            "-d",
                            classes.toString(),
                            "-cp",
                            System.getProperty("java.class.path"));
            boolean compiled =
                    compiler.getTask(
                                    null,
                                    files,
                                    null,
                                    options,
                                    null,
                                    files.getJavaFileObjectsFromPaths(java))
                            .call();
            if (!compiled) {
                throw new AssertionError("the job does not compile");
            }
        }
    }

    private static Manifest manifest(String mainClass) {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        if (!mainClass.isEmpty()) {
            manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, mainClass);
        }
        return manifest;
    }
}
