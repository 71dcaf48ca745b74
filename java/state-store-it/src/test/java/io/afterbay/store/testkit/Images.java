package io.afterbay.store.testkit;

import io.afterbay.store.ImageFiles;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;

/** Copies of stores by images. */
final class Images {
    private Images() {}

    /** Options of a store beside another one, with memory of its own. */
    static StoreOptions beside(StoreOptions options, String what, long budgetBytes) {
        return TestOptions.of(
                options.directory().resolveSibling(options.name() + "-" + what),
                options.files(),
                new MemoryBudget(budgetBytes),
                options.background(),
                options.firstKeyGroup(),
                options.lastKeyGroup());
    }

    /** A store with the content of another one, whose files it links. */
    static StateStore copy(StateStore store, StoreOptions options) throws IOException {
        ByteArrayOutputStream index = new ByteArrayOutputStream();
        try (StoreSnapshot snapshot = store.snapshot();
                StoreImage image = snapshot.image(index)) {
            return StateStores.open(
                    options, new ByteArrayInputStream(index.toByteArray()), linked(image, options));
        }
    }

    /** The files of an image, linked into the directory of a store. */
    static ImageFiles linked(StoreImage image, StoreOptions options) {
        Map<Integer, Path> paths =
                image.files().stream()
                        .collect(Collectors.toMap(StoreImage.File::number, StoreImage.File::path));
        return number -> {
            Path path = paths.get(number);
            Path link = options.directory().resolve(path.getFileName());
            Files.createLink(link, path);
            return options.files().open(link);
        };
    }
}
