package io.afterbay.spark;

import static io.afterbay.spark.CheckpointFiles.location;
import static io.afterbay.spark.CheckpointFiles.role;
import static io.afterbay.spark.CheckpointFiles.root;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.CheckpointFiles.Role;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class CheckpointFilesTest {
    private static final String UUID = "9f3c1c52-0c0e-4a55-8a4e-0d7f5a1f2b3c";

    @Test
    void findsTheCheckpointOfLogsAndState() {
        assertThat(root(new Path("hdfs://nn:8020/a/ckpt/offsets"))).isEqualTo("/a/ckpt");
        assertThat(root(new Path("/a/ckpt/commits"))).isEqualTo("/a/ckpt");
        assertThat(root(new Path("/a/ckpt/sources/1"))).isEqualTo("/a/ckpt");
        assertThat(root(new Path("/a/ckpt/state/0/12"))).isEqualTo("/a/ckpt");
        assertThat(root(new Path("/a/ckpt/state/0/12/left-keyToNumValues"))).isEqualTo("/a/ckpt");
        assertThat(root(new Path("/state/0/1/offsets/state/2/3"))).isEqualTo("/state/0/1/offsets");
    }

    @Test
    void aCheckpointIsInAFileSystem() {
        assertThat(location(new Path("hdfs://nn:8020/a/ckpt/offsets")))
                .isEqualTo("hdfs://nn:8020/a/ckpt");
        assertThat(location(new Path("s3a://bucket/a/ckpt/state/0/12")))
                .isEqualTo("s3a://bucket/a/ckpt");
        assertThat(location(new Path("file:///a/c k%20t/commits"))).isEqualTo("file:/a/c k%20t");
        assertThat(location(new Path("file:/a/ckpt/commits"))).isEqualTo("file:/a/ckpt");
        assertThat(location(new Path("/a/ckpt/commits"))).isEqualTo("/a/ckpt");
        assertThat(location(new Path("hdfs://nn:8020/a/ckpt"))).isNull();
    }

    @Test
    void nothingElseIsACheckpoint() {
        assertThat(root(new Path("/a/ckpt"))).isNull();
        assertThat(root(new Path("/a/table/_spark_metadata"))).isNull();
        assertThat(root(new Path("/a/ckpt/state/0/_metadata"))).isNull();
    }

    @Test
    void knowsFilesByTheirNames() {
        assertThat(role("/c", new Path("/c/offsets/7"))).isEqualTo(Role.OFFSETS);
        assertThat(role("/c", new Path("s3a://b/c/commits/7"))).isEqualTo(Role.COMMIT);
        assertThat(role("/c", new Path("/c/sources/0/7"))).isEqualTo(Role.SOURCE);
        assertThat(role("/c", new Path("/c/sources/0/9.compact"))).isEqualTo(Role.SOURCE);
        assertThat(role("/c", new Path("/c/sources/0/cursor"))).isEqualTo(Role.SOURCE_OTHER);
        assertThat(state("8_" + UUID + ".changelog")).isEqualTo(Role.STATE);
        assertThat(state("8_" + UUID + ".changelog.crc")).isEqualTo(Role.STATE);
    }

    @Test
    void whatItDoesNotKnowIsWrittenAsSparkDoes() {
        assertThat(state("8.changelog")).isEqualTo(Role.OTHER); // format 1
        assertThat(state("8_" + UUID + ".zip")).isEqualTo(Role.OTHER);
        assertThat(state("_metadata/schema")).isEqualTo(Role.OTHER);
        assertThat(role("/c", new Path("/c/offsets/_tmp"))).isEqualTo(Role.OTHER);
        assertThat(role("/c", new Path("/c/metadata"))).isEqualTo(Role.OTHER);
    }

    private static Role state(String name) {
        return role("/c", new Path("/c/state/0/3/" + name));
    }
}
