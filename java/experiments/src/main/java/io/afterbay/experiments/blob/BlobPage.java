package io.afterbay.experiments.blob;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.Numbers;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialHistory;
import io.afterbay.bench.TrialPage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The tables about the blob store on one machine, in Markdown, with what is aimed at and whether it
 * is met (Ambry, figures 2.8 to 2.10; MinIO on the same disk; limits of the machine in the same
 * round).
 */
public final class BlobPage extends TrialPage<BlobPage.Kind, BlobTrial> {
    private static final String NATIVE = "afterbay-native";
    private static final String S3 = "afterbay-s3";
    private static final String MINIO = "minio";
    private static final String BARE = "bare";
    private static final String LOOPBACK = "loopback";
    private static final String DISK = "disk";
    private static final String DISK_READ = "disk-read";

    /** The runs that have to be found wrong. */
    private static final Set<String> CONTROLS = Set.of("control", "control-s3");

    private static final String GET = "get";
    private static final String CACHED = "cached";
    private static final long MEBIBYTE = 1 << 20;
    private static final String COMMAND = "./afterbay bench blob";
    private static final String COMMAND_OF_INDEX = COMMAND + " --index 1000000,10000000";
    private static final double AIM_LOOPBACK = 0.9;
    private static final double AIM_CPU_S_PER_GB = 0.2;
    private static final double AIM_MINIO_RATE = 2;
    private static final double AIM_MINIO_CPU = 0.5;
    private static final double AIM_BARE = 0.9;

    /** The aims by S3 are for 2 to 20 clients: one alone has nobody to share a sync with. */
    private static final int AIM_S3_CLIENTS = 2;

    private static final double AIM_INDEX_MB_PER_MILLION = 2;
    private static final double AIM_READS_INDEX_CACHED = 1;
    private static final double AIM_READS_COLD = 2;

    private static final MeasuredValue<BlobTrial> REQUESTS = run -> run.rates().requestsPerS();
    private static final MeasuredValue<BlobTrial> MB = run -> run.rates().mbPerS();
    private static final MeasuredValue<BlobTrial> CPU_PER_GB =
            run -> run.cost().serverCpuSecondsPerGb();
    private static final MeasuredValue<BlobTrial> CPU_PER_REQUEST =
            run -> run.cost().serverCpuUsPerRequest();

    /** Runs of one kind; compared with others of the same place. */
    record Kind(Place place, String variant) {
        private static final List<String> VARIANTS =
                List.of(NATIVE, S3, MINIO, BARE, LOOPBACK, DISK, DISK_READ);
        private static final Comparator<Kind> ORDER =
                Comparator.comparing(Kind::place, Place.ORDER)
                        .thenComparing(kind -> rank(kind.variant))
                        .thenComparing(Kind::variant);

        private static Kind of(BlobTrial trial) {
            return new Kind(Place.of(trial.setting()), trial.setting().variant());
        }

        private static int rank(String variant) {
            int rank = VARIANTS.indexOf(variant);
            return rank < 0 ? VARIANTS.size() : rank;
        }

        private Kind as(String other) {
            return new Kind(place, other);
        }

        private boolean is(String one) {
            return variant.equals(one);
        }

        /** The machine alone: its requests are no server's. */
        private boolean isLimit() {
            return is(LOOPBACK) || is(DISK) || is(DISK_READ);
        }

        private boolean isControl() {
            return CONTROLS.contains(variant);
        }

        private String setting() {
            return place.isIndex() ? place.text() : place.text() + ", " + variant;
        }
    }

    /** What variants have in common that are compared. */
    record Place(String operation, String cache, long sizeBytes, int clients, long objects) {
        private static final Comparator<Place> ORDER =
                Comparator.comparing(Place::operation)
                        .thenComparing(Place::cache)
                        .thenComparing(Place::sizeBytes)
                        .thenComparing(Place::clients)
                        .thenComparing(Place::objects);

        private static Place of(BlobTrial.Setting of) {
            return new Place(
                    of.operation(), of.cache(), of.sizeBytes(), of.clients(), of.objects());
        }

        private boolean isIndex() {
            return operation.equals(BlobTrial.INDEX);
        }

        private boolean isCachedGet() {
            return operation.equals(GET) && cache.equals(CACHED);
        }

        /** The variant that is the machine alone. */
        private String limit() {
            if (!operation.equals(GET)) {
                return DISK;
            }
            return isCachedGet() ? LOOPBACK : DISK_READ;
        }

