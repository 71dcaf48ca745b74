package io.afterbay.experiments;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.Installation;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Programs of the folder {@code rust} that an experiment starts. */
public final class RustPrograms {
    private RustPrograms() {}

    /** How they are compiled. */
    public enum Build implements Labelled {
        /** As fast as they can be. */
        RELEASE("release", "release"),

        /**
         * All of the folder, as its tests are compiled: another choice of packages would get
         * libraries with other features, and would replace, while those tests run, the shared
         * library that they load.
         */
        DEV("dev", "debug");

        private final String label;
        private final String folder;

        Build(String label, String folder) {
            this.label = label;
            this.folder = folder;
        }

        @Override
        public String label() {
            return label;
        }

        /** Where programs are after a build. */
        public Path folder() {
            return target().resolve(folder);
        }

        public static final class Converter extends Labelled.Converter<Build> {
            public Converter() {
                super(Build.class);
            }
        }
    }

    private static Path rust() {
        return Installation.home().resolve("rust").toAbsolutePath().normalize();
    }

    /** Cargo's own variable says it, too. */
    public static Path target() {
        String target = System.getenv("CARGO_TARGET_DIR");
        return target == null || target.isEmpty() ? rust().resolve("target") : Path.of(target);
    }

    /** Where a program of that name may be, by {@code PATH}. */
    public static Stream<Path> onPath(String program) {
        String path = System.getenv("PATH");
        return path == null
                ? Stream.empty()
                : Stream.of(path.split(File.pathSeparator, -1))
                        .filter(folder -> !folder.isEmpty())
                        .map(folder -> Path.of(folder, program));
    }

    /**
     * Compiles what changed; its output goes to standard error.
     *
     * @param packages those of which programs are needed
     * @throws CommandFailure if there is no cargo, or it fails
     */
    public static void build(Build build, List<String> packages)
            throws CommandFailure, InterruptedException {
        System.err.println("afterbay: building the programs of rust/, if something changed");
        List<String> command = new ArrayList<>(List.of(cargo(), "build", "--quiet", "--locked"));
        if (build == Build.DEV) {
            command.addAll(List.of("--workspace", "--lib", "--bins", "--examples"));
        } else {
            command.add("--release");
            packages.forEach(name -> command.addAll(List.of("-p", name)));
        }
        try {
            int code =
                    new ProcessBuilder(command)
                            .directory(rust().toFile())
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start()
                            .waitFor();
            if (code != 0) {
                throw new CommandFailure(
                        "the programs of rust/ cannot be built: cargo ended with code " + code);
            }
        } catch (IOException e) {
            throw new CommandFailure("cargo cannot be started: " + CommandFailure.reason(e), e);
        }
    }

    /** Where it is: in PATH, or where rustup puts it. */
    public static String cargo() throws CommandFailure {
        Path atHome = Path.of(System.getProperty("user.home"), ".cargo", "bin", "cargo");
        return Stream.concat(onPath("cargo"), Stream.of(atHome))
                .filter(Files::isExecutable)
                .findFirst()
                .map(Path::toString)
                .orElseThrow(
                        () ->
                                new CommandFailure(
                                        "Rust's cargo is needed for this and was not found;"
                                                + " install it (https://rustup.rs)"));
    }
}
