package io.afterbay.spark;

import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.OptionalLong;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/** In which format a query that begins has left its state. */
final class CheckpointFormat {
    private CheckpointFormat() {}

    /**
     * Spark 4.2 cannot go on from state of format 1 in format 2: its tasks fail, after they have
     * written.
     *
     * @throws IllegalStateException if the last commit has format 1, and there is state
     */
    static void refuseState1(CheckpointFileManager files, Path root) throws IOException {
        Path commits = new Path(root, "commits");
        if (!files.exists(new Path(root, "state")) || !files.exists(commits)) {
            return;
        }
        OptionalLong last =
                Arrays.stream(files.list(commits))
                        .map(FileStatus::getPath)
                        .filter(f -> CheckpointFiles.isLog(f.getName()))
                        .mapToLong(f -> Long.parseLong(f.getName()))
                        .max();
        if (last.isPresent()
                && isFormat1(files, new Path(commits, Long.toString(last.getAsLong())))) {
            throw new IllegalStateException(
                    "checkpoint "
                            + root
                            + ": its state has format 1, from which Spark cannot go on in format 2,"
                            + " which Afterbay needs. Start the query with a new"
                            + " checkpointLocation, or remove "
                            + QuerySettings.FILE_MANAGER
                            + " and set "
                            + QuerySettings.FORMAT
                            + "=1 to go on without Afterbay");
        }
    }

    private static boolean isFormat1(CheckpointFileManager files, Path commit) throws IOException {
        try (BufferedReader in =
                new BufferedReader(
                        new InputStreamReader(files.open(commit), StandardCharsets.UTF_8))) {
            return "v1".equals(in.readLine());
        } catch (FileNotFoundException e) {
            return false; // deleted meanwhile: there are later ones
        }
    }
}
