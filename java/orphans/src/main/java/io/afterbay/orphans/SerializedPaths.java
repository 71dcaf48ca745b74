package io.afterbay.orphans;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.util.HashSet;
import java.util.Set;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.filemerging.DirectoryStreamStateHandle;
import org.apache.flink.runtime.state.filemerging.EmptySegmentFileStateHandle;
import org.jspecify.annotations.Nullable;

/**
 * Collects every path in a checkpoint by serialising it, which visits all objects that it consists
 * of: what Flink itself does to keep checkpoints for high availability, so that every handle can be
 * serialised with all that it refers to.
 *
 * <p>A traversal by the classes of handles lost: there are seventeen kinds in the format of Flink
 * 2.3, nested within each other, and one that is forgotten means files that are deleted though a
 * checkpoint needs them. Flink has traversals of its own for sizes and for discarding, none for
 * paths.
 */
final class SerializedPaths extends ObjectOutputStream {
    private final Set<Path> paths = new HashSet<>();

    private SerializedPaths() throws IOException {
        super(OutputStream.nullOutputStream());
        enableReplaceObject(true);
    }

    static Set<Path> of(CheckpointMetadata checkpoint) throws IOException {
        try (SerializedPaths visitor = new SerializedPaths()) {
            for (Object state : checkpoint.getOperatorStates()) {
                visitor.writeObject(state);
                visitor.reset();
            }
            for (Object state : checkpoint.getMasterStates()) {
                visitor.writeObject(state);
            }
            return visitor.paths;
        }
    }

    @Override
    protected @Nullable Object replaceObject(Object visited) {
        if (visited instanceof DirectoryStreamStateHandle
                || visited instanceof EmptySegmentFileStateHandle) {
            return null; // no file, and the path may not be there
        }
        if (visited instanceof Path path) {
            paths.add(path);
        }
        return visited;
    }
}
