package io.afterbay.cli.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RestorePointTest {
    @TempDir private Path directory;

    @BeforeEach
    void checkpointsOfTwoJobs() throws Exception {
        complete("job-a/chk-12", 1_000_000);
        complete("job-b/chk-9", 2_000_000);
        complete("job-b/chk-10", 2_000_000);
        Files.createDirectories(directory.resolve("job-b/chk-11"));
        Files.createDirectories(directory.resolve("job-b/shared"));
    }

    private void complete(String name, long modifiedMs) throws Exception {
        Path folder = Files.createDirectories(directory.resolve(name));
        Path metadata = Files.createFile(folder.resolve("_metadata"));
        Files.setLastModifiedTime(metadata, FileTime.fromMillis(modifiedMs));
    }

    private String found(String name) throws Exception {
        String path = RestorePoint.find(directory.resolve(name).toString()).path().getPath();
        return directory.relativize(Path.of(path)).toString();
    }

    @Test
    void theNewestThatIsComplete() throws Exception {
        assertThat(found("")).isEqualTo("job-b/chk-10");
        assertThat(found("job-a")).isEqualTo("job-a/chk-12");
    }

    @Test
    void theOneThatIsNamed() throws Exception {
        assertThat(found("job-b/chk-9")).isEqualTo("job-b/chk-9");
        complete("savepoint-1", 1);
        assertThat(found("savepoint-1")).isEqualTo("savepoint-1");
    }

    @Test
    void noneIsSaid() {
        for (String name : new String[] {"job-b/chk-11", "job-b/shared", "nowhere"}) {
            assertThatThrownBy(() -> found(name))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("there is no complete checkpoint");
        }
    }
}
