package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.connector.base.source.hybrid.HybridSource;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.assigners.FileSplitAssigner;
import org.apache.flink.connector.file.src.assigners.SimpleSplitAssigner;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

/** In which order the files of a replay are given out, and those of which source. */
class FilesInOrderTest {
    private static final ReplayRange RANGE = new ReplayRange(0, 60_000);

    private static FileSourceSplit split(String path, long offset, long changedMs) {
        return new FileSourceSplit(
                path + "-" + offset, new Path(path), offset, 10, changedMs, offset + 10);
    }

    private static FileSplitAssigner assigner(List<FileSourceSplit> splits) throws Exception {
        FileSplitAssigner.Provider provider =
                (FileSplitAssigner.Provider)
                        FilesInOrder.provider(FileSplitAssigner.class.getClassLoader());
        return InstantiationUtil.clone(provider).create(splits);
    }

    private static List<String> rest(FileSplitAssigner assigner) {
        List<String> ids = new ArrayList<>();
        for (Optional<FileSourceSplit> next = assigner.getNext("host");
                next.isPresent();
                next = assigner.getNext(null)) {
            ids.add(next.get().splitId());
        }
        return ids;
    }

    @Test
    void byLastChangeThenPathThenOffset() throws Exception {
        FileSplitAssigner assigner =
                assigner(
                        List.of(
                                split("b", 100, 2),
                                split("a", 0, 3),
                                split("c", 0, 2),
                                split("b", 0, 2),
                                split("z", 0, 1)));
        assertThat(assigner.remainingSplits()).hasSize(5);
        assertThat(rest(assigner)).containsExactly("z-0", "b-0", "b-100", "c-0", "a-0");
        assertThat(assigner.remainingSplits()).isEmpty();
    }

    @Test
    void whatComesBackAfterAFailureTakesItsPlaceAgain() throws Exception {
        FileSourceSplit first = split("b", 0, 1);
        FileSourceSplit second = split("a", 0, 2);
        FileSplitAssigner assigner = assigner(List.of(split("c", 0, 3), second, first));
        assertThat(assigner.getNext(null)).contains(first);
        assertThat(assigner.getNext(null)).contains(second);
        assigner.addSplits(List.of(first));
        assigner.addSplits(List.of(second));
        assertThat(assigner.remainingSplits()).startsWith(first, second).hasSize(3);
        assertThat(rest(assigner)).containsExactly("b-0", "a-0", "c-0");
    }

    private static FileSource.FileSourceBuilder<String> files() {
        return FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path("/nowhere"));
    }

    private static FileSplitAssigner assigner(FileSource<?> source) {
        return source.getAssignerFactory().create(List.of());
    }

    private static FileSource<?> bound(FileSource<?> source) throws Exception {
        return (FileSource<?>) new Bounding(RANGE, "r1").bound(source, "lines").source();
    }

    private static boolean isInOrder(FileSource<?> source) {
        return java.lang.reflect.Proxy.isProxyClass(assigner(source).getClass());
    }

    @Test
    void boundedFilesAreInOrderUnlessTheJobHasAnOrderOfItsOwn() throws Exception {
        assertThat(isInOrder(bound(files().build()))).isTrue();
        FileSource<String> own = files().setSplitAssigner(SimpleSplitAssigner::new).build();
        assertThat(assigner(bound(own))).isInstanceOf(SimpleSplitAssigner.class);
        assertThat(new Bounding(RANGE, "r1").bound(own, "lines").change()).startsWith("as it is");
    }

    @Test
    void thoseOfTheOriginalStayAsTheyAre() throws Exception {
        FileSource<String> monitored = Sources.monitored(java.nio.file.Path.of("/nowhere"));
        FileSource<?> bounded = bound(monitored);
        assertThat(isInOrder(bounded)).isTrue();
        assertThat(bounded.getBoundedness()).isEqualTo(Boundedness.BOUNDED);
        assertThat(isInOrder(monitored)).isFalse();
    }

    @Test
    void theArchiveOfAHybridSourceIsInOrder() throws Exception {
        FileSource<String> archive = files().build();
        HybridSource<String> hybrid =
                HybridSource.builder(archive)
                        .addSource(Sources.monitored(java.nio.file.Path.of("/nowhere")))
                        .build();
        Object bounded = new Bounding(RANGE, "r1").bound(hybrid, "both").source();
        List<?> parts = (List<?>) Fields.required(bounded, "sources");
        assertThat(parts).hasSize(1);
        Object part = Fields.required(Fields.required(parts.get(0), "factory"), "source");
        assertThat(isInOrder((FileSource<?>) part)).isTrue();
        assertThat(isInOrder(archive)).isFalse();
    }
}
