package io.afterbay.orphans;

import org.jspecify.annotations.Nullable;

/**
 * A file that no checkpoint refers to.
 *
 * @param failure why it could not be deleted; null if nothing went wrong
 */
public record Orphan(
        StoredFile file, Verdict verdict, boolean isDeleted, @Nullable String failure) {
    static Orphan of(StoredFile file, Verdict verdict) {
        return new Orphan(file, verdict, false, null);
    }

    Orphan deleted() {
        return new Orphan(file, verdict, true, null);
    }

    Orphan failed(String reason) {
        return new Orphan(file, verdict, false, reason);
    }
}
