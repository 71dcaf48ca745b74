package io.afterbay.experiments.blob;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.Installation;
import io.afterbay.experiments.Labelled;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The programs of the folder {@code rust}, and the peer, which users install. */
final class BlobPrograms {
    /** Where {@code bench/install-minio.sh} puts it. */
    private static final Path MINIO = Path.of("bench", "peers", "minio");

    private static final List<String> PACKAGES =
            List.of("afterbay-blob-bench", "afterbay-blob-server");

    private BlobPrograms() {}

    /** How they are compiled. */
    enum Build implements Labelled {
        /** As fast as they can be. */
        RELEASE("release", "release"),

        /** As tests of the folder are, so that these need not be compiled a second time. */
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

        public static final class Converter extends Labelled.Converter<Build> {
            public Converter() {
                super(Build.class);
            }
        }
    }

    /** Where they are after a build. */
    static BlobPlan.Tools tools(Build build) {
        Path folder = target().resolve(build.folder);
        return new BlobPlan.Tools(
                folder.resolve("afterbay-blob-bench").toString(),
                folder.resolve("afterbay-blob").toString(),
                minio().map(Path::toString).orElse(""));
    }

    private static Path rust() {
        return Installation.home().resolve("rust").toAbsolutePath().normalize();
    }

    /** Cargo's own variable says it, too. */
    private static Path target() {
        String target = System.getenv("CARGO_TARGET_DIR");
        return target == null || target.isEmpty() ? rust().resolve("target") : Path.of(target);
    }

    private static Optional<Path> minio() {
        Path installed = Installation.home().resolve(MINIO).toAbsolutePath().normalize();
        return Stream.concat(Stream.of(installed), onPath("minio"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static Stream<Path> onPath(String program) {
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
     * @throws CommandFailure if there is no cargo, or it fails
     */
    static void build(Build build) throws CommandFailure, InterruptedException {
        List<String> command = new ArrayList<>(List.of(cargo(), "build", "--quiet", "--locked"));
        if (build == Build.RELEASE) {
            command.add("--release");
        }
        PACKAGES.forEach(name -> command.addAll(List.of("-p", name)));
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
    static String cargo() throws CommandFailure {
        Path atHome = Path.of(System.getProperty("user.home"), ".cargo", "bin", "cargo");
        return Stream.concat(onPath("cargo"), Stream.of(atHome))
                .filter(Files::isExecutable)
                .findFirst()
                .map(Path::toString)
                .orElseThrow(
                        () ->
                                new CommandFailure(
                                        "Rust's cargo is needed for the blob store and was not"
                                                + " found; install it (https://rustup.rs)"));
    }
}
