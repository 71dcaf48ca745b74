package io.afterbay.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of {@code afterbay run}, the same for every job. */
final class RunArguments extends EngineArguments {
    @Option(
            names = "--json",
            paramLabel = "FILE",
            description =
                    "Write the summary as JSON to this file (fields: README of the job in examples).")
    @Nullable Path json;

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            converter = Backend.Converter.class,
            defaultValue = "afterbay",
            description =
                    "State backend: afterbay, rocksdb, rocksdb-heap-timers, hashmap, or the class"
                            + " name of a StateBackendFactory on the class path (default:"
                            + " ${DEFAULT-VALUE}).")
    void setBackend(Backend backend) {
        this.backend = backend;
    }
}
