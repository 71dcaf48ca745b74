package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.ImageFiles;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A page store, and what every page of it should hold: a number, and noise that follows from it.
 */
final class ImagedPages implements AutoCloseable {
    static final int KEY_GROUPS = 128;
    private static final int[] SIZES = {512, 1 << 10, 4 << 10, 32 << 10};

    final PageStore pages;
    private final Path directory;
    private final boolean compression;
    private final Random random;
    private final TreeMap<Integer, Integer> numbers;
    private final List<Image> images = new ArrayList<>();
    private int nextNumber = 1;
    private int copies;
    private volatile @Nullable Runnable atNextWrite;
    private volatile @Nullable Thread imaging;

    /** An image, and what it should hold. */
    record Image(PageImage image, byte[] index, Map<Integer, Integer> numbers) {}

    ImagedPages(Path directory, long budgetBytes, boolean compression, long seed) {
        this(directory, LocalFiles.system(), Runnable::run, budgetBytes, compression, seed);
    }

    /**
     * @param background runs what the store leaves to others
     */
    ImagedPages(
            Path directory,
            LocalFiles files,
            Executor background,
            long budgetBytes,
            boolean compression,
            long seed) {
        this.directory = directory;
        this.compression = compression;
        this.random = new Random(seed);
        this.pages = new PageStore(options("store", interrupted(files), background, budgetBytes));
        this.numbers = new TreeMap<>();
    }

    private StoreOptions options(
            String name, LocalFiles files, Executor background, long budgetBytes) {
        return new StoreOptions(
                name,
                directory.resolve(name),
                files,
                new MemoryBudget(budgetBytes),
                background,
                background,
                Runnable::run,
                0,
                KEY_GROUPS - 1,
                1.5,
                compression);
    }

    // ---------------------------------------------------------------- changes

    int add(int pageBytes) {
        return add(pageBytes, PageStore.ALL_KEY_GROUPS);
    }

    int add(int pageBytes, int keyGroup) {
        pages.safepoint();
        int pageId = pages.allocate(pageBytes, random.nextInt(2), keyGroup);
        write(pageId, pages.address(pageId));
        return pageId;
    }

    void change(int pageId) {
        pages.safepoint();
        write(pageId, pages.modify(pageId));
    }

    private void write(int pageId, long page) {
        int number = nextNumber++;
        numbers.put(pageId, number);
        Random noise = new Random(number);
        for (int at = 0; at < PageStore.pageBytes(page); at += Integer.BYTES) {
            // Half of them compress, and to different lengths.
            Memory.putInt(
                    page + at, number % 2 == 0 || at % 64 < number % 64 ? number : noise.nextInt());
        }
    }

    private static void assertHolds(int number, long page, String what) {
        Random noise = new Random(number);
        for (int at = 0; at < PageStore.pageBytes(page); at += Integer.BYTES) {
            int expected = number % 2 == 0 || at % 64 < number % 64 ? number : noise.nextInt();
            if (Memory.getInt(page + at) != expected) {
                assertThat(Memory.getInt(page + at)).as("%s at %d", what, at).isEqualTo(expected);
            }
        }
    }

    void free(int pageId) {
        pages.safepoint();
        numbers.remove(pageId);
        pages.free(pageId);
    }

    /** Reads, writes, resizes, and comings and goings of pages. */
    void changeAtRandom() {
        int kind = random.nextInt(20);
        if (numbers.isEmpty() || kind == 0) {
            add(SIZES[random.nextInt(SIZES.length)], random.nextInt(KEY_GROUPS));
        } else if (kind == 1) {
            free(any());
        } else if (kind == 2) {
            int pageId = any();
            pages.safepoint();
            int other = SIZES[random.nextInt(SIZES.length)];
            write(pageId, pages.resize(pageId, other));
        } else if (kind < 12) {
            int pageId = any();
            pages.safepoint();
            pages.address(pageId); // evicts others
        } else {
            change(any());
        }
    }

    private int any() {
        Integer found = numbers.ceilingKey(1 + random.nextInt(numbers.lastKey()));
        return found == null ? numbers.firstKey() : found;
    }

    // ---------------------------------------------------------------- images

    private LocalFiles interrupted(LocalFiles files) {
        return Proxies.of(
                LocalFiles.class,
                files,
                result ->
                        result instanceof LocalFile file
                                ? Proxies.of(LocalFile.class, file, this::written)
                                : result);
    }

    private Object written(Object result) {
        if (result instanceof Integer && imaging == Thread.currentThread()) {
            // In a thread of its own: this one has bytes to write in a buffer that threads have.
            interrupt(action -> CompletableFuture.runAsync(action).join());
        }
        return result;
    }

