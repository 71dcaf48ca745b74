package io.afterbay.experiments.queries;

import java.util.Map;

/**
 * A parameter of the store, at a value.
 *
 * @param text as results show it
 */
record SweptValue(SweptParameter parameter, String text) {

    /** Whether it is what users get. */
    boolean isDefault() {
        return text.equals(parameter.usual());
    }

    /** The option of the backend. */
    Map<String, String> settings() {
        return Map.of(parameter.key(), SweptParameter.configured(text));
    }
}
