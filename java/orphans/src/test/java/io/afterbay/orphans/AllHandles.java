package io.afterbay.orphans;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CheckpointRetentionPolicy;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.StateObjectCollection;
import org.apache.flink.runtime.checkpoint.channel.InputChannelInfo;
import org.apache.flink.runtime.checkpoint.channel.ResultSubpartitionInfo;
import org.apache.flink.runtime.checkpoint.filemerging.LogicalFile.LogicalFileId;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.InputChannelStateHandle;
import org.apache.flink.runtime.state.InputStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.MergedInputChannelStateHandle;
import org.apache.flink.runtime.state.OperatorStreamStateHandle;
import org.apache.flink.runtime.state.OutputStateHandle;
import org.apache.flink.runtime.state.ResultSubpartitionStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filemerging.DirectoryStreamStateHandle;
import org.apache.flink.runtime.state.filemerging.EmptyFileMergingOperatorStreamStateHandle;
import org.apache.flink.runtime.state.filemerging.FileMergingOperatorStreamStateHandle;
import org.apache.flink.runtime.state.filemerging.SegmentFileStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.filesystem.RelativeFileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/** Checkpoints with every kind of handle that Flink's format has, or with a few files only. */
final class AllHandles {
    private static final KeyGroupRange RANGE = KeyGroupRange.of(0, 1);

    private final Path checkpoint;
    private final List<Path> files = new ArrayList<>();

    /**
     * @param checkpoint its directory
     */
    AllHandles(Path checkpoint) {
        this.checkpoint = checkpoint;
    }

    /** The files that handles refer to. */
    List<Path> files() {
        return files;
    }

    private Path newFile(String directory) {
        Path file = new Path(checkpoint, directory + "/" + UUID.randomUUID());
        files.add(file);
        return file;
    }

    private StreamStateHandle shared() {
        return new FileStateHandle(newFile("../shared"), 10);
    }

    private StreamStateHandle relative() {
        Path file = newFile(".");
        return new RelativeFileStateHandle(file, file.getName(), 10);
    }

    private StreamStateHandle segment() {
        return new SegmentFileStateHandle(
                newFile("../shared/merged"),
                5,
                10,
                CheckpointedStateScope.SHARED,
                LogicalFileId.generateRandomId());
    }

    private static KeyedStateHandle incremental(
            List<StreamStateHandle> shared, StreamStateHandle meta) {
        return new IncrementalRemoteKeyedStateHandle(
                UUID.randomUUID(),
                RANGE,
                1,
                shared.stream().map(handle -> HandleAndLocalPath.of(handle, "x")).toList(),
                List.of(HandleAndLocalPath.of(new ByteStreamStateHandle("b", new byte[5]), "y")),
                meta);
    }

    private KeyedStateHandle incremental() {
        return new IncrementalRemoteKeyedStateHandle(
                UUID.randomUUID(),
                RANGE,
                1,
                List.of(
                        HandleAndLocalPath.of(shared(), "a"),
                        HandleAndLocalPath.of(segment(), "b")),
                List.of(HandleAndLocalPath.of(relative(), "c")),
                relative());
    }

    private static KeyGroupRangeOffsets offsets() {
        return new KeyGroupRangeOffsets(RANGE, new long[] {0, 1});
    }

    private KeyedStateHandle changelog() {
        return new ChangelogStateBackendHandleImpl(
                List.of(incremental(), new KeyGroupsStateHandle(offsets(), relative())),
                List.of(
                        new ChangelogStateHandleStreamImpl(
                                List.of(Tuple2.of(shared(), 0L)), RANGE, 1, 1, "filesystem")),
                RANGE,
                1,
                1,
                1);
    }

    /** One subtask per kind of keyed state. */
    CheckpointMetadata all() {
        OperatorState operator = new OperatorState("name", "uid", new OperatorID(1, 2), 5, 5);
        operator.setCoordinatorState(new ByteStreamStateHandle("c", new byte[3]));
        operator.putState(0, subtask(incremental()));
        operator.putState(1, subtask(changelog()));
        operator.putState(2, subtask(new KeyGroupsStateHandle(offsets(), segment())));
        operator.putState(3, subtask(new KeyGroupsSavepointStateHandle(offsets(), relative())));
        operator.putState(
                4,
                OperatorSubtaskState.builder()
                        .setManagedOperatorState(
                                EmptyFileMergingOperatorStreamStateHandle.create(
                                        mergedDirectory("shared/m"), mergedDirectory("tm")))
                        .build());
        return metadata(operator);
    }

    private DirectoryStreamStateHandle mergedDirectory(String name) {
        return DirectoryStreamStateHandle.of(new Path(checkpoint, "../" + name));
    }

    private OperatorSubtaskState subtask(KeyedStateHandle keyed) {
        return OperatorSubtaskState.builder()
                .setManagedKeyedState(keyed)
                .setRawKeyedState(new KeyGroupsStateHandle(offsets(), relative()))
                .setManagedOperatorState(
                        new FileMergingOperatorStreamStateHandle(
                                mergedDirectory("shared/m"),
                                mergedDirectory("tm"),
                                Map.of(),
                                segment()))
                .setRawOperatorState(new OperatorStreamStateHandle(Map.of(), relative()))
                .setInputChannelState(
                        new StateObjectCollection<InputStateHandle>(
                                List.of(
                                        new InputChannelStateHandle(
                                                new InputChannelInfo(0, 0),
                                                relative(),
                                                List.of(0L)),
                                        MergedInputChannelStateHandle.fromChannelHandles(
                                                List.of(
                                                        new InputChannelStateHandle(
                                                                new InputChannelInfo(0, 1),
                                                                relative(),
                                                                List.of(0L)))))))
                .setResultSubpartitionState(
                        new StateObjectCollection<OutputStateHandle>(
                                List.of(
                                        new ResultSubpartitionStateHandle(
                                                new ResultSubpartitionInfo(0, 0),
                                                relative(),
                                                List.of(0L)))))
                .build();
    }

    /** A checkpoint that refers to these shared files. */
    static CheckpointMetadata of(List<Path> shared) {
        OperatorState operator = new OperatorState("name", "uid", new OperatorID(1, 2), 1, 4);
        List<StreamStateHandle> handles = new ArrayList<>();
        shared.forEach(file -> handles.add(new FileStateHandle(file, 10)));
        operator.putState(
                0,
                OperatorSubtaskState.builder()
                        .setManagedKeyedState(
                                incremental(handles, new ByteStreamStateHandle("m", new byte[20])))
                        .build());
        return metadata(operator);
    }

    private static CheckpointMetadata metadata(OperatorState operator) {
        return new CheckpointMetadata(
                1,
                List.of(operator),
                List.of(),
                CheckpointProperties.forCheckpoint(
                        CheckpointRetentionPolicy.RETAIN_ON_CANCELLATION));
    }
}
