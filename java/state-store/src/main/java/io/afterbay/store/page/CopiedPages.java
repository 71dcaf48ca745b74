package io.afterbay.store.page;

import java.util.Arrays;

/**
 * Pages that an image has copied, on their way to a segment of its own. When a copy is in its file,
 * the snapshot needs the page no more, and the copy becomes the page's place on disk, if it is
 * still that page: neither its eviction nor the next image then writes the page again.
 *
 * <p>It is still that page if the snapshot reads the live page, for then nobody has changed it
 * since ({@link Snapshots#readsLive}). Whoever changes it later finds a stamp of an epoch that is
 * over, and so comes through {@link PageStore#modify} under the lock, which gives the place up. So
 * the image's thread needs nothing of the owner but the lock.
 *
 * <p>Used by the thread that writes the image.
 */
final class CopiedPages {
    private final PageSnapshot snapshot;
    private final PageStore pages;
    private int[] pageIds = new int[64];
    private long[] locations = new long[64];
    private int count;

    CopiedPages(PageSnapshot snapshot) {
        this.snapshot = snapshot;
        pages = snapshot.pages;
    }

    boolean isEmpty() {
        return count == 0;
    }

    void add(int pageId, long location) {
        if (count == pageIds.length) {
            pageIds = Arrays.copyOf(pageIds, 2 * count);
            locations = Arrays.copyOf(locations, 2 * count);
        }
        pageIds[count] = pageId;
        locations[count] = location;
        count++;
    }

    /** The copies are in the file of their segment, which is pinned. Lock held. */
    void written() {
        for (int i = 0; i < count; i++) {
            settle(pageIds[i], locations[i]);
            snapshot.pass(pageIds[i]);
        }
        count = 0;
    }

    private void settle(int pageId, long location) {
        long entry = pages.table.get(pageId);
        boolean isDirty = Location.isResident(entry) && Frame.disk(entry) == 0;
        if (isDirty && pages.snapshots.readsLive(snapshot, pageId, Frame.stamp(entry))) {
            pages.log.settle(location);
            Frame.setDisk(entry, location);
        }
        pages.snapshots.forget(snapshot, pageId);
    }
}
