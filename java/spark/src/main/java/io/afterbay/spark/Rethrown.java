package io.afterbay.spark;

/** Checked exceptions through Scala's interfaces, which declare none. */
final class Rethrown {
    private Rethrown() {}

    /** Throws it as it is; never returns. */
    static RuntimeException as(Exception e) {
        return Rethrown.<RuntimeException>unchecked(e);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Exception> RuntimeException unchecked(Exception e) throws E {
        throw (E) e;
    }
}
