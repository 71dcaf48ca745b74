package io.afterbay.experiments.blob;

import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import io.afterbay.experiments.RustPrograms;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** What {@code afterbay bench blob} runs: which servers and limits, on which objects. */
final class BlobArguments {
    private static final int CLIENTS_MAX = 256;
    private static final ByteSize SIZE_MIN = new ByteSize(16);
    private static final ByteSize SIZE_MAX = ByteSize.parse("64m");

    /** Bytes of all objects of a get, so that they fit into the page cache, and not in others. */
    private static final long CACHED_BYTES = 256L << 20;

    private static final long CACHED_BYTES_OF_QUICK = 8L << 20;

    /** Each of them is read once. */
    private static final long COLD_BYTES = 1L << 30;

    private static final long BLOB_BYTES_OF_INDEX = 64;

    private static final List<BlobVariant> VARIANTS =
            List.of(
                    BlobVariant.AFTERBAY_NATIVE,
                    BlobVariant.AFTERBAY_S3,
                    BlobVariant.MINIO,
                    BlobVariant.BARE,
                    BlobVariant.LOOPBACK,
                    BlobVariant.DISK,
                    BlobVariant.DISK_READ);

    private static final List<BlobVariant> VARIANTS_OF_QUICK =
            List.of(
                    BlobVariant.AFTERBAY_NATIVE,
                    BlobVariant.AFTERBAY_S3,
                    BlobVariant.BARE,
                    BlobVariant.LOOPBACK,
                    BlobVariant.DISK,
                    BlobVariant.DISK_READ,
                    BlobVariant.CONTROL,
                    BlobVariant.CONTROL_S3);

    /** What was not given may be that of the short form. */
    private final BooleanSupplier isQuick;

    @Option(
            names = "--operations",
            paramLabel = "LIST",
            split = ",",
            converter = BlobOperation.Converter.class,
            description = "put, get, with commas (default: both).")
    private List<BlobOperation> operations = List.of(BlobOperation.values());

    @Option(
            names = "--variants",
            paramLabel = "LIST",
            split = ",",
            converter = BlobVariant.Converter.class,
            description =
                    "Servers and limits, with commas (default: all but the controls; quick: all"
                            + " but minio).")
    private List<BlobVariant> variants = List.of();

    @Option(
            names = "--sizes",
            paramLabel = "LIST",
            split = ",",
            converter = ByteSize.Converter.class,
            description = "Bytes of an object, with commas (default: 25k,100k,1m,5m; quick: 100k).")
    private List<ByteSize> sizes = List.of();

    @Option(
            names = "--clients",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Connections, each with one request at a time, with commas (default:"
                            + " 1,4,20; quick: 4).")
    private List<Integer> clients = List.of();

    @Option(
            names = "--cache",
            paramLabel = "LIST",
            split = ",",
            converter = BlobCache.Converter.class,
            description =
                    "Where objects are before they are read, with commas: cached, cold (dropped from"
                            + " the page cache, each read once; default: cached).")
    private List<BlobCache> caches = List.of(BlobCache.CACHED);

    @Option(
            names = "--index",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Instead of all that: memory and reads of the index of a partition with so many"
                            + " blobs, with commas, for example 1000000,10000000.")
    private List<Long> index = List.of();

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            description = "How long requests come before they count (default: 2s; quick: 300ms).")
    private @Nullable Duration warmUp;

    @Option(
            names = "--open",
            paramLabel = "D",
            converter = Durations.class,
            description = "Counted time (default: 8s; quick: 700ms).")
    private @Nullable Duration open;

    @Option(
            names = "--build",
            paramLabel = "KIND",
            converter = RustPrograms.Build.Converter.class,
            description =
                    "How the programs are compiled: release, or dev, as their tests are: slower, and"
                            + " only for --quick (default: release).")
    RustPrograms.Build build = RustPrograms.Build.RELEASE;

    @Option(
            names = "--s3-tests",
            paramLabel = "DIR",
            description =
                    "Instead of all that: run Ceph's s3-tests from this checkout on the S3 endpoint"
                            + " (exit codes: those of bench/s3-tests.sh).")
    private @Nullable Path s3Tests;

    @Option(
            names = "--case",
            paramLabel = "NAME",
            description = "With --s3-tests: only the cases whose names contain it.")
    private @Nullable String s3Case;

    @Option(
            names = "--report",
            paramLabel = "FILE",
            description = "With --s3-tests: write each case and its result there.")
    private @Nullable Path s3Report;

    BlobArguments(BooleanSupplier isQuick) {
        this.isQuick = isQuick;
    }

    /** What runs instead of the experiment; nothing if that was not asked for. */
    Optional<S3Tests> s3Tests() {
        return s3Tests == null
                ? Optional.empty()
                : Optional.of(new S3Tests(s3Tests, s3Case, s3Report));
    }

