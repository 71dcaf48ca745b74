package io.afterbay.orphans;

import java.util.List;
import org.apache.flink.core.fs.Path;

/**
 * What was found in the directory of a job.
 *
 * @param orphans files that no checkpoint refers to
 * @param unfinished directories of checkpoints that seem to be under way
 * @param abandoned directories of checkpoints that are not complete, and will not be
 * @param links symbolic links, which are left alone
 */
public record JobOrphans(
        Path directory,
        List<Orphan> orphans,
        List<Path> unfinished,
        List<Path> abandoned,
        List<Path> links) {
    JobOrphans with(List<Orphan> others) {
        return new JobOrphans(directory, others, unfinished, abandoned, links);
    }
}
