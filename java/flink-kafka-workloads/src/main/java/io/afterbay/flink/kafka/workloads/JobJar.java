package io.afterbay.flink.kafka.workloads;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;

/**
 * Packs {@link ProfilesJob} with the connector and all other libraries that it needs into one jar,
 * as users do it with a plugin of their build. Flink is not in it.
 */
public final class JobJar {
    private static final String SERVICES = "META-INF/services/";

    private final Set<String> packed = new HashSet<>();
    private final Map<String, ByteArrayOutputStream> services = new TreeMap<>();

    private JobJar() {}

    /**
     * Writes the jar.
     *
     * @param classPath of this module, as its build has noted it
     */
    public static void pack(String classPath, Path jar) throws IOException {
        new JobJar().write(classPath, jar);
    }

    private void write(String classPath, Path jar) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, ProfilesJob.class.getName());
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest)) {
            for (String entry : classPath.split(File.pathSeparator, -1)) {
                add(Path.of(entry), out);
            }
            for (Map.Entry<String, ByteArrayOutputStream> service : services.entrySet()) {
                out.putNextEntry(new JarEntry(service.getKey()));
                service.getValue().writeTo(out);
            }
        }
    }

    private void add(Path library, JarOutputStream out) throws IOException {
        if (Files.isDirectory(library)) {
            addAll(library, out);
            return;
        }
        try (FileSystem content = FileSystems.newFileSystem(library)) {
            addAll(content.getPath("/"), out);
        }
    }

    private void addAll(Path root, JarOutputStream out) throws IOException {
        List<Path> files;
        try (Stream<Path> found = Files.walk(root)) {
            files = found.filter(Files::isRegularFile).toList();
        }
        for (Path file : files) {
            String name = root.relativize(file).toString().replace('\\', '/');
            if (name.startsWith(SERVICES)) {
                ByteArrayOutputStream lines =
                        services.computeIfAbsent(name, ignored -> new ByteArrayOutputStream());
                lines.write(Files.readAllBytes(file));
                lines.write('\n');
            } else if (!isOfItsJarOnly(name) && packed.add(name)) {
                out.putNextEntry(new JarEntry(name));
                Files.copy(file, out);
            }
        }
    }

    /** Descriptions and signatures of the jar that it is from. */
    private static boolean isOfItsJarOnly(String name) {
        return name.endsWith("module-info.class")
                || name.startsWith("META-INF/")
                        && (name.endsWith(".MF") || name.endsWith(".SF") || name.endsWith(".RSA"));
    }

    /** Its argument is the jar; it is packed from the class path of this process. */
    public static void main(String[] args) throws IOException {
        pack(System.getProperty("java.class.path"), Path.of(args[0]));
    }
}
