package io.afterbay.experiments.blobcluster;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * What {@code afterbay blob cluster status --json} says.
 *
 * @param whole each node answers, and each replica has all that the others have
 * @param lag the most records that a replica has not taken over; null: one has not heard of another
 *     one yet
 * @param wrong what is not well, for people
 */
record ClusterStatus(boolean whole, @Nullable Long lag, long underReplicatedBytes, String wrong) {

    /** For so long a cluster may take to be whole again. */
    static final int WHOLE_SECONDS_MAX = 120;

    static ClusterStatus of(JsonNode said) {
        JsonNode lag = said.path("lag");
        return new ClusterStatus(
                said.path("whole").asBoolean(),
                lag.isNumber() ? lag.asLong() : null,
                said.path("under_replicated_bytes").asLong(-1),
                said.path("wrong").toString());
    }
}