    /** Wrong values are the command's usage errors. */
    void check(CommandLine command) {
        if (s3Tests == null && (s3Case != null || s3Report != null)) {
            throw new ParameterException(command, "--case and --report: only with --s3-tests");
        }
        checkDistinct(command, "--operations", operations);
        checkDistinct(command, "--variants", variants());
        checkDistinct(command, "--sizes", sizes());
        checkDistinct(command, "--clients", clients());
        checkDistinct(command, "--cache", caches);
        if (!isQuick.getAsBoolean() && build == RustPrograms.Build.DEV) {
            throw new ParameterException(command, "--build dev: only with --quick");
        }
        if (variants().contains(BlobVariant.INDEX)) {
            throw new ParameterException(command, "--variants index: use --index instead");
        }
        for (int count : clients()) {
            checkRange(command, "--clients", count, 1, CLIENTS_MAX);
        }
        for (ByteSize size : sizes()) {
            checkRange(command, "--sizes", size.bytes(), SIZE_MIN.bytes(), SIZE_MAX.bytes());
        }
        for (long blobs : index) {
            checkRange(command, "--index", blobs, 1, 100_000_000);
        }
        if (counted().isZero()) {
            throw new ParameterException(command, "--open: use more than 0");
        }
        if (rounds(1, new BlobPlan.Tools("", "", "minio")).isEmpty()) {
            throw new ParameterException(
                    command, "--variants: none of them has these --operations and --cache");
        }
    }

    private static void checkDistinct(CommandLine command, String option, List<?> values) {
        if (values.isEmpty() || new HashSet<>(values).size() < values.size()) {
            throw new ParameterException(command, option + ": name each of them once");
        }
    }

    private static void checkRange(
            CommandLine command, String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw new ParameterException(
                    command, "%s %d: use numbers from %d to %d".formatted(option, value, min, max));
        }
    }

    private List<BlobVariant> variants() {
        if (!variants.isEmpty()) {
            return variants;
        }
        return isQuick.getAsBoolean() ? VARIANTS_OF_QUICK : VARIANTS;
    }

    private List<ByteSize> sizes() {
        if (!sizes.isEmpty()) {
            return sizes;
        }
        List<String> all =
                isQuick.getAsBoolean() ? List.of("100k") : List.of("25k", "100k", "1m", "5m");
        return all.stream().map(ByteSize::parse).toList();
    }

    private List<Integer> clients() {
        if (!clients.isEmpty()) {
            return clients;
        }
        return isQuick.getAsBoolean() ? List.of(4) : List.of(1, 4, 20);
    }

    /** Why something that was asked for does not run; nothing if all of it does. */
    List<String> notRun(BlobPlan.Tools tools) {
        return isWithoutMinio(tools) && variants().contains(BlobVariant.MINIO) && index.isEmpty()
                ? List.of("minio: not run, it is not installed; bench/install-minio.sh does that")
                : List.of();
    }

    private static boolean isWithoutMinio(BlobPlan.Tools tools) {
        return tools.minio().isEmpty();
    }

    /** One for each pair of a setting. */
    List<List<BlobPlan>> rounds(int pairs, BlobPlan.Tools tools) {
        List<List<BlobPlan>> rounds = new ArrayList<>();
        for (int pair = 1; pair <= pairs; pair++) {
            for (long blobs : index) {
                rounds.add(List.of(ofIndex(blobs, pair, tools)));
            }
        }
        if (!index.isEmpty()) {
            return rounds;
        }
        for (BlobOperation operation : operations) {
            for (BlobCache cache : caches(operation)) {
                for (ByteSize size : sizes()) {
                    for (int count : clients()) {
                        for (int pair = 1; pair <= pairs; pair++) {
                            rounds.add(round(operation, cache, size, count, pair, tools));
                        }
                    }
                }
            }
        }
        rounds.removeIf(List::isEmpty);
        return rounds;
    }

    /** It makes no difference to puts. */
    private List<BlobCache> caches(BlobOperation operation) {
        return operation == BlobOperation.PUT ? List.of(BlobCache.CACHED) : caches;
    }

    private BlobPlan ofIndex(long blobs, int pair, BlobPlan.Tools tools) {
        BlobTrial.Setting setting =
                new BlobTrial.Setting(
                        BlobVariant.INDEX.label(),
                        BlobTrial.INDEX,
                        BLOB_BYTES_OF_INDEX,
                        1,
                        BlobCache.COLD.label(),
                        blobs,
                        pair);
        return new BlobPlan(setting, times(), tools);
    }

    /** With each pair, another variant begins. */
    private List<BlobPlan> round(
            BlobOperation operation,
            BlobCache cache,
            ByteSize size,
            int count,
            int pair,
            BlobPlan.Tools tools) {
        List<BlobPlan> round = new ArrayList<>();
        for (BlobVariant variant : variants()) {
            boolean isMissing = variant == BlobVariant.MINIO && isWithoutMinio(tools);
            if (variant.takes(operation, cache) && !isMissing) {
                BlobTrial.Setting setting =
                        new BlobTrial.Setting(
                                variant.label(),
                                operation.label(),
                                size.bytes(),
                                count,
                                cache.label(),
                                objects(operation, cache, size),
                                pair);
                round.add(new BlobPlan(setting, times(), tools));
            }
        }
        Collections.rotate(round, 1 - pair);
        return round;
    }

    private long objects(BlobOperation operation, BlobCache cache, ByteSize size) {
        if (operation == BlobOperation.PUT) {
            return 0;
        }
        long cached = isQuick.getAsBoolean() ? CACHED_BYTES_OF_QUICK : CACHED_BYTES;
        return Math.max(2, (cache == BlobCache.COLD ? COLD_BYTES : cached) / size.bytes());
    }

    private BlobPlan.Times times() {
        Duration before =
                warmUp == null ? Duration.ofMillis(isQuick.getAsBoolean() ? 300 : 2000) : warmUp;
        return new BlobPlan.Times(before.toMillis(), counted().toMillis());
    }

    private Duration counted() {
        return open == null ? Duration.ofMillis(isQuick.getAsBoolean() ? 700 : 8000) : open;
    }
}
