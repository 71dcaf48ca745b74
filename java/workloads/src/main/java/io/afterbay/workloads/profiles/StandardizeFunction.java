package io.afterbay.workloads.profiles;

import org.apache.flink.table.functions.ScalarFunction;
import org.jspecify.annotations.Nullable;

/**
 * The same for Flink SQL: {@code CREATE TEMPORARY FUNCTION standardize AS
 * 'io.afterbay.workloads.profiles.StandardizeFunction'}, then {@code standardize(title, 2)}.
 */
public final class StandardizeFunction extends ScalarFunction {
    private static final long serialVersionUID = 1;

    /**
     * @param title as it was written
     * @param version of the dictionary
     * @return null for null
     */
    public @Nullable String eval(@Nullable String title, int version) {
        return title == null ? null : Dictionary.of(version).standard(title);
    }
}
