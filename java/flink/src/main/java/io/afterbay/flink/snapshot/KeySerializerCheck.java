package io.afterbay.flink.snapshot;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.util.StateMigrationException;

/** Checks the operator's key serializer against the one that wrote a snapshot; once per restore. */
final class KeySerializerCheck<K> {
    private final StateSerializerProvider<K> provider;
    private boolean checked;

    KeySerializerCheck(StateSerializerProvider<K> provider) {
        this.provider = provider;
    }

    void check(TypeSerializerSnapshot<K> written) throws StateMigrationException {
        if (checked) {
            return;
        }
        checked = true;
        // Before the check: an incompatible serializer cannot be asked for afterwards.
        TypeSerializer<K> current = provider.currentSchemaSerializer();
        TypeSerializerSchemaCompatibility<K> compatibility =
                provider.setPreviousSerializerSnapshotForRestoredState(written);
        if (compatibility.isCompatibleAfterMigration() || compatibility.isIncompatible()) {
            throw new StateMigrationException(
                    "The new key serializer (%s) must be compatible with the previous key serializer (%s)."
                            .formatted(current, provider.previousSchemaSerializer()));
        }
    }
}