        private String text() {
            if (isIndex()) {
                return String.format(Locale.ROOT, "%,d blobs", objects);
            }
            String what = operation.equals(GET) ? "%s, %s".formatted(operation, cache) : operation;
            return "%s, %s, %d %s"
                    .formatted(what, size(), clients, clients == 1 ? "client" : "clients");
        }

        private String size() {
            return sizeBytes % MEBIBYTE == 0
                    ? sizeBytes / MEBIBYTE + " MiB"
                    : Numbers.format(sizeBytes / 1024.0) + " KiB";
        }
    }

    public BlobPage(List<RecordedTrial<BlobTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    public static List<RecordedTrial<BlobTrial>> read(Path directory) throws IOException {
        return read(directory, "blob", BlobTrial.class);
    }

    @Override
    public List<Aim> aims() {
        Predicate<Kind> isNativeGet =
                kind ->
                        kind.is(NATIVE)
                                && kind.place.isCachedGet()
                                && kind.place.sizeBytes == MEBIBYTE;
        Predicate<Kind> isOnS3 = kind -> kind.is(S3) && kind.place.clients >= AIM_S3_CLIENTS;
        Predicate<Kind> isSmallOnS3 = isOnS3.and(kind -> kind.place.sizeBytes < MEBIBYTE);
        Predicate<Kind> isLargeOnS3 = isOnS3.and(kind -> kind.place.sizeBytes >= MEBIBYTE);
        return List.of(
                atLeast(
                        "GET of 1 MiB, page-cached, native protocol: bytes/s to those of one TCP stream"
                                + " over loopback",
                        AIM_LOOPBACK,
                        isNativeGet,
                        kind -> ratios(kind, kind.as(LOOPBACK), MB)),
                atMost(
                        "GET of 1 MiB, page-cached, native protocol: CPU of the server",
                        AIM_CPU_S_PER_GB,
                        " CPU-s/GB",
                        COMMAND,
                        isNativeGet,
                        kind -> values(kind, CPU_PER_GB)),
                atLeast(
                                "S3 below 1 MiB, 2 to 20 clients: requests/s to those of MinIO",
                                AIM_MINIO_RATE,
                                isSmallOnS3,
                                kind -> ratios(kind, kind.as(MINIO), REQUESTS))
                        .asHeadline(),
                atMost(
                        "S3 below 1 MiB, 2 to 20 clients: CPU of the server per request to that of MinIO",
                        AIM_MINIO_CPU,
                        "x",
                        COMMAND,
                        isSmallOnS3,
                        kind -> ratios(kind, kind.as(MINIO), CPU_PER_REQUEST)),
                atLeast(
                        "S3 from 1 MiB, 2 to 20 clients: bytes/s to those of a bare hyper server (with MD5 for puts)",
                        AIM_BARE,
                        isLargeOnS3,
                        kind -> ratios(kind, kind.as(BARE), MB)),
                ofIndex(
                        "index: memory per million blobs",
                        AIM_INDEX_MB_PER_MILLION,
                        " MB",
                        index -> index.indexMemoryBytesPerBlob()),
                ofIndex(
                        "reads from disk per get, indexes in the page cache",
                        AIM_READS_INDEX_CACHED,
                        "",
                        index -> index.diskReadsLogsCold()),
                ofIndex(
                        "reads from disk per get, nothing in the page cache",
                        AIM_READS_COLD,
                        "",
                        index -> index.diskReadsAllCold()));
    }

    private Aim atLeast(
            String measure, double bound, Predicate<Kind> counts, Function<Kind, double[]> of) {
        String goal = "%s: at least %sx".formatted(measure, bound);
        return new Aim(measure, goal, true, bound, "x", medians(counts, of), COMMAND);
    }

    private Aim atMost(
            String measure,
            double bound,
            String unit,
            String command,
            Predicate<Kind> counts,
            Function<Kind, double[]> of) {
        String goal = "%s: at most %s%s".formatted(measure, bound, unit);
        return new Aim(measure, goal, false, bound, unit, medians(counts, of), command);
    }

    private Aim ofIndex(
            String measure, double bound, String unit, MeasuredValue<BlobTrial.Index> figure) {
        return atMost(
                measure,
                bound,
                unit,
                COMMAND_OF_INDEX,
                kind -> kind.place.isIndex(),
                kind -> values(kind, run -> figure.of(run.index())));
    }

    private List<Aim.Value> medians(Predicate<Kind> counts, Function<Kind, double[]> of) {
        return kinds().filter(counts).flatMap(kind -> median(kind, of.apply(kind))).toList();
    }

    private Stream<Aim.Value> median(Kind kind, double[] of) {
        return value(kind, kind.setting(), of);
    }

    @Override
    protected Stream<String> tables() {
        return Stream.of(rates(), costs(), index());
    }

    private List<Kind> loads() {
        return kinds().filter(kind -> !kind.place.isIndex()).toList();
    }

    private String rates() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "requests/s",
                        "MB/s",
                        "P50, ms",
                        "P99, ms",
                        "P99.9, ms",
                        "requests/s to MinIO",
                        "bytes/s to bare",
                        "bytes/s to the limit",
                        "bytes");
        List<Kind> all = loads();
        return all.isEmpty()
                ? ""
                : "Closed loop: each client has one request at a time. The limit of gets is one TCP stream"
                        + " over loopback, that of cold gets is reading around the page cache, that of puts is"
                        + " appending in groups with one fdatasync each. Median of the runs"
                        + " [lowest..highest]:\n\n"
                        + table(all.stream(), header, this::rate);
    }

    private List<String> rate(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.variant,
                range(kind, REQUESTS),
                range(kind, MB),
                range(kind, run -> run.rates().p50Ms()),
                range(kind, run -> run.rates().p99Ms()),
                range(kind, run -> run.rates().p999Ms()),
                to(kind, MINIO, REQUESTS),
                to(kind, BARE, MB),
                to(kind, kind.place.limit(), MB),
                bytes(kind));
    }

    private String to(Kind kind, String other, MeasuredValue<BlobTrial> figure) {
        return kind.is(other) || kind.isControl() || kind.isLimit()
                ? ResultsPage.MISSING
                : ratio(ratios(kind, kind.as(other), figure));
    }

    /** A control has other bytes, and then it is as it should be. */
    private String bytes(Kind kind) {
        List<Long> wrong =
                of(kind).stream().flatMap(run -> Stream.ofNullable(run.outcome().wrong())).toList();
        if (wrong.isEmpty()) {
            return ResultsPage.MISSING;
        }
        if (kind.isControl()) {
            return wrong.stream().allMatch(count -> count > 0)
                    ? "wrong, as they should be"
                    : "**right**, and should not be";
        }
        return TrialHistory.counts(wrong.stream().map(count -> count == 0));
    }

    private String costs() {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "server, CPU-s/GB",
                        "server, CPU us/request",
                        "client, CPU-s/GB",
                        "server's CPU per request to MinIO's",
                        "server's RSS, MiB",
                        "read from disk, bytes/request",
                        "written to disk, bytes/request",
                        "still cached");
        List<Kind> all = loads();
        return all.isEmpty()
                ? ""
                : "What that cost, in the counted time. A limit has no server of its own:\n\n"
                        + table(all.stream(), header, this::cost);
    }

    private List<String> cost(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.variant,
                range(kind, CPU_PER_GB),
                range(kind, CPU_PER_REQUEST),
                range(kind, run -> run.cost().clientCpuSecondsPerGb()),
                to(kind, MINIO, CPU_PER_REQUEST),
                range(kind, run -> run.cost().rssMib()),
                range(kind, run -> run.cost().readBytesPerRequest()),
                range(kind, run -> run.cost().writtenBytesPerRequest()),
                percent(kind));
    }

    private String percent(Kind kind) {
        String range = range(kind, run -> run.outcome().cachedPercent());
        return range.equals(ResultsPage.MISSING) ? range : range + " %";
    }

    private String index() {
        List<String> header =
                List.of(
                        "blobs",
                        "memory of the index, MB per million",
                        "growth of the process, MB per million",
                        "reads of indexes per get",
                        "reads of logs per get",
                        "from disk, indexes cached",
                        "from disk, nothing cached",
                        "open, s",
                        "build, s");
        List<Kind> all = kinds().filter(kind -> kind.place.isIndex()).toList();
        return all.isEmpty()
                ? ""
                : "The index of one partition, through the store's own interface:\n\n"
                        + table(all.stream(), header, this::index);
    }

    private List<String> index(Kind kind) {
        return List.of(
                kind.place.text(),
                range(kind, run -> run.index().indexMemoryBytesPerBlob()),
                range(kind, run -> run.index().indexRssBytesPerBlob()),
                range(kind, run -> run.index().readsOfIndex()),
                range(kind, run -> run.index().readsOfLog()),
                range(kind, run -> run.index().diskReadsLogsCold()),
                range(kind, run -> run.index().diskReadsAllCold()),
                range(kind, run -> run.index().openS()),
                range(kind, run -> run.index().buildS()));
    }
}