    /** What is done may write too. */
    private void interrupt(Consumer<Runnable> run) {
        Runnable action = atNextWrite;
        if (action != null) {
            atNextWrite = null;
            run.accept(action);
            atNextWrite = action;
        }
    }

    /** Makes an image. */
    Image image() throws IOException {
        return image(() -> {});
    }

    /**
     * Makes an image.
     *
     * @param meanwhile is done each time it has written copies, before they count, or a bit of its
     *     index
     */
    Image image(Runnable meanwhile) throws IOException {
        try (PageSnapshot snapshot = pages.freeze()) {
            return image(snapshot, numbers(), meanwhile);
        }
    }

    Map<Integer, Integer> numbers() {
        return Map.copyOf(numbers);
    }

    /**
     * Makes an image.
     *
     * @param frozen what there was when the snapshot was taken
     */
    Image image(PageSnapshot snapshot, Map<Integer, Integer> frozen, Runnable meanwhile)
            throws IOException {
        ByteArrayOutputStream index = new ByteArrayOutputStream();
        atNextWrite = meanwhile;
        imaging = Thread.currentThread();
        OutputStream interrupted =
                new OutputStream() {
                    @Override
                    public void write(int b) {
                        index.write(b);
                    }

                    @Override
                    public void write(byte[] bytes, int offset, int length) {
                        index.write(bytes, offset, length);
                        interrupt(Runnable::run);
                    }
                };
        PageImage image = PageImage.write(snapshot, new DataOutputStream(interrupted));
        atNextWrite = null;
        Image made = new Image(image, index.toByteArray(), frozen);
        images.add(made);
        return made;
    }

    void close(Image image) {
        image.image.close();
        images.remove(image);
    }

    List<Image> images() {
        return List.copyOf(images);
    }

    // ---------------------------------------------------------------- checks

    void assertAllRight() {
        for (Map.Entry<Integer, Integer> page : numbers.entrySet()) {
            pages.safepoint();
            assertHolds(page.getValue(), pages.address(page.getKey()), "page " + page.getKey());
        }
    }

    /** Opens a store from it, as it is now. */
    void assertRight(Image made) throws IOException {
        StoreOptions options =
                options("copy-" + copies++, LocalFiles.system(), Runnable::run, 1 << 20);
        PageStore copy = new PageStore(options);
        try {
            copy.load(
                    new DataInputStream(new ByteArrayInputStream(made.index)),
                    true,
                    linked(made.image, options));
            for (Map.Entry<Integer, Integer> page : made.numbers.entrySet()) {
                copy.safepoint();
                assertHolds(
                        page.getValue(), copy.address(page.getKey()), "image's " + page.getKey());
            }
        } finally {
            copy.close();
        }
    }

    private static ImageFiles linked(PageImage image, StoreOptions options) {
        Map<Integer, Path> paths =
                image.files().stream()
                        .collect(Collectors.toMap(StoreImage.File::number, StoreImage.File::path));
        return number -> {
            Path path = paths.get(number);
            Path link = options.directory().resolve(path.getFileName());
            options.files().link(path, link);
            return options.files().open(link);
        };
    }

    /** Every page that has a place is counted as live there, and nothing else is; and so on. */
    void assertLiveBytesAreRight() {
        Map<Integer, Long> live =
                numbers.keySet().stream()
                        .map(pages.table::get)
                        .map(entry -> Location.isResident(entry) ? Frame.disk(entry) : entry)
                        .filter(location -> location != 0)
                        .collect(
                                Collectors.groupingBy(
                                        Location::segment,
                                        Collectors.summingLong(Location::blockBytes)));
        Map<Integer, Long> counted =
                pages.log.segments().stream()
                        .filter(segment -> segment.liveBytes != 0)
                        .collect(Collectors.toMap(segment -> segment.id, s -> s.liveBytes));
        assertThat(counted).isEqualTo(live);
        assertThat(pages.log.liveBytes()).isEqualTo(sum(pages.log, s -> s.liveBytes));
        assertThat(pages.log.totalBytes()).isEqualTo(sum(pages.log, s -> s.end));
        assertThat(pages.log.reclaimableBytes())
                .isEqualTo(sum(pages.log, s -> s.isHeld() ? 0L : s.garbageBytes()));
        assertThat(pages.log.shortSegments())
                .isEqualTo((int) sum(pages.log, s -> s.sealed && pages.log.isShort(s) ? 1L : 0L));
    }

    private static long sum(SegmentLog log, Function<Segment, Long> bytes) {
        return log.segments().stream().mapToLong(bytes::apply).sum();
    }

    @Override
    public void close() {
        images().forEach(this::close);
        pages.close();
    }
}
