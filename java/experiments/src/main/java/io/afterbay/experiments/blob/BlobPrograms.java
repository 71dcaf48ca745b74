package io.afterbay.experiments.blob;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.Installation;
import io.afterbay.experiments.RustPrograms;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The store and its load, and the peer, which users install. */
public final class BlobPrograms {
    /** Where {@code bench/install-minio.sh} puts it. */
    private static final Path MINIO = Path.of("bench", "peers", "minio");

    private static final List<String> PACKAGES =
            List.of("afterbay-blob-bench", "afterbay-blob-server");

    private BlobPrograms() {}

    /** Where they are after a build. */
    static BlobPlan.Tools tools(RustPrograms.Build build) {
        return new BlobPlan.Tools(
                load(build).toString(),
                server(build).toString(),
                minio().map(Path::toString).orElse(""));
    }

    /** The load, after a build. */
    public static Path load(RustPrograms.Build build) {
        return build.folder().resolve("afterbay-blob-bench");
    }

    /** The store, after a build. */
    public static Path server(RustPrograms.Build build) {
        return build.folder().resolve("afterbay-blob");
    }

    private static Optional<Path> minio() {
        Path installed = Installation.home().resolve(MINIO).toAbsolutePath().normalize();
        return Stream.concat(Stream.of(installed), RustPrograms.onPath("minio"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Compiles what changed. */
    public static void build(RustPrograms.Build build) throws CommandFailure, InterruptedException {
        RustPrograms.build(build, PACKAGES);
    }
}
