package io.afterbay.store.testkit;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link ReferenceCursor} stands on; fields that the shape of the state lacks are null or 0.
 */
@SuppressWarnings("ArrayRecordComponent") // never changed, compared by content
record Row(
        int keyGroup,
        Address address,
        @Nullable Bytes userKey,
        byte @Nullable [] value,
        @Nullable List<byte[]> list,
        long timestamp) {

    static Row ofValue(int keyGroup, Address address, byte[] value) {
        return new Row(keyGroup, address, null, value, null, 0);
    }

    static Row ofMapEntry(int keyGroup, Address address, Bytes userKey, byte[] value) {
        return new Row(keyGroup, address, userKey, value, null, 0);
    }

    static Row ofList(int keyGroup, Address address, List<byte[]> list) {
        return new Row(keyGroup, address, null, null, list, 0);
    }

    static Row ofTrigger(int keyGroup, Address address, long timestamp) {
        return new Row(keyGroup, address, null, null, null, timestamp);
    }
}
